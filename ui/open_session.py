"""OpenSession: one session that the window holds, with the moment of it that is shown."""

from dataclasses import dataclass, field
from pathlib import Path

from sessions.opening import StoredSession
from sessions.playhead import Mode, Playhead
from sessions.recorder_status import RecorderStatus
from sessions.run_facts import RunFacts, run_facts
from sessions.session import Session
from sessions.snapshot import Snapshot
from ui.workshop import Started


@dataclass(slots=True, eq=False)
class OpenSession:
    """``is_live`` while an engine speaks; ``bookmarks`` are moments in ns, ascending."""

    started: Started
    is_live: bool = False
    playhead: Playhead = field(default_factory=Playhead)
    bookmarks: list[int] = field(default_factory=list)
    recording: RecorderStatus | None = None
    problem: str = ""  # why it could not be read to its end
    _newest: Snapshot | None = None
    _seen: tuple[int, int] = (-1, -1)
    _begun: RunFacts | None = None

    @property
    def name(self) -> str:
        return self.started.name

    @property
    def path(self) -> Path | None:
        return self.started.path

    @property
    def session(self) -> Session:
        return self.started.session

    def rest_at_last_commit(self) -> None:
        """Lay the playhead of a recording, or of a run that has ended, where its last step was
        committed: all was decoded, and the caches still hold it."""
        steps = self.newest().steps
        if not self.is_live and self.playhead.mode is Mode.FOLLOWING and len(steps):
            self.playhead.scrub(int(steps["t_ns"][-1]))

    @property
    def share_read(self) -> float | None:
        """How much of a recording was taken in, from 0 to 1; None when all was."""
        if not isinstance(self.session, StoredSession) or self.session.is_over or self.problem:
            return None
        return self.session.progress.share

    @property
    def is_blank(self) -> bool:
        """Whether it is a recording of which nothing was read so far."""
        return self.share_read == 0.0

    @property
    def begin_ns(self) -> int:
        """When its first sequence started: where sessions side by side are laid together."""
        sequences = self.session.model.tables["sequences"]
        return int(sequences.view("t_ns", 1)[0]) if len(sequences) else 0

    @property
    def end_ns(self) -> int:
        return self.session.model.last_t_ns

    @property
    def begun(self) -> RunFacts | None:
        """What it ran with, as it was told at its start; None until then."""
        starts = self.session.model.tables["starts"]
        if self._begun is None and len(starts):
            self._begun = run_facts(self.session.snapshot(int(starts.view("t_ns", 1)[0])))
        return self._begun

    @property
    def is_baseline(self) -> bool:
        """Whether nothing was drafted; False until its settings are known."""
        return self.begun is not None and self.begun.is_baseline

    def newest(self) -> Snapshot:
        """The session as far as it was taken in; the same object until more comes."""
        seen = (self.end_ns, sum(len(table) for table in self.session.model.tables.values()))
        if self._newest is None or seen != self._seen:
            self._newest, self._seen = self.session.snapshot(), seen
        return self._newest

    def at(self, t_ns: int) -> Snapshot:
        """The session as it was at ``t_ns``."""
        return self.newest() if t_ns >= self.end_ns else self.session.snapshot(t_ns)
