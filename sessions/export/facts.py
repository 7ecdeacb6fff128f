"""What an exported file says of its session as a whole."""

import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from engine.wire.events import (
    Event,
    EventsDropped,
    GpuSampled,
    LogEmitted,
    ModelLoaded,
    SessionEnded,
    SessionStarted,
)

MAX_PROCESS_ID = 1 << 22
MAX_NOTES = 100
"""Log lines that are kept for a file's notes; the rest is counted."""


_TELLING = {SessionStarted, SessionEnded, ModelLoaded, GpuSampled, LogEmitted, EventsDropped}


@dataclass
class Gpu:
    uuid: str
    total_memory_bytes: int | None


@dataclass
class ExportFacts:
    """Gathers while events pass by; to be read when they have."""

    started: SessionStarted | None = None
    ended: SessionEnded | None = None
    models: list[ModelLoaded] = field(default_factory=list)
    gpus: dict[str, Gpu] = field(default_factory=dict)
    logs: list[LogEmitted] = field(default_factory=list)
    n_more_logs: int = 0
    n_dropped: int = 0
    dropped_kinds: set[str] = field(default_factory=set)
    n_events: int = 0

    def note(self, event: Event) -> None:
        self.n_events += 1
        if type(event) not in _TELLING:  # nearly all events of a long session
            return
        match event:
            case SessionStarted():
                self.started = event
            case SessionEnded():
                self.ended = event
            case ModelLoaded():
                self.models.append(event)
            case GpuSampled():
                gpu = self.gpus.setdefault(event.device_uuid, Gpu(event.device_uuid, None))
                gpu.total_memory_bytes = event.memory_total_bytes or gpu.total_memory_bytes
            case LogEmitted(level="warning" | "error"):
                if len(self.logs) < MAX_NOTES:
                    self.logs.append(event)
                else:
                    self.n_more_logs += 1
            case EventsDropped():
                self.n_dropped += event.n_events
                self.dropped_kinds.update(event.kinds)

    @property
    def started_unix_ns(self) -> int:
        return self.started.started_unix_ns if self.started else 0

    @property
    def process_id(self) -> int:
        """A number for the engine's process, which the stream does not name: the same for the same
        session and, very probably, another for another. From 1 to ``MAX_PROCESS_ID``."""
        return zlib.crc32(str(self.started_unix_ns).encode()) % MAX_PROCESS_ID + 1

    @property
    def started_utc(self) -> str:
        """ISO 8601, to the second; empty if the session's start is no date."""
        try:
            moment = datetime.fromtimestamp(self.started_unix_ns // 1_000_000_000, UTC)
        except (ValueError, OverflowError, OSError):
            return ""
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def own_version() -> str:
    """The version of the program that writes."""
    try:
        return version("specscope")
    except PackageNotFoundError:  # run from a source tree
        return "0"
