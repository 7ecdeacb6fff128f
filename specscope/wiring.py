"""Wiring: the one place that knows engine processes, recordings and session files together."""

import importlib.resources
import json
import threading
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from engine.wire.client import EngineClient, EngineStartError
from engine.wire.commands import CloseQueue, Command, SubmitPrompt
from engine.wire.config import RunConfig
from engine.wire.events import Event, SessionEnded
from engine.wire.nsight import NsightMissing, find_nsys, nsys_wrapper
from sessions.library import Library
from sessions.metrics.summary import summarise
from sessions.opening import open_session
from sessions.recorder import Recorder
from sessions.recorder_status import RecorderStatus
from sessions.session import Session
from sessions.session_errors import SessionFileError
from sessions.session_summary import FileSummary
from specscope.machine import machine_words
from specscope.model_choices import offered_drafts, offered_targets
from specscope.prompts import read_prompts
from ui.models_offered import OfferedDraft, OfferedModel
from ui.run_order import RunOrder
from ui.workshop import Started, Surroundings

PROMPT_KINDS = ("json", "code", "prose")


class LocalWorkshop:
    """Sessions from engines on this machine and from files."""

    def __init__(self, library: Library | None = None, *, program: str = "engine.worker") -> None:
        self.library = library or Library()
        self._program = program

    def start(self, order: RunOrder) -> "EngineRun":
        """Start an engine for ``order``; returns at once.

        Raises:
            SessionFileError: the library takes no recording.
        """
        paths = [self._new_path(config) if order.is_recorded else None for config in order.configs]
        return EngineRun(order, paths, program=self._program)

    def open(self, path: Path) -> Started:
        """A stored session. Raises SessionFileError."""
        session = open_session(path)
        return Started(_title(session.summary), session, path)

    def example(self) -> Path:
        """The session that ships with the program."""
        return Path(str(importlib.resources.files("resources"))) / "examples" / "example.specscope"

    def targets(self) -> Sequence[OfferedModel]:
        """Models that may be chosen as the target."""
        return offered_targets()

    def drafts(self, target: str) -> Sequence[OfferedDraft]:
        """What may draft for ``target``, and what may not, with the reason."""
        return offered_drafts(target)

    def look_around(self) -> Surroundings:
        """The newest sessions and this machine's words; on a thread, for it may take a second."""
        try:
            recent = self.library.entries()
        except SessionFileError:  # the Sessions panel says what is wrong with the folder
            recent = []
        return Surroundings(recent, machine_words())

    def prompts(self) -> dict[str, Sequence[str]]:
        """The bundled prompts by kind."""
        folder = Path(str(importlib.resources.files("resources"))) / "prompts"
        return {
            kind: tuple(prompt.text for prompt in read_prompts(folder / f"{kind}.jsonl"))
            for kind in PROMPT_KINDS
        }

    def _new_path(self, config: RunConfig) -> Path:
        return self.library.new_path(config.target, "" if _is_plain(config) else config.draft)


class EngineRun:
    """An engine's process working through an order, one session after the other.

    The process is started on a thread, for connecting takes a moment; all else is the caller's
    thread's.
    """

    def __init__(
        self, order: RunOrder, paths: Sequence[Path | None], *, program: str = "engine.worker"
    ) -> None:
        self.problem = ""
        self._order = order
        self._paths = paths
        self._program = program
        self._client: EngineClient | None = None
        self._recorders: dict[int, Recorder] = {}  # by the session's place in the order
        self._n_begun = 0
        self._source: _OneSession | None = None
        self._is_hung_up = False
        self._starter = threading.Thread(target=self._start, name="engine-starter", daemon=True)
        self._starter.start()

    @property
    def is_up(self) -> bool:
        return self._client is not None

    @property
    def process_id(self) -> int | None:
        return None if self._client is None else self._client.process_id

    @property
    def has_next(self) -> bool:
        """Whether a further session will come: not behind a crash, nor when told to end."""
        if self._is_hung_up or self._n_begun == len(self._order.configs):
            return False
        return self._client is None or not self._client.exhausted

    def next_session(self) -> Started | None:
        """The next session, its prompts sent, once the one before has ended."""
        client, source = self._client, self._source
        if client is None or not self.has_next:
            return None
        if source is not None and not source.exhausted:
            return None
        place = self._n_begun
        self._n_begun += 1
        session = self._session(client, place)
        for prompt in self._order.prompts:
            client.send(
                SubmitPrompt(
                    text=prompt.text,
                    max_new_tokens=prompt.max_new_tokens,
                    seed=prompt.seed,
                    label=prompt.label,
                )
            )
        client.send(CloseQueue())
        return Started(self._name(place), session, self._paths[place])

    def recorder_status(self, started: Started) -> RecorderStatus | None:
        """How its recording goes."""
        path = started.path
        recorder = next((r for r in self._recorders.values() if r.path == path), None)
        return None if recorder is None else recorder.status

    def hang_up(self) -> None:
        """Tell the engine to end between two phases of a step."""
        self._is_hung_up = True
        if self._client is not None:
            self._client.hang_up()

    def close(self, *, patience_s: float = 1.0) -> None:
        """End the process if it has not ended."""
        self._is_hung_up = True
        self._starter.join()
        if self._client is not None:
            self._client.close(patience_s=patience_s)

    def _start(self) -> None:
        try:
            client = self._start_client()
        except (EngineStartError, NsightMissing) as error:
            self.problem = str(error)
            return
        if self._is_hung_up:
            client.close(patience_s=0.2)
        self._client = client

    def _start_client(self) -> EngineClient:
        """Under Nsight Systems, if its report is asked for."""
        configs, report = self._order.configs, self._order.nsys_report
        if report is None:
            return EngineClient.start(*configs, program=self._program)
        told = (replace(config, nsys_report=str(report)) for config in configs)
        wrapper = nsys_wrapper(report, find_nsys())
        return EngineClient.start(*told, program=self._program, wrapper=wrapper)

    def _session(self, client: EngineClient, place: int) -> Session:
        source = self._source = _OneSession(client)
        path = self._paths[place]
        if path is None:
            return Session(source)
        recorder = Recorder(
            path, summarise=lambda: summarise(session.snapshot()), model=lambda: session.model
        )
        self._recorders[place] = recorder
        session = Session(source, [recorder])
        return session

    def _name(self, place: int) -> str:
        """What drafts, told apart where it is the same twice."""
        config = self._order.configs[place]
        word = "none" if _is_plain(config) else config.draft
        before = [c for c in self._order.configs[:place] if _same_draft(c, config)]
        name = f"{word} #{len(before) + 1}" if before else word
        return f"{self._order.name}: {name}" if self._order.name else name


class _OneSession:
    """One session's events of a client that speaks of several, up to its farewell."""

    def __init__(self, client: EngineClient) -> None:
        self._client = client
        self._is_over = False

    def poll(self, limit: int) -> Sequence[Event]:
        if self._is_over:
            return ()
        events = self._client.poll(limit)
        self._is_over = bool(events) and isinstance(events[-1], SessionEnded)
        return events

    @property
    def exhausted(self) -> bool:
        return self._is_over or self._client.exhausted

    def send(self, command: Command) -> None:
        self._client.send(command)

    def close(self) -> None:
        """The run ends the client."""


def _title(summary: FileSummary) -> str:
    """A session's name, and what drafted where the name does not tell."""
    name = summary.name or summary.path.stem
    try:
        draft = str(json.loads(summary.config_json).get("draft", ""))
    except (ValueError, AttributeError, RecursionError):
        return name
    return name if not draft or draft in name else f"{name}: {draft}"


def _is_plain(config: RunConfig) -> bool:
    return config.draft == "none" or config.gamma == 0


def _same_draft(one: RunConfig, other: RunConfig) -> bool:
    return _is_plain(one) == _is_plain(other) and one.draft == other.draft
