"""The cost of telling is measured on runs that differ in nothing else."""

import pytest

from engine.benchmark import events
from engine.benchmark.events import run
from engine.wire.benchmark import BenchmarkSettings
from engine.wire.config import RunConfig

SETTINGS = BenchmarkSettings(
    suite="events",
    config=RunConfig(max_new_tokens=16),
    prompts=("def f(x):\n", "import os\n"),
    n_rounds=2,
)


@pytest.fixture(autouse=True)
def _no_settling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "SETTLE_S", 0.0)


def test_on_and_off_are_paired() -> None:
    result = run(SETTINGS, progress=lambda _: None)
    for pair, share in (("events", "cost_share"), ("everything", "everything_cost_share")):
        assert result[f"{pair}_on_vs_off"]["n"] == 4
        assert result[share] == result[f"{pair}_on_vs_off"]["median"] - 1.0
    assert result["n_events"] > 8 * 16
    assert 100 < result["bytes_per_event"] < 2000


def test_one_pair_alone() -> None:
    result = run(SETTINGS, progress=lambda _: None, pairs=("everything",))
    assert result["everything_on_vs_off"]["n"] == 4
    assert "events_on_vs_off" not in result
    assert result["n_events"] > 4 * 16
