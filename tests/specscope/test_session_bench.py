"""The suite measures what it says, on a session that is quick to make."""

from pathlib import Path

import pytest

from engine.wire.config import RunConfig
from specscope import session_bench
from specscope.prompts import Prompt
from specscope.session_bench import Figure, open_here, run_session_bench
from tests.specscope.conftest import RunCommand


def test_a_limit_is_a_floor_or_a_ceiling() -> None:
    assert Figure("x", 2.0, "s", 2.0, "").is_met
    assert not Figure("x", 2.1, "s", 2.0, "").is_met
    assert Figure("x", 2.1, "1/s", 2.0, "", is_rate=True).is_met
    assert not Figure("x", 1.9, "1/s", 2.0, "", is_rate=True).is_met


def test_every_figure_is_there_with_its_verdict(
    run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``run_command`` is asked for because it puts toy models in the engine's place."""
    monkeypatch.setattr(session_bench, "_N_RECORDED_TOKENS", 400)
    said: list[str] = []
    result = run_session_bench(
        RunConfig(target="toy", draft="toy", max_new_tokens=8, calibrate=False),
        [Prompt("ab")],
        n_rounds=2,
        n_draft_tokens=13_000,
        n_ranges=500,
        progress=said.append,
    )
    figures = {figure["name"]: figure for figure in result["figures"]}
    assert set(figures) == {
        "recording_cost", "recorder_events_per_s", "open_summary_s", "open_complete_s",
        "open_first_s", "snapshot_us", "open_memory_mb", "open_first_memory_mb",
        "export_nsys_sqlite_s", "export_chrome_trace_s",
    }  # fmt: skip
    assert len(result["recorded_vs_not"]) == 2
    assert figures["open_complete_s"]["about"] == "from columns that were kept"
    assert figures["recorder_events_per_s"]["value"] > 0
    assert result["is_met"] == all(figure["is_met"] for figure in figures.values())
    assert any("13,000 draft tokens" in word for word in said)


def test_an_opening_is_told(tmp_path: Path, data_folder: Path) -> None:
    n_events = session_bench._make(tmp_path / "x.specscope", 100)
    told = open_here(tmp_path / "x.specscope")
    assert n_events > 150
    assert told["is_from_cache"] is False
    assert 0 < told["summary_s"] < told["complete_s"]
    assert told["peak_mb"] > 10
