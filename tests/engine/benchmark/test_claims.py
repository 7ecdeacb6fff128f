"""The claims' measurements on toys with graphs that need no device, and with a simulated NVML."""

import sys
from collections.abc import Callable

import pytest
import torch
from pynvml import NVML_ERROR_GPU_IS_LOST

from engine.assembly import Parts
from engine.benchmark import claims
from engine.benchmark.claim_checks import Measured, check_claims
from engine.benchmark.claims import N_AT_ONCE, Counters, measure, repeat, run
from engine.benchmark.rehearsal import Playable
from engine.wire.benchmark import BenchmarkSettings
from engine.wire.config import RunConfig
from tests.engine.benchmark.host_timer import HostTimer
from tests.support.device_engine import FakeGraphs
from tests.support.simulated_nvml import SimulatedGpu, SimulatedNvml
from tests.support.toy_model import ToyModel, ToyTokenizer

PARTS = Parts(
    ToyModel(24, seed=1, context_length=2048),
    ToyModel(24, seed=2, context_length=2048),
    ToyTokenizer(24),
    24,
)


class Ten:
    """Counters that read 10, 11, ... per cent, stretch by stretch."""

    n_made = 0

    def __init__(self) -> None:
        self.value = 10.0 + Ten.n_made
        Ten.n_made += 1

    def read(self) -> tuple[dict[str, float], list[str]]:
        return {"tensor_active_pct": self.value}, []


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "STRETCH_S", 0.0)
    monkeypatch.setattr(Ten, "n_made", 0)


def measured(graphs: FakeGraphs, count: Callable[[], Ten] = Ten) -> Measured:
    return measure(
        RunConfig(target="toy", draft="toy", gamma=3, graphs=False),
        PARTS,
        progress=lambda detail: None,
        device_name="NVIDIA H100",
        read_bytes_per_s=3e12,
        timer=HostTimer(),
        count=count,  # type: ignore[arg-type]
        backend=graphs,
    )


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_a_gpu_nothing_is_measured_and_nothing_loaded() -> None:
    settings = BenchmarkSettings(suite="claims", config=RunConfig(target="./nowhere"))
    result = run(settings, progress=lambda detail: None)
    assert result["device"] is None
    assert {claim["verdict"] for claim in result["claims"]} == {"not measured"}


def test_all_is_measured_on_captured_functions() -> None:
    told = measured(FakeGraphs())
    assert (told.verify_tensor_pct, told.draft_tensor_pct) == (10.0, 11.0)
    assert told.verify_bytes_per_s is not None
    assert told.verify_bytes_per_s > 0
    assert told.draft_gap_share is not None
    assert told.draft_gap_share_with_graphs is not None
    assert "not measured" not in {claim.verdict for claim in check_claims(told)}


def test_what_cannot_be_captured_is_not_measured_and_says_why() -> None:
    told = measured(FakeGraphs(fails_at=0))
    verdicts = check_claims(told)
    assert [claim.verdict for claim in verdicts[:5]] == ["not measured"] * 5
    assert "operation not permitted" in verdicts[0].why
    assert Ten.n_made == 0


def test_a_stretch_is_counted_from_when_the_device_is_at_it() -> None:
    order: list[str] = []

    def count() -> Ten:
        order.append("counting")
        return Ten()

    phase = repeat(Playable(lambda: order.append("play"), 0), HostTimer(), count)  # type: ignore[arg-type]
    assert order == ["play"] * N_AT_ONCE + ["counting"] + ["play"] * N_AT_ONCE
    assert phase.ns > 0
    assert phase.counters == {"tensor_active_pct": 10.0}


def test_counters_are_read_and_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = SimulatedNvml(SimulatedGpu("GPU-0-1"))
    monkeypatch.setitem(sys.modules, "pynvml", nvml)  # type: ignore[arg-type]
    monkeypatch.setattr(claims, "cuda_uuid", lambda device: "0-1")
    values, missing = Counters(torch.device("cpu")).read()
    assert values["tensor_active_pct"] == 12.25
    assert missing == []
    assert (nvml.n_open, nvml.n_samples) == (0, 0)


def test_counters_that_cannot_be_had_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = SimulatedNvml()
    monkeypatch.setitem(sys.modules, "pynvml", nvml)  # type: ignore[arg-type]
    monkeypatch.setattr(claims, "cuda_uuid", lambda device: "0-1")
    values, missing = Counters(torch.device("cpu")).read()
    assert values == {}
    assert missing == ["GPU counters: NVML knows no device 0-1."]
    assert nvml.n_open == 0


def test_a_device_that_goes_away_at_the_probe_leaves_nothing_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nvml = SimulatedNvml(SimulatedGpu("GPU-0-1", refusals={"gpm sample": NVML_ERROR_GPU_IS_LOST}))
    monkeypatch.setitem(sys.modules, "pynvml", nvml)  # type: ignore[arg-type]
    monkeypatch.setattr(claims, "cuda_uuid", lambda device: "0-1")
    values, missing = Counters(torch.device("cpu")).read()
    assert values == {}
    assert len(missing) == 1
    assert (nvml.n_open, nvml.n_samples) == (0, 0)
