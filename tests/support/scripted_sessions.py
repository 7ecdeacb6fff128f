"""Sessions from hand-written streams, and a workshop that hands them out: the window without
engines and files."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from engine.wire.commands import Command
from engine.wire.events import EndReason, Event, SessionEnded
from sessions.recorder_status import RecorderStatus
from sessions.session import Session
from sessions.session_errors import SessionFileMissing, SessionFileUnwritable
from sessions.stream import ListSource
from tests.support.event_script import EventScript
from ui.models_offered import OfferedDraft, OfferedModel
from ui.run_order import RunOrder
from ui.workshop import Started, Surroundings

Write = Callable[[EventScript], None]


def script_of(n_steps: int = 6, *, n_sequences: int = 1, is_finished: bool = True) -> EventScript:
    """Steps of four drafted tokens, 0 to 4 of them accepted in turn."""
    script = EventScript()
    for index in range(n_sequences):
        script.sequence("ab", label=("code", "json", "prose")[index % 3])
    for step in range(n_steps):
        for sequence_id in range(n_sequences):
            script.step(sequence_id, accepted=step % 5, more=sequence_id < n_sequences - 1)
    if is_finished:
        script.finish()
    return script


def session_of(script: EventScript, *, is_taken_in: bool = True) -> Session:
    """A session that reads the script."""
    session = Session(ListSource(script.events))
    while is_taken_in and not session.is_over:
        session.advance(1000.0)
    return session


class ScriptedEngine:
    """An engine whose every session is written beforehand and told bit by bit by ``say``.

    While ``is_up`` is false no session comes; while ``may_close`` is unset ``close`` does not come
    back.
    """

    def __init__(
        self, scripts: Sequence[EventScript], *, problem: str = "", is_up: bool = True
    ) -> None:
        self.problem = problem
        self.recording: RecorderStatus | None = None
        self.may_close = threading.Event()
        self.may_close.set()
        self.sent: list[Command] = []
        self.is_hung_up = False
        self.is_closed = False
        self.process_id = 1
        self.is_up = is_up
        self._scripts = list(scripts)
        self._sources: list[_LiveSource] = []

    @property
    def has_next(self) -> bool:
        return not self.is_hung_up and len(self._sources) < len(self._scripts)

    def next_session(self) -> Started | None:
        is_telling = bool(self._sources) and not self._sources[-1].exhausted
        if not self.is_up or not self.has_next or is_telling:
            return None
        script = self._scripts[len(self._sources)]
        self._sources.append(_LiveSource(script.events, self.sent))
        name = f"session {len(self._sources)}"
        return Started(name, Session(self._sources[-1]), None)

    def say(self, n_events: int | None = None) -> None:
        """Let the newest session hear ``n_events`` more, or all there are."""
        self._sources[-1].say(n_events)

    def die(self, detail: str) -> None:
        """Killed: the stream ends as the client ends it."""
        self._sources[-1].die(detail)

    def recorder_status(self, started: Started) -> RecorderStatus | None:
        return self.recording

    def hang_up(self) -> None:
        self.is_hung_up = True
        if self._sources and not self._sources[-1].exhausted:
            self._sources[-1].stop()

    def close(self, *, patience_s: float = 1.0) -> None:
        self.may_close.wait()
        self.is_closed = True


class _LiveSource:
    def __init__(self, events: Sequence[Event], sent: list[Command]) -> None:
        self._events = list(events)
        self._n_due = 0
        self._n_given = 0
        self._sent = sent

    def say(self, n_events: int | None) -> None:
        more = len(self._events) if n_events is None else self._n_due + n_events
        self._n_due = min(more, len(self._events))

    def stop(self) -> None:
        self._cut(EndReason.STOPPED, "")

    def die(self, detail: str) -> None:
        self._cut(EndReason.CRASHED, detail)

    def _cut(self, reason: EndReason, detail: str) -> None:
        del self._events[self._n_due :]
        last = self._events[-1] if self._events else None
        self._events.append(
            SessionEnded(
                reason=reason,
                detail=detail,
                ordinal=0 if last is None else last.ordinal + 1,
                t_ns=0 if last is None else last.t_ns,
            )
        )
        self._n_due = len(self._events)

    def poll(self, limit: int) -> Sequence[Event]:
        events = self._events[self._n_given : min(self._n_given + limit, self._n_due)]
        self._n_given += len(events)
        return events

    @property
    def exhausted(self) -> bool:
        given = self._events[: self._n_given]
        return bool(given) and isinstance(given[-1], SessionEnded)

    def send(self, command: Command) -> None:
        self._sent.append(command)

    def close(self) -> None:
        """The engine is closed by whoever runs it."""


class ScriptedWorkshop:
    """Stored sessions by their paths' stems; engines as they are put in ``engines``."""

    def __init__(self) -> None:
        self.scripts: dict[str, EventScript] = {"example": script_of()}
        self.engines: list[ScriptedEngine] = []
        self.orders: list[RunOrder] = []
        self.refusal = ""  # of the next order
        self.told: list[str] = []  # of runs that may come

    def start(self, order: RunOrder) -> ScriptedEngine:
        if self.refusal:
            raise SessionFileUnwritable(self.refusal)
        self.orders.append(order)
        return self.engines[len(self.orders) - 1]

    def prepare(self) -> None:
        self.told.append("prepare")

    def let_go(self) -> None:
        self.told.append("let go")

    def open(self, path: Path) -> Started:
        if path.stem not in self.scripts:
            raise SessionFileMissing(f"There is no session file {path}: check the path.")
        session = session_of(self.scripts[path.stem], is_taken_in=False)
        return Started(path.stem, session, path)

    def example(self) -> Path:
        return Path("example.specscope")

    def look_around(self) -> Surroundings:
        return Surroundings((), (("GPU", "none"),))

    def has_gpu(self) -> bool:
        return False

    def model_folders(self) -> dict[str, Path]:
        return {}

    def targets(self) -> Sequence[OfferedModel]:
        return (
            OfferedModel(name="bundled-target", words="9 M parameters, bundled", is_here=True),
            OfferedModel(name="far-target", words="7 B parameters, on the hub", is_here=False),
        )

    def drafts(self, target: str) -> Sequence[OfferedDraft]:
        refusal = "" if target == "bundled-target" else "Another family."
        return (
            OfferedDraft(name="bundled-draft", words="2 M parameters", refusal=refusal),
            OfferedDraft(name="ngram", words="looks it up"),
            OfferedDraft(name="none", words="plain decoding"),
        )

    def prompts(self) -> dict[str, Sequence[str]]:
        return {"json": ("[", "{"), "code": ("def a", "def b"), "prose": ("It was", "She")}
