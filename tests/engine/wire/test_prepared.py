"""An engine that is prepared: used for one run, or ended."""

import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from engine.wire.client import EngineClient
from engine.wire.commands import CloseQueue, SubmitPrompt
from engine.wire.config import RunConfig
from engine.wire.events import EndReason, Event, SessionEnded, StepCommitted
from engine.wire.prepared import PREPARE, PreparedEngine
from engine.wire.program import engine_command, engine_environment

FAKE = "tests.support.fake_engine"
CONFIG = RunConfig(target="fake")


@pytest.fixture
def prepared() -> Iterator[PreparedEngine]:
    prepared = PreparedEngine(FAKE)
    yield prepared
    prepared.close()


@pytest.fixture
def process(prepared: PreparedEngine) -> psutil.Process:
    """What was prepared."""
    assert prepared._process is not None
    return psutil.Process(prepared._process.pid)


def events_of(client: EngineClient) -> list[Event]:
    events: list[Event] = []
    client.send(SubmitPrompt(text="steps 2"))
    client.send(CloseQueue())
    while not client.exhausted:
        assert client.wait(30.0)
        events += client.poll(100)
    return events


def require_a_whole_session(events: list[Event]) -> None:
    assert sum(isinstance(event, StepCommitted) for event in events) == 2
    assert isinstance(events[-1], SessionEnded)
    assert events[-1].reason is EndReason.FINISHED


def test_it_is_used_for_the_run_that_comes(
    prepared: PreparedEngine, process: psutil.Process
) -> None:
    with EngineClient.start(CONFIG, program=FAKE, prepared=prepared) as client:
        assert client.process_id == process.pid
        require_a_whole_session(events_of(client))
    assert prepared.take() is None, "it was for one run"


def test_a_run_does_without_one_that_has_ended(
    prepared: PreparedEngine, process: psutil.Process
) -> None:
    process.kill()
    while prepared.is_ready:
        time.sleep(0.01)
    with EngineClient.start(CONFIG, program=FAKE, prepared=prepared) as client:
        assert client.process_id != process.pid
        require_a_whole_session(events_of(client))


def test_a_run_under_a_wrapper_does_not_use_it(
    prepared: PreparedEngine, process: psutil.Process
) -> None:
    with EngineClient.start(CONFIG, program=FAKE, wrapper=["env"], prepared=prepared) as client:
        assert client.process_id != process.pid
        require_a_whole_session(events_of(client))
    assert process.is_running()


def test_closed_it_leaves_no_process(prepared: PreparedEngine, process: psutil.Process) -> None:
    prepared.close()
    assert not process.is_running()
    prepared.close()


def test_it_ends_by_itself_when_nobody_is_left_to_tell_it_anything() -> None:
    ended = subprocess.run(
        engine_command(FAKE, PREPARE), input=b"", capture_output=True, check=False,
        env=engine_environment(), timeout=30,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_what_takes_long_is_imported_ahead() -> None:
    program = (
        "import sys; from engine import worker; worker._import_ahead(); "
        "sys.exit(not {'torch', 'transformers', 'engine.models.loading'} <= set(sys.modules))"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
