"""What a recorder says of itself, and how much it keeps while it cannot write."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class RecorderState(StrEnum):
    OK = "ok"
    WAITING = "waiting"  # the file is busy; events are kept in memory and written later
    FAILED = "failed"  # something is not recorded; ``error`` says what


@dataclass(frozen=True)
class RecorderStatus:
    """A recorder at one moment. Only what ``n_saved`` counts is in the file."""

    state: RecorderState
    message: str  # one sentence, for a status line
    n_saved: int  # events committed
    n_waiting: int  # events taken and not yet committed
    n_lost: int  # events that will never be in the file
    saved_ordinal: int  # of the newest committed event; -1 when there is none
    error: str  # empty unless failed
    warning: str  # about the folder; empty when there is nothing to say


@dataclass(frozen=True)
class RecorderLimits:
    """When a recorder commits, and how long and how much it waits."""

    commit_every_s: float = 0.1
    """Pause between two commits; a killed process loses this and one commit's own time."""

    busy_timeout_s: float = 0.1
    """How long one attempt waits for another program's lock."""

    batch_events: int = 5000
    """Events of one transaction."""

    max_waiting_events: int = 2_000_000
    max_waiting_bytes: int = 512 * 1024 * 1024
    """What is kept while the file is busy. Beyond that nothing more is taken."""

    close_patience_s: float = 30.0
    """How long closing waits for a busy file before the waiting events are given up."""


@dataclass
class RecorderProgress:
    """The figures behind a status; whoever changes them holds the recorder's lock."""

    path: Path
    n_saved: int = 0
    n_waiting: int = 0
    n_lost: int = 0
    waiting_bytes: int = 0  # of the waiting events that are encoded already
    saved_ordinal: int = -1
    is_busy: bool = False
    is_ended: bool = False
    error: str = ""
    warning: str = ""

    def save(self, n_events: int, n_bytes: int, ordinal: int) -> None:
        """``n_events`` that were waiting are committed, up to ``ordinal``."""
        self.is_busy = False
        self.n_saved += n_events
        self.n_waiting -= n_events
        self.waiting_bytes -= n_bytes
        self.saved_ordinal = ordinal

    def give_up(self, message: str) -> None:
        """Nothing that waits will be written."""
        self.n_lost += self.n_waiting
        self.n_waiting = self.waiting_bytes = 0
        self.error = f"{message} {self.n_saved:,} events were saved; the rest is not recorded."

    def stop_taking(self, ordinal: int) -> None:
        """What waits is still to be written, but from ``ordinal`` on nothing is kept."""
        self.error = (
            f"{self.path} could not be written for too long: {self.n_waiting:,} events are "
            f"waiting, and from event {ordinal} on nothing is recorded."
        )

    def refuse(self, n_events: int) -> None:
        """Events came that are not taken."""
        self.n_lost += n_events
        self.error = self.error or (
            f"{self.path}: the recording was closed before the session's last events came: they "
            "are not in it."
        )

    def status(self) -> RecorderStatus:
        state = RecorderState.WAITING if self.is_busy else RecorderState.OK
        if self.error:
            state = RecorderState.FAILED
        return RecorderStatus(
            state=state,
            message=self._message(),
            n_saved=self.n_saved,
            n_waiting=self.n_waiting,
            n_lost=self.n_lost,
            saved_ordinal=self.saved_ordinal,
            error=self.error,
            warning=self.warning,
        )

    def _message(self) -> str:
        if self.error:
            return self.error
        if self.is_busy:
            return (
                f"The session file is busy: another program holds {self.path.name}. "
                f"{self.n_waiting:,} events are waiting and will be written when it is free."
            )
        verb = "Saved" if self.is_ended else "Recording"
        return f"{verb}: {self.n_saved:,} events in {self.path.name}."
