"""How a benchmark's program is run and read, with a program that only pretends."""

import sys
from pathlib import Path

import pytest

from engine.wire import benchmark
from engine.wire.benchmark import BenchmarkSettings, ProgramFailed, run_benchmark
from engine.wire.config import RunConfig

SETTINGS = BenchmarkSettings(suite="decoding", config=RunConfig(), prompts=("x",))


@pytest.fixture
def pretend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """``pretend(source)``: that source is the benchmark's program."""

    def install(source: str) -> None:
        (tmp_path / "pretended.py").write_text("import sys, json\n" + source)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setattr(benchmark, "PROGRAM", "pretended")

    return install


def test_progress_and_result_are_picked_out_of_what_libraries_print(pretend) -> None:
    pretend(
        "settings = json.loads(sys.stdin.readline())\n"
        "print('a library says hello')\n"
        "print(json.dumps({'progress': 'half'}))\n"
        'print(\'{"something": "else"}\')\n'
        "gamma = settings['config']['gamma']\n"
        "print(json.dumps({'result': {'suite': settings['suite'], 'gamma': gamma}}))\n"
    )
    told: list[str] = []
    assert run_benchmark(SETTINGS, progress=told.append) == {"suite": "decoding", "gamma": 4}
    assert told == ["half"]


def test_an_error_sentence_is_passed_on_as_bad_input(pretend) -> None:
    pretend("print(json.dumps({'error': 'no such model'})); sys.exit(2)\n")
    with pytest.raises(ProgramFailed, match="no such model") as failure:
        run_benchmark(SETTINGS, progress=lambda _: None)
    assert failure.value.is_bad_input


def test_a_crash_shows_its_last_lines(pretend) -> None:
    pretend("raise RuntimeError('the roof is on fire')\n")
    with pytest.raises(ProgramFailed, match="the roof is on fire") as failure:
        run_benchmark(SETTINGS, progress=lambda _: None)
    assert not failure.value.is_bad_input


def test_an_interrupt_leaves_no_process_behind(pretend) -> None:
    pretend("print(json.dumps({'progress': 'go'}), flush=True)\nimport time\ntime.sleep(60)\n")

    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_benchmark(SETTINGS, progress=interrupt, python=sys.executable)
