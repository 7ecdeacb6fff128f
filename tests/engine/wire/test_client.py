import os
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from engine.wire.client import EngineClient, EngineStartError
from engine.wire.commands import (
    CloseQueue,
    Pause,
    Resume,
    SetGamma,
    SetSampling,
    Shutdown,
    StepOnce,
    StopSequence,
    SubmitPrompt,
)
from engine.wire.config import RunConfig
from engine.wire.events import (
    DraftProposed,
    EndReason,
    EngineState,
    EngineStateChanged,
    Event,
    FinishReason,
    HostSampled,
    LogEmitted,
    SequenceFinished,
    SequenceStarted,
    SessionEnded,
    SessionStarted,
    SettingsChanged,
    StepCommitted,
)
from tests.support.nvtx_injection import Injection
from tests.support.stream_rules import check_stream

FAKE = "tests.support.fake_engine"
PATIENCE_S = 30.0


class Listener:
    """A client and all it has said so far."""

    def __init__(self, client: EngineClient) -> None:
        self.client = client
        self.events: list[Event] = []

    def until(self, condition: Callable[[Event], bool]) -> Event:
        """Read on until an event meets the condition."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            self.client.wait(1.0)
            for event in self.client.poll(1):
                self.events.append(event)
                if condition(event):
                    return event
            assert not self.client.exhausted, f"the stream ended: {self.events[-1]}"
        raise AssertionError("it never came")

    def until_state(self, state: EngineState) -> Event:
        return self.until(lambda e: isinstance(e, EngineStateChanged) and e.state is state)

    def to_the_end(self) -> SessionEnded:
        ended = self.until(lambda e: isinstance(e, SessionEnded))
        assert isinstance(ended, SessionEnded)
        return ended

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Listener]]:
    """Starts fake engines, from another working directory, and closes them."""
    clients: list[EngineClient] = []
    sockets = tmp_path / "sockets"
    sockets.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(sockets))

    def start(target: str = "fake", **settings: object) -> Listener:
        config = RunConfig(target=target, telemetry=False, **settings)
        clients.append(EngineClient.start(config, program=FAKE))
        return Listener(clients[-1])

    yield start
    for client in clients:
        client.close()
    assert list(sockets.iterdir()) == [], "a socket was left behind"


def test_runs_a_queue_to_its_end(start: Callable[..., Listener]) -> None:
    engine = start()
    engine.client.send(SubmitPrompt(text="steps 3", label="one"))
    engine.client.send(SubmitPrompt(text="steps 2"))
    engine.client.send(CloseQueue())
    ended = engine.to_the_end()
    assert ended.reason is EndReason.FINISHED
    check_stream(engine.events)
    assert len(engine.of(StepCommitted)) == 5
    assert engine.client.exhausted
    assert engine.client.poll(10) == []
    started = engine.events[0]
    assert isinstance(started, SessionStarted)
    assert '"target":"fake"' in started.config_json
    states = [event.state for event in engine.of(EngineStateChanged)]
    assert states[0] is EngineState.LOADING
    assert EngineState.RUNNING in states


def test_waits_for_prompts_until_the_queue_is_closed(start: Callable[..., Listener]) -> None:
    engine = start()
    engine.until_state(EngineState.READY)
    engine.client.send(SubmitPrompt(text="steps 1"))
    engine.until_state(EngineState.RUNNING)
    engine.until_state(EngineState.READY)
    engine.client.send(CloseQueue())
    assert engine.to_the_end().reason is EndReason.FINISHED
    check_stream(engine.events)


def test_a_killed_engine_ends_as_crashed(start: Callable[..., Listener]) -> None:
    engine = start()
    engine.client.send(SubmitPrompt(text="forever"))
    engine.until(lambda e: isinstance(e, StepCommitted))
    os.kill(engine.client.process_id, signal.SIGKILL)
    ended = engine.to_the_end()
    assert ended.reason is EndReason.CRASHED
    assert "SIGKILL" in ended.detail
    check_stream(engine.events)


def test_what_a_dying_engine_printed_is_told(start: Callable[..., Listener]) -> None:
    engine = start("noisy")
    engine.until_state(EngineState.READY)
    os.kill(engine.client.process_id, signal.SIGSEGV)
    detail = engine.to_the_end().detail
    assert "printed by a library" in detail
    assert "complained by a library" in detail
    assert "Segmentation fault" in detail


def test_an_engine_that_leaves_without_a_word_is_told_with_its_exit_code(
    start: Callable[..., Listener],
) -> None:
    engine = start("dead")
    ended = engine.to_the_end()
    assert ended.reason is EndReason.CRASHED
    assert "exit code 7" in ended.detail


def test_shutdown_stops_between_draft_and_verification(start: Callable[..., Listener]) -> None:
    engine = start()
    engine.client.send(SubmitPrompt(text="forever"))
    engine.client.send(SubmitPrompt(text="forever"))
    engine.until(lambda e: isinstance(e, StepCommitted))
    engine.client.send(Shutdown())
    assert engine.to_the_end().reason is EndReason.STOPPED
    check_stream(engine.events)
    [finished] = engine.of(SequenceFinished)
    assert finished.reason is FinishReason.STOPPED


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs POSIX signals")
def test_shutdown_interrupts_loading(start: Callable[..., Listener]) -> None:
    engine = start("slow")
    engine.until_state(EngineState.LOADING)
    engine.client.send(Shutdown())
    assert engine.to_the_end().reason is EndReason.STOPPED
    check_stream(engine.events)


def test_terminate_is_a_graceful_stop(start: Callable[..., Listener]) -> None:
    engine = start()
    engine.client.send(SubmitPrompt(text="forever"))
    engine.until(lambda e: isinstance(e, StepCommitted))
    os.kill(engine.client.process_id, signal.SIGTERM)
    ended = engine.to_the_end()
    assert (ended.reason, ended.detail) == (EndReason.STOPPED, "terminated")
    check_stream(engine.events)


def test_interrupts_are_left_to_the_caller(start: Callable[..., Listener]) -> None:
    engine = start()
    engine.until_state(EngineState.READY)
    os.kill(engine.client.process_id, signal.SIGINT)
    engine.client.send(SubmitPrompt(text="steps 1"))
    engine.client.send(CloseQueue())
    assert engine.to_the_end().reason is EndReason.FINISHED


def test_pause_and_single_steps(start: Callable[..., Listener]) -> None:
    engine = start()
    engine.client.send(Pause())
    engine.client.send(SubmitPrompt(text="forever"))
    engine.until_state(EngineState.PAUSED)
    engine.client.send(StepOnce())
    assert engine.until_state(EngineState.PAUSED).detail == "after the draft"
    assert isinstance(engine.events[-2], DraftProposed)
    engine.client.send(StepOnce())
    assert engine.until_state(EngineState.PAUSED).detail == "after the commit"
    assert len(engine.of(StepCommitted)) == 1
    # Two at once are two steps.
    engine.client.send(StepOnce())
    engine.client.send(StepOnce())
    engine.until_state(EngineState.PAUSED)
    assert engine.until_state(EngineState.PAUSED).detail == "after the commit"
    assert len(engine.of(StepCommitted)) == 2
    engine.client.send(Resume())
    engine.until_state(EngineState.RUNNING)
    engine.until(lambda e: isinstance(e, StepCommitted))
    engine.client.send(Pause())
    engine.until_state(EngineState.PAUSED)
    engine.client.send(Shutdown())
    assert engine.to_the_end().reason is EndReason.STOPPED
    check_stream(engine.events)


def test_the_batch_changes_after_the_commit_only(start: Callable[..., Listener]) -> None:
    engine = start()
    engine.client.send(Pause())
    engine.client.send(SubmitPrompt(text="forever"))
    engine.until_state(EngineState.PAUSED)
    engine.client.send(StepOnce())
    engine.until_state(EngineState.PAUSED)  # after the draft
    engine.client.send(SetGamma(gamma=3))
    engine.client.send(StopSequence(sequence_id=0))
    engine.client.send(SubmitPrompt(text="steps 1"))
    engine.client.send(CloseQueue())
    engine.client.send(Resume())
    assert engine.to_the_end().reason is EndReason.FINISHED
    check_stream(engine.events)
    kinds = [type(event) for event in engine.events]
    assert kinds.index(StepCommitted) < kinds.index(SettingsChanged) < kinds.index(SequenceFinished)
    assert len(engine.of(SequenceStarted)) == 2


def test_what_cannot_be_done_is_answered_and_changes_nothing(
    start: Callable[..., Listener],
) -> None:
    engine = start()
    commands = {
        "gamma": SetGamma(gamma=99),
        "gamma, too": SetGamma(gamma="often"),
        "sampling": SetSampling(temperature=-1.0),
        "stop": StopSequence(sequence_id=12),
        "prompt": SubmitPrompt(text=""),
        "prompt, too": SubmitPrompt(text="steps 1", max_new_tokens=0),
    }
    for name, command in commands.items():
        engine.client.send(command)
        answer = engine.until(lambda e: isinstance(e, LogEmitted))
        assert answer.level == "error"
        assert answer.message.startswith(f"The {name.partition(',')[0]} was refused: ")
    engine.client.send(CloseQueue())
    engine.client.send(SubmitPrompt(text="steps 1"))
    engine.to_the_end()
    assert engine.of(SettingsChanged) == []
    check_stream(engine.events)


@pytest.mark.parametrize(
    ("target", "sentence"),
    [("missing", "there is no model called missing."), ("broken", "the weights are broken")],
)
def test_a_failure_while_loading_is_told(
    start: Callable[..., Listener], target: str, sentence: str
) -> None:
    engine = start(target)
    ended = engine.to_the_end()
    assert ended.reason is EndReason.FAILED
    assert sentence in ended.detail
    assert ("Traceback" in ended.detail) == (target == "broken")
    check_stream(engine.events)
    expected = 2 if target == "missing" else 1
    assert psutil.Process(engine.client.process_id).wait(PATIENCE_S) == expected


def test_a_failure_while_decoding_is_told_with_its_traceback(
    start: Callable[..., Listener],
) -> None:
    engine = start()
    engine.client.send(SubmitPrompt(text="raise"))
    ended = engine.to_the_end()
    assert ended.reason is EndReason.FAILED
    assert "RuntimeError: the fake engine was told to raise" in ended.detail
    check_stream(engine.events)


def test_a_device_without_memory_left_is_told_in_a_sentence(start: Callable[..., Listener]) -> None:
    engine = start()
    engine.client.send(SubmitPrompt(text="full"))
    ended = engine.to_the_end()
    assert (ended.reason, ended.detail) == (EndReason.FAILED, "The memory is used up: give less.")
    check_stream(engine.events)
    assert psutil.Process(engine.client.process_id).wait(PATIENCE_S) == 2


@pytest.mark.parametrize("text", ["forever", "hang"])
def test_an_engine_whose_caller_has_gone_stops_itself(
    start: Callable[..., Listener], text: str
) -> None:
    engine = start()
    engine.client.send(SubmitPrompt(text=text))
    engine.until_state(EngineState.RUNNING)
    assert engine.client._connection is not None
    # What the caller's death does to the socket.
    with socket.socket(fileno=os.dup(engine.client._connection.fileno())) as end:
        end.shutdown(socket.SHUT_RDWR)
    start_s = time.monotonic()
    code = engine.client._process.wait(PATIENCE_S)
    assert time.monotonic() - start_s < 2.0
    assert code == (3 if text == "hang" else 0)


def test_close_ends_an_engine_that_does_not_listen(start: Callable[..., Listener]) -> None:
    engine = start()
    process = psutil.Process(engine.client.process_id)
    engine.client.send(SubmitPrompt(text="hang"))
    engine.until_state(EngineState.RUNNING)
    engine.client.close(patience_s=0.2)
    assert not process.is_running()
    engine.client.close()
    assert engine.to_the_end().reason is EndReason.CRASHED


def test_closing_keeps_what_has_come(start: Callable[..., Listener]) -> None:
    engine = start()
    engine.client.send(SubmitPrompt(text="forever"))
    engine.until(lambda e: isinstance(e, StepCommitted))
    with engine.client:
        pass
    assert engine.to_the_end().reason is EndReason.STOPPED
    check_stream(engine.events)
    engine.client.send(Resume())  # to nobody


def test_samples_the_host_while_running(start: Callable[..., Listener]) -> None:
    config = RunConfig(target="fake")
    with EngineClient.start(config, program=FAKE) as client:
        engine = Listener(client)
        sample = engine.until(lambda e: isinstance(e, HostSampled))
        assert isinstance(sample, HostSampled)
        assert 0 < sample.process_memory_bytes < sample.system_memory_total_bytes


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(EngineStartError, match=r"exit code 1 before.*\n.*no_such_program"):
        EngineClient.start(RunConfig(), program="no_such_program")


def test_a_python_that_is_not_there() -> None:
    with pytest.raises(EngineStartError, match="could not be started"):
        EngineClient.start(RunConfig(), python="/no/such/python")


def test_a_program_that_never_calls() -> None:
    with pytest.raises(EngineStartError, match=r"not connected within 0.3 seconds"):
        EngineClient.start(RunConfig(), program="tests.support.silent_program", timeout_s=0.3)


def test_a_start_that_is_no_longer_wanted_ends_soon() -> None:
    begun = time.monotonic()
    with pytest.raises(EngineStartError, match="told to end"):
        EngineClient.start(
            RunConfig(),
            program="tests.support.silent_program",
            should_stop=lambda: time.monotonic() - begun > 0.3,
        )
    assert time.monotonic() - begun < 5.0


def test_the_key_is_not_in_the_command_line(start: Callable[..., Listener]) -> None:
    engine = start()
    key = engine.client._doorway.authkey.hex()
    process = psutil.Process(engine.client.process_id)
    assert key not in " ".join(process.cmdline())
    assert key not in str(process.environ())


def test_a_profiler_that_watches_the_caller_sees_the_engine(
    start: Callable[..., Listener], nvtx_injection: Injection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in nvtx_injection.environment().items():
        monkeypatch.setenv(name, value)
    engine = start()
    engine.client.send(SubmitPrompt(text="steps 3"))
    engine.client.send(CloseQueue())
    engine.to_the_end()
    assert [r.path for r in nvtx_injection.ranges()] == [
        ("step",),
        ("step", "draft"),
        ("step", "verify"),
        ("step", "commit"),
    ] * 3
    assert {r.domain for r in nvtx_injection.ranges()} == {"specscope"}


def test_a_line_that_cannot_be_read_is_an_event(
    start: Callable[..., Listener], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = start()
    engine.until_state(EngineState.READY)
    last = engine.events[-1]
    engine.client._take(b'{"kind":"Nonsense"}\n{"kind":')
    first, second = (engine.client.poll(1)[0] for _ in range(2))
    for i, event in enumerate((first, second)):
        assert isinstance(event, LogEmitted)
        assert event.level == "error"
        assert event.ordinal == last.ordinal + 1 + i
    assert not engine.client.exhausted
