"""``specscope run`` on toy models: what it prints, what it writes, how it refuses."""

import json
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from engine.wire.codec import decode_event
from specscope.cli import main
from tests.specscope.conftest import RunCommand
from tests.support.stream_rules import check_stream

PROMISED = {
    "text", "token_ids", "n_steps", "n_drafted", "n_accepted", "n_rejected", "n_discarded",
    "acceptance_rate", "expected_acceptance_rate", "draft_efficiency", "tokens_per_step",
    "acceptance_by_position", "tokens_per_second", "elapsed_s", "c", "verify_width_cost",
    "predicted_speedup", "overhead_share", "settings",
}  # fmt: skip


def test_json_is_one_object_with_all_that_was_promised(run_command: RunCommand) -> None:
    result = run_command("run", "hello there", "--json", "--max-new-tokens", "20")
    assert result.exit_code == 0, result.output
    run = json.loads(result.stdout)
    assert run.keys() >= PROMISED
    assert "sequences" not in run
    assert len(run["token_ids"]) == 20
    assert run["n_drafted"] == run["n_accepted"] + run["n_rejected"] + run["n_discarded"]
    assert run["settings"]["gamma"] == 4
    assert run["settings"]["target_model"]["name"] == "toy-1"
    assert run["c"] > 0
    assert run["verify_width_cost"] > 0
    assert 0 <= run["overhead_share"] < 1


def test_several_prompts_are_listed_and_added_up(run_command: RunCommand, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("one two\nthree four five\nsix\n")
    result = run_command(
        "run", "--prompt-file", str(prompts), "--json", "--batch", "2", "--max-new-tokens", "9"
    )
    run = json.loads(result.stdout)
    assert [s["prompt"] for s in run["sequences"]] == ["one two", "three four five", "six"]
    assert sum(s["n_accepted"] for s in run["sequences"]) == run["n_accepted"]
    assert run["n_output_tokens"] == 27
    assert [s["finish_reason"] for s in run["sequences"]] == ["length"] * 3


def test_events_are_written_as_said(run_command: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    result = run_command("run", "hello", "--events", str(path), "--max-new-tokens", "12")
    assert result.exit_code == 0, result.output
    events = [decode_event(line) for line in path.read_bytes().splitlines()]
    check_stream(events)
    assert type(events[0]).__name__ == "SessionStarted"
    assert type(events[-1]).__name__ == "SessionEnded"


def test_a_person_sees_text_marks_and_figures(run_command: RunCommand) -> None:
    result = run_command("run", "hello", "--max-new-tokens", "30")
    assert result.stdout.startswith("hello")
    assert "[~" in result.stdout
    for name in ("tokens per second", "acceptance rate", "draft efficiency", "overhead"):
        assert name in result.stdout
    assert "toy-1" in result.stderr


def test_a_full_context_is_told(run_command: RunCommand, data_folder: Path) -> None:
    arguments = ("run", "hello", "--max-new-tokens", "5000", "--record", "--name", "full")
    sentence = "(context: the context of 256 tokens is full)"
    assert sentence in run_command(*arguments).stderr
    assert sentence in run_command("show", "full").stdout


def test_the_same_seed_gives_the_same_tokens(run_command: RunCommand) -> None:
    arguments = ("run", "hello", "--json", "--temperature", "1", "--max-new-tokens", "15")
    first, again, other = (
        json.loads(run_command(*arguments, "--seed", seed).stdout)["token_ids"]
        for seed in ("1", "1", "2")
    )
    assert first == again != other


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("",), "prompt is empty"),
        (("hi", "--gamma", "33"), "gamma is 33"),
        (("hi", "--gamma", "-1"), "gamma is -1"),
        (("hi", "--gamma", "many"), "neither a whole number nor auto"),
        (("hi", "--temperature", "-0.5"), "temperature is -0.5"),
        (("hi", "--temperature", "nan"), "temperature is nan"),
        (("hi", "--top-p", "0"), "top-p is 0"),
        (("hi", "--top-k", "-1"), "top-k is -1"),
        (("hi", "--batch", "33"), "batch is 33"),
        (("hi", "--block-size", "8"), "block size is 8"),
        (("hi", "--max-new-tokens", "0"), "max new tokens is 0"),
        (("hi", "--prompt-file", "x"), "not both"),
        (("--prompt-file", "nowhere.txt"), "cannot be read"),
        (("hi", "--events", "/nowhere/at/all"), "cannot be written"),
        (("hi", "--name", "a"), "--name is for a recorded session: add --record."),
        (("hi", "--target", "missing"), "missing is no model"),
        (("x" * 300,), "The prompt has 300 tokens and toy-1 holds 256"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(
    run_command: RunCommand, arguments: tuple[str, ...], sentence: str
) -> None:
    result = run_command("run", *arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("more", [(), ("--json",), ("--draft", "ngram", "--draft", "none")])
def test_a_refused_prompt_is_told_once(run_command: RunCommand, more: tuple[str, ...]) -> None:
    result = run_command("run", "x" * 300, *more)
    assert result.exit_code == 2
    assert result.stderr.count("refused") == 1
    assert "Error: The prompt was refused: The prompt has 300 tokens" in result.stderr


def test_json_keeps_standard_output_clean_of_errors(run_command: RunCommand) -> None:
    result = run_command("run", "hi", "--target", "missing", "--json")
    assert result.exit_code == 2
    assert result.stdout == ""


def test_a_recorded_run_replays_to_the_same_result(
    run_command: RunCommand, data_folder: Path
) -> None:
    result = run_command(
        "run", "hello there", "--json", "--record", "--name", "mine", "--max-new-tokens", "15"
    )
    assert result.exit_code == 0, result.output
    assert json.loads(run_command("replay", "mine", "--json").stdout) == json.loads(result.stdout)


def test_several_drafts_are_compared(run_command: RunCommand, data_folder: Path) -> None:
    arguments = ("run", "hello hello hello", "--max-new-tokens", "12", "--record")
    drafts = ("--draft", "toy", "--draft", "ngram", "--draft", "none")
    result = run_command(*arguments, *drafts)
    assert result.exit_code == 0, result.output
    assert "(baseline)" in result.stdout
    assert len(list((data_folder / "sessions").glob("*.specscope"))) == 3
    told = json.loads(run_command("run", "hello", "--json", *drafts).stdout)
    assert told["sessions"][0]["name"] == "none"
    assert all(session["n_diverging"] == 0 for session in told["sessions"])
    assert set(told["runs"]) == {"toy", "ngram", "none"}


def test_one_stream_goes_into_one_file(run_command: RunCommand, tmp_path: Path) -> None:
    result = run_command(
        "run", "hi", "--draft", "none", "--draft", "ngram", "--events", str(tmp_path / "e")
    )
    assert result.exit_code == 2
    assert "--events takes one stream" in result.stderr


def test_kernels_are_recorded_and_their_cost_is_told(run_command: RunCommand) -> None:
    arguments = ("run", "hello", "--max-new-tokens", "24", "--kernels-every", "3")
    kernels = json.loads(run_command(*arguments, "--json").stdout)["kernels"]
    assert kernels["n_steps"] > 0
    assert kernels["n_kernels"] > kernels["n_steps"], "operators of a CPU"
    assert kernels["recording_ns"] > 0
    assert kernels["launch_gaps"] == {}, "a CPU has none"
    assert "recording took" in " ".join(run_command(*arguments).stdout.split())


@pytest.mark.slow
def test_a_device_that_is_not_there_is_refused() -> None:
    result = CliRunner().invoke(main, ["run", "hello", "--device", "cuda", "--json"])
    if torch.cuda.is_available():
        pytest.skip("there is one")
    assert result.exit_code == 2
    assert "torch sees no CUDA device" in result.stderr
    assert result.stdout == ""
