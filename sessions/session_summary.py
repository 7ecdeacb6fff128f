"""What a session file says of itself without its events being read."""

import sqlite3
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import psutil
from msgspec import structs

from engine.wire.events import EndReason, SessionEnded
from sessions.environment import Environment
from sessions.run_facts import told_settings, with_later
from sessions.session_errors import damaged, sqlite_errors
from sessions.session_facts import SessionCounts
from sessions.session_rows import read_last
from sessions.session_schema import SCHEMA_VERSION

Shape = TypeVar("Shape")

_SELECT = (
    "SELECT schema_version, started_unix_ns, config_json, environment_json, name, notes, tags_json,"
    " counts_json, summary_json, ended, recorder_json FROM session WHERE id = 1"
)
_START_SLACK_S = 1.0
"""How far two readings of a process's start may differ."""


class RecordingProcess(msgspec.Struct, frozen=True):
    """Who writes which file; zeros when nobody does."""

    process_id: Annotated[int, msgspec.Meta(ge=0, lt=2**31)] = 0
    started_s: float = 0.0
    inode: int = 0

    @classmethod
    def this(cls, path: Path) -> "RecordingProcess":
        process = psutil.Process()
        return cls(process.pid, process.create_time(), path.stat().st_ino)

    def is_writing(self, path: Path) -> bool:
        """Whether that very process still runs, not another with its number, and the file at
        ``path`` is the one it made, not a copy."""
        if self.process_id == 0 or path.stat().st_ino != self.inode:
            return False
        try:
            started_s = psutil.Process(self.process_id).create_time()
        except psutil.Error:  # gone, or somebody else's
            return False
        return bool(abs(started_s - self.started_s) < _START_SLACK_S)


class FileSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A session file at a glance."""

    path: Path
    n_file_bytes: int
    schema_version: int
    started_unix_ns: int  # 0 when the engine had not spoken yet
    name: str
    notes: str
    tags: tuple[str, ...]
    counts: SessionCounts
    environment: Environment
    config_json: str
    end_reason: EndReason | None  # None while it is being recorded; crashed without a farewell
    end_detail: str
    figures: dict[str, Any] | None  # what the recorder's ``summarise`` gave; None until ended

    @property
    def is_recording(self) -> bool:
        """Whether a process writes it just now."""
        return self.end_reason is None

    @property
    def gamma(self) -> str:
        """Tokens drafted a step, as it began and what was set later; "" where that is not told."""
        settings = told_settings(self.config_json)
        return "0" if settings.get("draft") == "none" else with_later(
            settings.get("gamma"), self.counts.gammas
        )  # fmt: skip

    @property
    def temperature(self) -> str:
        """The same of the temperature."""
        settings = told_settings(self.config_json)
        return with_later(settings.get("temperature"), self.counts.temperatures)


class _SessionRow(msgspec.Struct, frozen=True):
    """The row, as SQLite gives it; msgspec checks the types."""

    schema_version: Annotated[int, msgspec.Meta(ge=0)]
    started_unix_ns: int
    config_json: str
    environment_json: str
    name: str
    notes: str
    tags_json: str
    counts_json: str
    summary_json: str | None
    ended: int
    recorder_json: str


def read_summary(connection: sqlite3.Connection, path: Path) -> FileSummary:
    """Raises SessionFileError when the session's row or its newest event is damaged."""
    with sqlite_errors(path):
        values = connection.execute(_SELECT).fetchone()
    if values is None:
        raise damaged(path, "it has no row in the table session")
    try:
        row = msgspec.convert(
            dict(zip(_SessionRow.__struct_fields__, values, strict=True)), _SessionRow
        )
    except msgspec.ValidationError as error:
        raise damaged(path, f"its table session is not as written: {error}") from error
    if row.schema_version != SCHEMA_VERSION:
        raise damaged(path, f"it says that its format is {SCHEMA_VERSION} and {row.schema_version}")
    last = read_last(connection, path)
    is_over = isinstance(last, SessionEnded)
    recorder = _read(row.recorder_json, RecordingProcess, path)
    with sqlite_errors(path):
        n_file_bytes = path.stat().st_size
        is_recording = not is_over and not row.ended and recorder.is_writing(path)
    return FileSummary(
        path=path,
        n_file_bytes=n_file_bytes,
        schema_version=row.schema_version,
        started_unix_ns=row.started_unix_ns,
        name=row.name,
        notes=row.notes,
        tags=_read(row.tags_json, tuple[str, ...], path),
        counts=_with_drafter(_read(row.counts_json, SessionCounts, path), row.config_json),
        environment=_read(row.environment_json, Environment, path),
        config_json=row.config_json,
        end_reason=None
        if is_recording
        else last.reason
        if isinstance(last, SessionEnded)
        else EndReason.CRASHED,
        end_detail=last.detail if isinstance(last, SessionEnded) else "",
        figures=None if row.summary_json is None else _read(row.summary_json, dict[str, Any], path),
    )


def _with_drafter(counts: SessionCounts, config_json: str) -> SessionCounts:
    """A composite is called so, not by the model that is part of it: it is compared with that."""
    is_composite = told_settings(config_json).get("draft") == "composite"
    return structs.replace(counts, draft="composite") if is_composite else counts


def _read(text: str, shape: type[Shape], path: Path) -> Shape:
    try:
        return msgspec.json.decode(text, type=shape)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise damaged(path, f"its table session holds what nobody wrote there: {error}") from error
