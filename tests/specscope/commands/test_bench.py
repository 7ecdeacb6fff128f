"""``specscope bench``: settings in, tables or JSON out; measuring is tested with the engine."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from engine.wire.benchmark import BenchmarkSettings, ProgramFailed
from specscope.cli import main
from tests.specscope.bench_results import RESULTS

Asked = list[BenchmarkSettings]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What the benchmark was told; it answers with a result of the suite's shape."""
    settings: Asked = []

    def run_benchmark(told: BenchmarkSettings, **_: Any) -> dict[str, Any]:
        settings.append(told)
        return RESULTS[told.suite]

    monkeypatch.setattr("specscope.commands.bench.run_benchmark", run_benchmark)
    return settings


def bench(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["bench", *arguments])


def test_the_default_is_ten_prompts_of_held_out_code(asked: Asked) -> None:
    result = bench("--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == RESULTS["decoding"]
    assert asked[0].suite == "decoding"
    assert len(asked[0].prompts) == 10
    assert asked[0].config.draft == "bundled-draft"


def test_prompts_limit_and_rounds_arrive(asked: Asked, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("a\nb\nc\n")
    bench("--prompts", str(prompts), "--limit", "2", "--rounds", "3", "--suite", "events", "--json")
    assert asked[0].prompts == ("a", "b")
    assert asked[0].n_rounds == 3


def test_a_person_gets_tables(asked: Asked) -> None:
    result = bench("--suite", "cache")
    assert result.exit_code == 0, result.output
    assert "Rolling back 4 positions" in result.stdout


@pytest.mark.parametrize(("is_bad_input", "exit_code"), [(True, 2), (False, 1)])
def test_a_failure_is_its_sentence(
    monkeypatch: pytest.MonkeyPatch, is_bad_input: bool, exit_code: int
) -> None:
    def fail(told: BenchmarkSettings, **_: Any) -> dict[str, Any]:
        raise ProgramFailed("no such model", is_bad_input=is_bad_input)

    monkeypatch.setattr("specscope.commands.bench.run_benchmark", fail)
    result = bench("--json")
    assert result.exit_code == exit_code
    assert result.stdout == ""
    assert "no such model" in result.stderr


def test_sessions_are_measured_here_and_small_where_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, Any] = {}

    def run_session_bench(config: Any, prompts: Any, **settings: Any) -> dict[str, Any]:
        told.update(settings, n_prompts=len(prompts))
        return RESULTS["sessions"]

    monkeypatch.setattr("specscope.commands.bench.run_session_bench", run_session_bench)
    result = bench("--suite", "sessions", "--small", "--limit", "2", "--rounds", "3", "--json")
    assert json.loads(result.stdout) == RESULTS["sessions"]
    assert (told["n_draft_tokens"], told["n_rounds"], told["n_prompts"]) == (20_000, 3, 2)
    assert "MISSED" in bench("--suite", "sessions").stdout
    assert told["n_draft_tokens"] == 1_000_000


def test_a_part_that_failed_is_printed_and_is_the_exit_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failed = {**RESULTS["goals"], "failed": {"claims": "RuntimeError: broke"}}
    monkeypatch.setattr("specscope.commands.bench.run_benchmark", lambda *_, **__: failed)
    result = bench("--suite", "goals", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == failed
