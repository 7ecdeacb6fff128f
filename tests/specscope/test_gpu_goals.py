"""The part of `.ci/gpu` that tells goals and claims: what is missed fails nothing."""

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import pytest

from tests.specscope.bench_results import RESULTS

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "gpu"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script as a module, its neighbour to be found."""
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    spec = importlib.util.spec_from_loader("gpu_goals", SourceFileLoader("gpu_goals", str(SCRIPT)))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def checked(
    script: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    result: dict[str, Any],
) -> tuple[int, str]:
    """Exit status and table where every other part is well."""

    def run(name: str, command: list[str], deadline: float, rows: list, results: dict, **_: Any):
        rows.append((name, "ok", 1.0, ""))
        return result if name == "goals" else None

    monkeypatch.setattr(script, "run", run)
    code = script.check(tmp_path, {})
    return code, capsys.readouterr().out


def test_a_goal_that_is_missed_is_told_and_fails_nothing(
    script: Any, monkeypatch: Any, capsys: Any, tmp_path: Path
) -> None:
    code, table = checked(script, monkeypatch, capsys, tmp_path, RESULTS["goals"])
    assert code == 0
    lines = [" ".join(line.split()) for line in table.splitlines()]
    goal = "launching takes little of a captured draft"
    assert f"{goal} missed 7.2 %, at most 5.0 %: made up." in lines
    assert any(line.startswith("claim: drafting is fast not measured -:") for line in lines)


def test_a_part_that_broke_fails_and_the_others_are_told(
    script: Any, monkeypatch: Any, capsys: Any, tmp_path: Path
) -> None:
    failed = {"decoding": "Traceback\nRuntimeError: broke", "claims": "RuntimeError: gone"}
    result = {**RESULTS["goals"], "decoding": None, "claims": None, "failed": failed}
    code, table = checked(script, monkeypatch, capsys, tmp_path, result)
    assert code == 1
    assert "RuntimeError: broke" in table
    assert "RuntimeError: gone" in table
    assert "missed" in table


@pytest.mark.parametrize(("printed", "is_told"), [('{"failed": {}}', True), ("no JSON", False)])
def test_what_a_failing_part_printed_is_kept(
    script: Any, tmp_path: Path, printed: str, is_told: bool
) -> None:
    rows: list = []
    results: dict = {}
    program = f"import sys; print({printed!r}); sys.exit(1)"
    result = script.run(
        "goals", [script.sys.executable, "-c", program], script.time.monotonic() + 100, rows,
        results, environment=None, is_json=True,
    )  # fmt: skip
    assert (result == {"failed": {}}) == is_told
    assert [row[1] for row in rows] == ["FAILED"]
    assert results["goals"]["exit_code"] == 1
