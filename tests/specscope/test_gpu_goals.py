"""The part of `.ci/gpu` that tells goals and claims: what is missed fails nothing."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import psutil
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


@pytest.mark.parametrize("printed", ["no JSON", "3", ""])
def test_a_part_that_ends_well_without_its_result_has_failed(script: Any, printed: str) -> None:
    rows: list = [("tests", "ok", 1.0, "")]
    results: dict = {}
    command = [script.sys.executable, "-c", f"print({printed!r})"]
    result = script.run(
        "goals", command, time.monotonic() + 100, rows, results, environment=None, is_json=True
    )
    assert result is None
    assert [row[1] for row in rows] == ["ok", "FAILED"]
    assert rows[1][3] == f"no JSON was printed: {printed or 'nothing was said'}"
    assert results["goals"]["exit_code"] == 0


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def until(condition: Any, *, limit_s: float = 60.0) -> None:
    end_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end_s
        time.sleep(0.02)


def with_a_child(file: Path) -> list[str]:
    """A program whose child writes its number to ``file``, and both stay."""
    return ["sh", "-c", f"echo told; sleep 600 & echo $! > {file}; wait"]


def test_a_part_that_is_too_slow_ends_with_its_children(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "pid"
    finish = script.finish
    monkeypatch.setattr(script, "finish", lambda *started: finish(*started[:2], 2.0))
    rows: list = []
    results: dict = {}
    script.run("goals", with_a_child(file), time.monotonic() + 100, rows, results, environment=None)
    assert [row[1] for row in rows] == ["too slow"]
    assert results["goals"]["output"] == "told\n"
    pid = int(file.read_text())
    until(lambda: not is_running(pid))


def test_a_check_that_is_told_to_end_ends_what_it_runs(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    program = (
        f"import runpy, sys; sys.path.insert(0, {str(SCRIPT.parent)!r}); "
        f"script = runpy.run_path({str(SCRIPT)!r}); "
        "script['end_parts_when_told_to_end'](); "
        f"script['finish']({with_a_child(file)!r}, None, 600)"
    )
    with subprocess.Popen([sys.executable, "-c", program]) as check:
        until(lambda: file.exists() and file.read_text().endswith("\n"))
        os.kill(check.pid, signal.SIGTERM)
        assert check.wait(60) == 128 + signal.SIGTERM
    pid = int(file.read_text())
    until(lambda: not is_running(pid))
