"""One process, one loading, all suites."""

import json
from typing import Any

import pytest
import torch

from engine.benchmark import claims, decoding, device_figures, events, goals
from engine.benchmark.goals import run
from engine.models import loading
from engine.wire.benchmark import BenchmarkSettings
from engine.wire.config import ConfigError, RunConfig
from tests.specscope.bench_results import GPU_DECODING, RESULTS


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_all_suites_on_models_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    load = loading._load

    def counted(described: loading._Described, *args: object, **options: object) -> object:
        loaded.append(described.reference.name)
        return load(described, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(loading, "_load", counted)
    monkeypatch.setattr(events, "SETTLE_S", 0.0)
    settings = BenchmarkSettings(
        suite="goals",
        config=RunConfig(max_new_tokens=8),
        prompts=("def f(x):\n", "import os\n"),
    )
    result = json.loads(json.dumps(run(settings, progress=lambda detail: None), allow_nan=False))
    assert loaded == ["bundled-target", "bundled-draft"]
    assert result.keys() == {"decoding", "events", "claims", "verdicts", "failed"}
    assert result["failed"] == {}
    assert result["events"]["everything_on_vs_off"]["n"] == 2 * goals.N_EVENT_ROUNDS
    verdicts = [row["verdict"] for row in result["verdicts"]]
    assert verdicts[:-1] == ["not measured"] * 8
    assert verdicts[-1] in ("holds", "missed", "not measured")


SETTINGS = BenchmarkSettings(suite="goals", config=RunConfig())


def answered(monkeypatch: pytest.MonkeyPatch, **broken: Exception) -> dict[str, Any]:
    """What comes of suites that answer as a GPU's would, but for those that are broken."""
    decoded = {key: GPU_DECODING[key] for key in GPU_DECODING if key != "device_figures"}
    figures = GPU_DECODING["device_figures"]
    for module, function, name, result in (
        (decoding, "decode", "decoding", decoded),
        (device_figures, "run", "device_figures", figures),
        (events, "run", "events", {**RESULTS["events"], "device": "cuda:0"}),
        (claims, "run", "claims", RESULTS["claims"]),
    ):

        def answer(*_: Any, name: str = name, result: Any = result, **options: Any) -> Any:
            if name in broken:
                raise broken[name]
            return result

        monkeypatch.setattr(module, function, answer)
    return run(SETTINGS, progress=lambda detail: None)


def test_a_part_that_breaks_takes_no_other_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    result = answered(monkeypatch, claims=RuntimeError("an illegal memory access"))
    assert list(result["failed"]) == ["claims"]
    assert "an illegal memory access" in result["failed"]["claims"]
    assert result["claims"] is None
    assert [row["verdict"] for row in result["verdicts"][:8]] == ["holds"] * 8
    result = answered(monkeypatch, device_figures=RuntimeError("no such kernel"))
    assert list(result["failed"]) == ["device_figures"]
    whys = [row["why"] for row in result["verdicts"][:7]]
    assert whys == ["The device's figures could not be had: RuntimeError: no such kernel."] * 7
    result = answered(monkeypatch, decoding=RuntimeError("x"), events=RuntimeError("x"))
    assert list(result["failed"]) == ["decoding", "events"]
    assert {row["verdict"] for row in result["verdicts"]} == {"not measured"}


def test_settings_that_cannot_work_end_all(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="no such model"):
        answered(monkeypatch, decoding=ConfigError("no such model"))
