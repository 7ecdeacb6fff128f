"""What the window costs is measured on something small: figures and their limits are there."""

import os
from pathlib import Path
from typing import Any

import pytest

from specscope import window_bench
from specscope.window_bench import LIMITS, run_window_bench

pytestmark = pytest.mark.usefixtures("data_folder")


def test_the_start_page_is_painted_without_torch() -> None:
    started = window_bench._start()
    assert not started["has_torch"]
    assert 0 < started["start_s"] < started["process_s"]


def test_a_case_says_nothing_of_what_the_offscreen_platform_cannot_do(
    capfd: pytest.CaptureFixture[str],
) -> None:
    window_bench._child("start")
    window_bench._child("feed", "0.2")
    assert capfd.readouterr().err == ""


def test_what_is_fed_arrives_whole() -> None:
    fed = window_bench._child("feed", "0.5")
    assert fed["n_steps_fed"] > 0
    assert fed["n_lost"] == 0
    assert fed["heartbeat_gap_ms"] >= fed["heartbeat_p95_ms"] > 0
    assert fed["table_growth_mb"] >= 0


def test_every_limit_has_a_figure_and_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases that answer at once; which and how they are asked is what is looked at."""
    asked: list[tuple[str, ...]] = []
    answers: dict[str, dict[str, Any]] = {
        "start": {"painted_at_s": 0.0, "has_torch": False},
        "make": {},
        "frames": {"first_paint_s": 0.25, "frame_p95_ms": 34.0},
        "feed": {"n_lost": 0, "heartbeat_gap_ms": 20.0, "rss_growth_mb": 1.0},
        "beside": {"cost": 0.1, "standard_error": 0.01, "costs": [], "has_own_core": True},
    }

    def answer(case: str, *arguments: str, data: Path | None = None) -> dict[str, Any]:
        asked.append((case, *arguments))
        assert (data is not None) == (case == "frames")  # its columns are not left to the user
        return answers[case]

    monkeypatch.setattr(window_bench, "_child", answer)
    said: list[str] = []
    result = run_window_bench(n_draft_tokens=1234, feed_s=2.0, n_rounds=2, say=said.append)
    verdicts = result["verdicts"]
    assert set(verdicts) == set(LIMITS)
    assert verdicts["first_paint_s"] == {"value": 0.25, "limit": 0.5, "holds": True}
    assert not verdicts["frame_p95_ms"]["holds"]
    assert verdicts["beside_cost"]["value"] == pytest.approx(0.1)
    assert not verdicts["beside_cost"]["holds"]
    assert ("beside", str(2 * window_bench.PAIRS_PER_ROUND)) in asked
    assert ("feed", "2.0") in asked
    assert said


@pytest.mark.parametrize("is_forbidden", [True, False])
def test_children_are_compiled_as_an_installed_program_is(
    is_forbidden: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(window_bench, "_child", lambda case, *_args, **_kw: asked.append(case))
    monkeypatch.delenv("PYTHONPYCACHEPREFIX", raising=False)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1" if is_forbidden else "")
    with window_bench._compiled(tmp_path):
        assert ("PYTHONDONTWRITEBYTECODE" in os.environ) != is_forbidden
        kept = str(tmp_path) if is_forbidden else None
        assert os.environ.get("PYTHONPYCACHEPREFIX") == kept
    assert asked == ["frames"] * is_forbidden
    assert os.environ["PYTHONDONTWRITEBYTECODE"] == ("1" if is_forbidden else "")
    assert "PYTHONPYCACHEPREFIX" not in os.environ
