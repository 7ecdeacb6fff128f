"""Workshop: where the window gets its sessions from. The program above it says how: the window
knows neither processes nor files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sessions.library import LibraryEntry
from sessions.recorder_status import RecorderStatus
from sessions.session import Session
from ui.models_offered import OfferedDraft, OfferedModel
from ui.run_order import RunOrder


@dataclass(frozen=True, slots=True)
class Started:
    """One session of a run: its name and what it reads."""

    name: str
    session: Session
    path: Path | None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the start page shows: the newest sessions, and this machine in names and words."""

    recent: Sequence[LibraryEntry]
    machine: Sequence[tuple[str, str]]


class RunningEngine(Protocol):
    """An engine at work on a run. Nothing here blocks but ``close``."""

    @property
    def problem(self) -> str:
        """Why it could not start, in sentences; empty while there is nothing to say."""
        ...

    def next_session(self) -> Started | None:
        """The session that comes next, its prompts sent; None when there is no further one, or
        the one before has not ended."""
        ...

    @property
    def has_next(self) -> bool:
        """Whether a further session will come."""
        ...

    def recorder_status(self, started: Started) -> RecorderStatus | None:
        """How the recording goes; None where nothing is recorded."""
        ...

    @property
    def process_id(self) -> int | None:
        """None until it has connected; until then there is no session."""
        ...

    def hang_up(self) -> None:
        """Tell the engine to end, without waiting: its farewell comes as an event."""
        ...

    def close(self, *, patience_s: float = 1.0) -> None:
        """End the engine if it has not: no process, thread or socket is left."""
        ...


class Workshop(Protocol):
    def start(self, order: RunOrder) -> RunningEngine:
        """Start an engine; returns at once. Raises SessionFileError where a recording cannot be
        made."""
        ...

    def prepare(self) -> None:
        """A run is being thought of: have ready what can be, unless one is going on."""
        ...

    def let_go(self) -> None:
        """It will not come: end what was made ready."""
        ...

    def open(self, path: Path) -> Started:
        """A stored session; quick, for its events are read by ``Session.advance``.

        Raises:
            SessionFileError: with a sentence; the file is as it was.
        """
        ...

    def example(self) -> Path:
        """The session that ships with the program."""
        ...

    def targets(self) -> Sequence[OfferedModel]:
        """Models that may be chosen as the target, those that are here first."""
        ...

    def drafts(self, target: str) -> Sequence[OfferedDraft]:
        """What may draft for ``target``, and what may not, with the reason."""
        ...

    def has_gpu(self) -> bool:
        """Whether a run that names no device would decode on a GPU; told at once."""
        ...

    def model_folders(self) -> Mapping[str, Path]:
        """The models that are here and have a configuration, by name."""
        ...

    def look_around(self) -> Surroundings:
        """Reads the library and asks the machine: on a thread, for it may take a second."""
        ...

    def prompts(self) -> dict[str, Sequence[str]]:
        """Example prompts by kind: json, code, prose."""
        ...
