"""A step on the GPU waits for it once, to read the verdict, and for nothing else."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from engine.device import step as device_step
from engine.models.loading import LoadedPair
from engine.wire.events import CalibrationMeasured, SpansMeasured
from tests.gpu.runs import (
    ON_GPU,
    PROMPTS,
    SAMPLED,
    decode,
    make_engine,
    of_kind,
    run,
    submit,
)

pytestmark = [
    *ON_GPU,
    # Torch says once of its debugging mode that it is not complete.
    pytest.mark.filterwarnings("ignore:Synchronization debug mode"),
]

N_FIRST = 3
"""Steps before the watch begins: prompts are run, which waits, and graphs are captured."""


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Starts to refuse every wait but that of the verdict."""
    read = device_step._on_host

    def begin() -> None:
        monkeypatch.setattr(device_step, "_on_host", read_allowed)
        monkeypatch.setattr(torch.cuda, "synchronize", refuse)
        torch.cuda.set_sync_debug_mode("error")

    def read_allowed(numbers: torch.Tensor) -> Any:
        torch.cuda.set_sync_debug_mode("default")
        try:
            return read(numbers)
        finally:
            torch.cuda.set_sync_debug_mode("error")

    def refuse(device: Any = None) -> None:
        raise AssertionError("a step waits for the whole device")

    yield begin
    torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("sampling", [{}, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("graphs", [True, False], ids=["captured", "eager"])
def test_nothing_but_the_verdict_is_waited_for(
    pair: LoadedPair, watch: Any, graphs: bool, sampling: dict[str, Any], batch: int
) -> None:
    prompts = PROMPTS[:batch]  # all in the batch from the first step on
    engine, said = make_engine(pair, graphs=graphs, batch=batch, ignore_eos=True, **sampling)
    submit(engine, prompts)
    for _ in range(N_FIRST):
        engine.step()
    n_before = len(of_kind(said, SpansMeasured))
    watch()
    run(engine)
    measured = of_kind(said, SpansMeasured)[n_before:]
    assert len(measured) >= 5
    assert {event.n_syncs for event in measured} == {1}


def test_a_captured_draft_is_one_span_and_an_eager_one_a_span_a_forward(pair: LoadedPair) -> None:
    captured, eager = (
        of_kind(decode(pair, PROMPTS[:1], graphs=graphs), SpansMeasured) for graphs in (True, False)
    )
    drafted = [event for event in captured if "draft_forward" in event.names]
    assert all(event.names.count("draft_forward") == 1 for event in drafted)
    assert max(max(event.n_forwards, default=1) for event in drafted) == 4
    assert max(event.names.count("draft_forward") for event in eager) == 4
    for event in (*captured, *eager):
        gpu_ns = dict(zip(event.names, event.gpu_ns, strict=True))
        if "verify" in gpu_ns:
            step, verify = gpu_ns["step"], gpu_ns["verify"]
            assert step is not None
            assert verify is not None
            assert 0 < verify <= step


def test_launches_are_what_graphs_save(pair: LoadedPair) -> None:
    measured = of_kind(decode(pair, PROMPTS[:1], calibrate=True), CalibrationMeasured)[0]
    assert measured.draft_launch_share is not None
    assert measured.uncaptured_launch_share is not None
    assert measured.draft_launch_share < measured.uncaptured_launch_share
