"""Wiring: the one place that knows engine processes, recordings and session files together."""

import contextlib
import importlib.resources
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from engine.wire.client import CANCEL_PATIENCE_S, EngineClient, EngineStartError
from engine.wire.commands import CloseQueue, Command, SubmitPrompt
from engine.wire.config import RunConfig
from engine.wire.events import Event, SessionEnded
from engine.wire.nsight import NsightMissing, find_nsys, nsys_wrapper
from engine.wire.prepared import PreparedEngine
from sessions.library import Library
from sessions.metrics.summary import summarise
from sessions.opening import open_session
from sessions.recorder import Recorder
from sessions.recorder_status import RecorderStatus
from sessions.session import Session
from sessions.session_errors import SessionFileError
from sessions.spill import Spill
from specscope.machine import has_gpu, machine_words
from specscope.model_choices import (
    model_folders,
    model_refusal,
    offered_drafts,
    offered_targets,
)
from specscope.named_recording import NamedRecording
from specscope.prompts import read_prompts
from ui.models_offered import OfferedDraft, OfferedModel
from ui.run_order import RunOrder
from ui.session_title import session_title
from ui.workshop import Started, Surroundings

PROMPT_KINDS = ("json", "code", "prose")
_STARTER_PATIENCE_S = 1.2
"""An engine that no longer is wanted is gone by then; only the search for nsys may take longer."""


class LocalWorkshop:
    """Sessions from engines on this machine and from files."""

    def __init__(self, library: Library | None = None, *, program: str = "engine.worker") -> None:
        self.library = library or Library()
        self._program = program
        self._prepared: PreparedEngine | None = None
        self._run: weakref.ref[EngineRun] | None = None  # it holds its sessions

    def start(self, order: RunOrder) -> "EngineRun":
        """Start an engine for ``order``; returns at once.

        Raises:
            SessionFileError: the library takes no recording.
        """
        if order.is_recorded:
            try:
                self.library.new_path(order.configs[0].target)
            except SessionFileError:  # there can be none
                self.let_go()
                raise
        prepared, self._prepared = self._prepared, None
        run = EngineRun(order, self.library, program=self._program, prepared=prepared)
        self._run = weakref.ref(run)
        return run

    def prepare(self) -> None:
        """Have an engine import what takes seconds, unless one is at work that it would slow."""
        run = None if self._run is None else self._run()
        if self._prepared is not None and not self._prepared.is_ready:
            self.let_go()
        if self._prepared is None and (run is None or run.is_over):
            with contextlib.suppress(OSError):  # told when a run is started
                self._prepared = PreparedEngine(self._program)

    def let_go(self) -> None:
        """Nothing will be run now: end what was prepared."""
        if self._prepared is not None:
            self._prepared.close()
            self._prepared = None

    def open(self, path: Path) -> Started:
        """A stored session. Raises SessionFileError."""
        session = open_session(path)
        return Started(session_title(session.summary), session, path)

    def example(self) -> Path:
        """The session that ships with the program."""
        return Path(str(importlib.resources.files("resources"))) / "examples" / "example.specscope"

    def targets(self) -> Sequence[OfferedModel]:
        """Models that may be chosen as the target."""
        return offered_targets()

    def drafts(self, target: str) -> Sequence[OfferedDraft]:
        """What may draft for ``target``, and what may not, with the reason."""
        return offered_drafts(target)

    def has_gpu(self) -> bool:
        """Whether a run that names no device would decode on a GPU, as far as shows at once."""
        return has_gpu()

    def model_folders(self) -> Mapping[str, Path]:
        """The bundled and the added models that have a configuration, by name."""
        return model_folders()

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


class EngineRun:
    """An engine's process working through an order, one session after the other.

    The process is started on a thread, for connecting takes a moment. ``close`` may be called from
    any thread; all else is one thread's.
    """

    def __init__(
        self,
        order: RunOrder,
        library: Library,
        *,
        program: str = "engine.worker",
        prepared: PreparedEngine | None = None,
    ) -> None:
        self.problem = ""
        self._prepared = prepared
        self._order = order
        self._library = library
        self._program = program
        self._client: EngineClient | None = None
        self._recordings: dict[Path, NamedRecording] = {}
        self._n_begun = 0
        self._source: _OneSession | None = None
        self._is_hung_up = False
        self._is_closed = False
        self._starter = threading.Thread(target=self._start, name="engine-starter", daemon=True)
        self._starter.start()

    @property
    def process_id(self) -> int | None:
        return None if self._client is None else self._client.process_id

    @property
    def is_over(self) -> bool:
        """Whether no process is at work, nor will be."""
        if self._client is None:
            return bool(self.problem) or self._is_closed
        return self._client.exit_code is not None

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
        try:
            path = self._new_path(place)
        except SessionFileError as error:
            self.problem = str(error)
            self.hang_up()
            return None
        self._n_begun += 1
        session = self._session(client, path, self._name(place) if self._order.name else "")
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
        return Started(self._name(place), session, path)

    def recorder_status(self, started: Started) -> RecorderStatus | None:
        """How its recording goes."""
        recording = None if started.path is None else self._recordings.get(started.path)
        return None if recording is None else recording.status

    def hang_up(self) -> None:
        """Tell the engine to end between two phases of a step; one that has not connected is no
        longer waited for."""
        self._is_hung_up = True
        if self._client is not None:
            self._client.hang_up()

    def close(self, *, patience_s: float = 1.0) -> None:
        """End the process if it has not ended. Under Nsight Systems it is waited for as long as
        its report may take, whatever ``patience_s``."""
        self._is_hung_up = self._is_closed = True
        self._starter.join(_STARTER_PATIENCE_S)  # should it take longer, it ends what it starts
        if self._client is not None:
            is_profiled = self._order.nsys_report is not None
            self._client.close(patience_s=None if is_profiled else patience_s)

    def _start(self) -> None:
        try:
            client = self._start_client()
        except Exception as error:  # whatever it is, someone waits for this engine
            is_sentence = isinstance(error, EngineStartError | NsightMissing)
            why = f"The engine could not be started: {type(error).__name__}: {error}."
            if not self._is_hung_up:
                self.problem = str(error) if is_sentence else why
            return
        finally:
            if self._prepared is not None:
                self._prepared.close()  # if it was not taken
        self._client = client
        if self._is_closed:
            client.close(patience_s=CANCEL_PATIENCE_S)
        elif self._is_hung_up:
            client.hang_up()

    def _start_client(self) -> EngineClient:
        """Under Nsight Systems, if its report is asked for; not for a model that there cannot be,
        which would leave a session of nothing."""
        for name in _models_of(self._order):
            if refusal := model_refusal(name):
                raise EngineStartError(refusal)
        configs, report = self._order.configs, self._order.nsys_report
        wrapper: Sequence[str] = ()
        if report is not None:
            configs = tuple(replace(config, nsys_report=str(report)) for config in configs)
            wrapper = nsys_wrapper(report, find_nsys())
        if self._is_hung_up:
            raise EngineStartError("The engine was told to end before it was started.")
        return EngineClient.start(
            *configs,
            program=self._program,
            wrapper=wrapper,
            prepared=self._prepared,
            should_stop=lambda: self._is_hung_up,
        )

    def _session(self, client: EngineClient, path: Path | None, name: str) -> Session:
        source = self._source = _OneSession(client)
        spill = Spill.of_user()
        if path is None:
            return Session(source, spill=spill)
        recorder = Recorder(
            path, summarise=lambda: summarise(session.snapshot()), model=lambda: session.model
        )
        recording = self._recordings[path] = NamedRecording(recorder, name, self._library)
        session = Session(source, [recording], spill=spill)
        return session

    def _new_path(self, place: int) -> Path | None:
        """Free, now that the sessions before have their files. Raises SessionFileError."""
        if not self._order.is_recorded:
            return None
        config = self._order.configs[place]
        return self._library.new_path(config.target, "" if _is_plain(config) else config.draft)

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


def _models_of(order: RunOrder) -> Sequence[str]:
    """What is to be loaded, each once."""
    names = [name for config in order.configs for name in (config.target, config.draft_model)]
    return tuple(dict.fromkeys(name for name in names if name is not None))


def _is_plain(config: RunConfig) -> bool:
    return config.draft == "none" or config.gamma == 0


def _same_draft(one: RunConfig, other: RunConfig) -> bool:
    return _is_plain(one) == _is_plain(other) and one.draft == other.draft
