"""One process, one loading, all suites."""

import json

import pytest
import torch

from engine.benchmark import events, goals
from engine.benchmark.goals import run
from engine.models import loading
from engine.wire.benchmark import BenchmarkSettings
from engine.wire.config import RunConfig


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
    assert result.keys() == {"decoding", "events", "claims", "verdicts"}
    assert result["events"]["everything_on_vs_off"]["n"] == 2 * goals.N_EVENT_ROUNDS
    verdicts = [row["verdict"] for row in result["verdicts"]]
    assert verdicts[:-1] == ["not measured"] * 8
    assert verdicts[-1] in ("holds", "missed", "not measured")
