import threading
from collections.abc import Callable

import pytest

from engine.control import Control, ShutdownRequested
from engine.telemetry.emitter import Emitter
from engine.wire.commands import (
    CloseQueue,
    Command,
    Pause,
    RecordKernels,
    Resume,
    SetGamma,
    SetSampling,
    Shutdown,
    StepOnce,
    StopSequence,
    SubmitPrompt,
)
from engine.wire.events import EndReason, EngineState, EngineStateChanged, Event, LogEmitted

S = EngineState


class Tape:
    """A loop of no models: notes what is done to it, and tells ``control`` things on the way.

    ``script`` maps a moment ("draft 0", "commit 0", "draft 1", ...) to what is told then, just
    before the resting point.
    """

    def __init__(self, script: dict[str, list[Command]] | None = None) -> None:
        self.said: list[Event] = []
        self.done: list[str] = []
        self.n_prompts = 0
        self.n_commits = 0
        self.script = script or {}
        self.control = Control(
            Emitter(self.said.append), at_commit=lambda: self.done.append("at commit")
        )
        self._step = -1

    @property
    def gpu_uuid(self) -> str | None:
        return None

    @property
    def has_work(self) -> bool:
        return self.n_prompts > 0

    def submit(self, command: SubmitPrompt) -> int:
        if not command.text:
            raise ValueError("the prompt is empty.")
        self.n_prompts += 1
        self.done.append(f"submit {command.text}")
        return 0

    def set_gamma(self, gamma: int | str) -> None:
        self.done.append(f"gamma {gamma}")

    def set_sampling(self, temperature: float, *, top_k: int, top_p: float) -> None:
        self.done.append(f"sampling {temperature} {top_k} {top_p}")

    def record_kernels(self, n_steps: int) -> None:
        self.done.append(f"record {n_steps}")

    def stop(self, sequence_id: int) -> None:
        if sequence_id:
            raise KeyError(sequence_id)
        self.n_prompts -= 1
        self.done.append("stop")

    def abandon(self) -> None:
        self.n_prompts = 0
        self.done.append("abandon")

    def step(self) -> None:
        """A prompt is done after one step."""
        self._step += 1
        self._reach("draft")
        self._reach("commit")

    def _reach(self, point: str) -> None:
        moment = f"{point} {self._step}"
        self.done.append(moment)
        if point == "commit":
            self.n_prompts -= 1
        self.tell(*self.script.get(moment, []))
        self.control.rest(point)

    def tell(self, *commands: Command) -> None:
        for command in commands:
            self.control.tell(command)

    @property
    def states(self) -> list[str]:
        return [
            f"{event.state}{' ' if event.detail else ''}{event.detail}"
            for event in self.said
            if isinstance(event, EngineStateChanged)
        ]

    @property
    def errors(self) -> list[str]:
        return [event.message for event in self.said if isinstance(event, LogEmitted)]


def prompt(text: str = "p") -> SubmitPrompt:
    return SubmitPrompt(text=text)


def test_decodes_what_was_queued_and_ends() -> None:
    tape = Tape()
    tape.tell(prompt("a"), prompt("b"), CloseQueue())
    assert tape.control.run(tape) is EndReason.FINISHED
    assert tape.done == [
        "submit a", "submit b",
        "draft 0", "commit 0", "at commit",
        "draft 1", "commit 1", "at commit",
    ]  # fmt: skip
    assert tape.states == ["running"]


def test_nothing_to_do_and_nothing_to_come() -> None:
    tape = Tape()
    tape.tell(CloseQueue())
    assert tape.control.run(tape) is EndReason.FINISHED
    assert tape.done == []


def test_what_changes_the_batch_waits_for_the_commit() -> None:
    changes = [
        SetGamma(gamma="auto"),
        SetSampling(temperature=0.5, top_k=3, top_p=0.9),
        RecordKernels(n_steps=2),
        prompt("b"),
        StopSequence(sequence_id=0),
        CloseQueue(),
    ]
    tape = Tape({"draft 0": changes})
    tape.tell(prompt("a"))
    assert tape.control.run(tape) is EndReason.FINISHED
    assert tape.done == [
        "submit a", "draft 0", "commit 0", "at commit",
        "gamma auto", "sampling 0.5 3 0.9", "record 2", "submit b", "stop",
    ]  # fmt: skip


def test_pause_and_resume_at_both_points() -> None:
    script: dict[str, list[Command]] = {
        "draft 0": [Pause(), Resume()],
        "commit 0": [Pause(), prompt("b"), Resume(), CloseQueue()],
    }
    tape = Tape(script)
    tape.tell(prompt("a"))
    assert tape.control.run(tape) is EndReason.FINISHED
    assert tape.done.count("submit b") == 1
    assert tape.states == ["running"], "a pause that was taken back is none"


def test_each_single_step_runs_to_the_next_point() -> None:
    tape = Tape()
    tape.tell(Pause(), prompt("a"), prompt("b"), StepOnce(), StepOnce(), StepOnce())
    tape.tell(Resume(), CloseQueue())
    assert tape.control.run(tape) is EndReason.FINISHED
    assert [state for state in tape.states if state != "running"] == [
        "paused after the draft", "paused after the commit", "paused after the draft",
    ]  # fmt: skip


def blocked_on(tape: Tape, steps: list[tuple[Callable[[], bool], Command]]) -> None:
    """Run the tape; whenever the next condition holds, tell the next command."""
    changed = threading.Condition()
    say = tape.said.append

    def told(event: Event) -> None:
        with changed:
            say(event)
            changed.notify_all()

    tape.control._emitter._sink = told
    thread = threading.Thread(target=tape.control.run, args=(tape,))
    thread.start()
    for condition, command in steps:
        with changed:
            assert changed.wait_for(condition, 10.0), tape.states
        tape.tell(command)
    thread.join(10.0)
    assert not thread.is_alive()


def test_says_where_it_rests() -> None:
    tape = Tape()
    tape.tell(Pause(), prompt("a"))

    def rests(*states: str) -> Callable[[], bool]:
        return lambda: tape.states == list(states)

    one = ("paused",)
    two = (*one, "running", "paused after the draft")
    three = (*two, "running", "paused after the commit")
    four = (*three, "running", "ready")
    blocked_on(
        tape,
        [
            (rests(*one), StepOnce()),
            (rests(*two), StepOnce()),
            (rests(*three), Resume()),
            (rests(*four), CloseQueue()),
        ],
    )
    assert tape.states == list(four)


def test_a_step_without_work_stays_paused() -> None:
    tape = Tape()
    tape.tell(StepOnce(), prompt("a"), Shutdown())
    assert tape.control.run(tape) is EndReason.STOPPED
    tape = Tape()
    tape.tell(StepOnce())

    def is_paused() -> bool:
        return tape.states == ["paused"]

    blocked_on(tape, [(is_paused, Shutdown())])
    assert "draft 0" not in tape.done


@pytest.mark.parametrize("point", ["draft 0", "commit 0"])
def test_shutdown_at_a_resting_point(point: str) -> None:
    tape = Tape({point: [SetGamma(gamma=1), Shutdown(), prompt("c")]})
    tape.tell(prompt("a"), prompt("b"))
    assert tape.control.run(tape) is EndReason.STOPPED
    assert tape.done[-1] == "abandon"
    assert ("commit 0" in tape.done) == (point == "commit 0")
    assert "draft 1" not in tape.done
    assert tape.states[-1] == "stopping by command"


def test_shutdown_comes_before_all_that_waits() -> None:
    tape = Tape()
    tape.tell(prompt("a"), Pause(), *[StepOnce()] * 100, Shutdown())
    assert tape.control.run(tape) is EndReason.STOPPED
    assert "draft 0" not in tape.done


def test_shutdown_while_paused() -> None:
    tape = Tape()
    tape.tell(Pause(), prompt("a"))
    blocked_on(tape, [(lambda: tape.states == ["paused"], Shutdown())])
    assert tape.states == ["paused", "stopping by command"]


def test_the_first_reason_to_stop_is_told() -> None:
    tape = Tape()
    tape.control.request_shutdown("the connection is gone")
    tape.tell(Shutdown())
    assert tape.control.run(tape) is EndReason.STOPPED
    assert tape.states == ["stopping the connection is gone"]


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (SetGamma(gamma=99), "The gamma was refused: gamma is 99"),
        (SetSampling(temperature=99.0), "The sampling was refused: temperature is 99"),
        (StopSequence(sequence_id=3), "The stop was refused: 3"),
        (prompt(""), "The prompt was refused: the prompt is empty."),
        (SubmitPrompt(text="a", max_new_tokens=0), "The prompt was refused: max new tokens is 0"),
    ],
)
def test_what_cannot_be_done_is_told(command: Command, sentence: str) -> None:
    tape = Tape()
    tape.tell(command, CloseQueue())
    assert tape.control.run(tape) is EndReason.FINISHED
    [message] = tape.errors
    assert message.startswith(sentence)
    assert tape.done == []


def test_no_prompt_after_the_queue_was_closed() -> None:
    tape = Tape()
    tape.tell(CloseQueue(), prompt("a"))
    assert tape.control.run(tape) is EndReason.FINISHED
    [message] = tape.errors
    assert "the queue was closed" in message


def test_a_shutdown_is_not_caught_by_accident() -> None:
    assert not issubclass(ShutdownRequested, Exception)


def test_loading_may_be_said_in_many_words() -> None:
    tape = Tape()
    for detail in ("one", "two"):
        tape.control.say_state(S.LOADING, detail)
    tape.control.say_state(S.READY)
    tape.control.say_state(S.READY)
    assert tape.states == ["loading one", "loading two", "ready"]


def test_between_captures_the_engine_stops_and_does_nothing_else() -> None:
    tape = Tape()
    for command in (Pause(), StepOnce(), SetGamma(gamma=3)):
        tape.control.tell(command)
    tape.control.rest("capture")
    assert (tape.said, tape.done) == ([], [])
    tape.control.request_shutdown("enough")
    with pytest.raises(ShutdownRequested):
        tape.control.rest("capture")
