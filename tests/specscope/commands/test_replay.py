"""``specscope replay``."""

import itertools
import json

import pytest
from click.testing import CliRunner, Result

from engine.wire.events import SequenceStarted
from sessions.model import SessionModel
from specscope.cli import main
from specscope.commands import replay as replay_command
from specscope.commands.replay import paced
from specscope.run_result import run_result
from tests.specscope.stored import record

pytestmark = pytest.mark.usefixtures("data_folder")


def invoke(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "140"}).invoke(main, ["replay", *arguments])


def test_the_run_is_printed_again() -> None:
    record(name="one")
    result = invoke("one", "--speed", "1000")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("abxy[+!]xy[+!]")
    assert "acceptance rate" in result.stdout


def test_json_is_the_result_of_the_run_itself() -> None:
    _, events = record(name="one")
    model = SessionModel()
    model.consume(events)
    told = json.loads(invoke("one", "--json").stdout)
    assert told == json.loads(json.dumps(run_result(model.snapshot())))


def test_events_come_at_their_time_from_the_first_sequence_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, events = record()
    slept: list[float] = []
    monkeypatch.setattr(replay_command.time, "monotonic", itertools.repeat(100.0).__next__)
    monkeypatch.setattr(replay_command.time, "sleep", slept.append)
    assert list(paced(iter(events), speed=2.0)) == events
    first = next(i for i, event in enumerate(events) if isinstance(event, SequenceStarted))
    expected = [(event.t_ns - events[first].t_ns) / 1e9 / 2.0 for event in events[first:]]
    assert slept == pytest.approx(expected)


@pytest.mark.parametrize("arguments", [("nothing",), ("nothing", "--json")])
def test_what_is_not_there_is_a_sentence(arguments: tuple[str, ...]) -> None:
    assert invoke(*arguments).exit_code == 2


def test_a_speed_must_be_above_zero() -> None:
    record(name="one")
    assert invoke("one", "--speed", "0").exit_code == 2
