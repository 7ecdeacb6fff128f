"""What a list of sessions says of each: words, and keys to sort them by."""

import math
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from pathlib import Path
from typing import Any

from engine.wire.config import MAX_GAMMA
from sessions.library import LibraryEntry
from sessions.run_facts import told_settings
from sessions.session_summary import FileSummary

UNKNOWN = "n/a"
_MIB = 2**20


class Column(IntEnum):
    """The columns, from the left."""

    NAME = 0
    DATE = 1
    DRAFT = 2
    GAMMA = 3
    SPEED = 4
    ACCEPTANCE = 5
    TOKENS = 6
    TARGET = 7
    ENDED = 8
    TAGS = 9


HEADINGS = {
    Column.NAME: "name",
    Column.TAGS: "tags",
    Column.DATE: "date",
    Column.TARGET: "target",
    Column.DRAFT: "draft",
    Column.GAMMA: "γ",  # noqa: RUF001 - gamma is meant
    Column.TOKENS: "tokens",
    Column.SPEED: "tokens/s",
    Column.ACCEPTANCE: "acceptance",
    Column.ENDED: "ended",
}
NUMBERS = frozenset({Column.GAMMA, Column.TOKENS, Column.SPEED, Column.ACCEPTANCE})

Key = tuple[int, float, str]
"""What is missing first, then numbers, then words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryRow:
    """One session. ``words`` and ``keys`` are by ``Column``."""

    path: Path
    words: tuple[str, ...]
    keys: tuple[Key, ...]
    name: str
    tags: tuple[str, ...]
    notes: str
    facts: str  # a line on what it is
    problem: str  # "" when it can be opened
    is_recording: bool
    haystack: str  # what a search looks in, folded

    @property
    def is_broken(self) -> bool:
        return bool(self.problem)

    def matches(self, search: str) -> bool:
        """Whether every word of ``search`` is in its name, tags, notes or models."""
        return all(word in self.haystack for word in search.casefold().split())


def row_of(entry: LibraryEntry) -> LibraryRow:
    started = entry.started_unix_ns / 1e9
    date = datetime.fromtimestamp(started).strftime("%Y-%m-%d %H:%M")
    if entry.summary is None:
        return _broken(entry, started, date)
    return _sound(entry, entry.summary, started, date)


def _sound(entry: LibraryEntry, summary: FileSummary, started: float, date: str) -> LibraryRow:
    figures, counts = summary.figures or {}, summary.counts
    name = summary.name or entry.path.stem
    speed, alpha = figures.get("tokens_per_second"), figures.get("acceptance_rate")
    draft = counts.draft or _told_draft(summary.config_json)
    gamma = _told_gamma(summary.config_json, draft)
    is_later = bool(counts.gammas) and gamma not in (0, UNKNOWN)
    ended = "recording" if summary.is_recording else str(summary.end_reason)
    words = {
        Column.NAME: name,
        Column.TAGS: ", ".join(summary.tags),
        Column.DATE: date,
        Column.TARGET: counts.target or UNKNOWN,
        Column.DRAFT: draft or UNKNOWN,
        Column.GAMMA: summary.gamma if is_later else str(gamma),
        Column.TOKENS: f"{counts.n_output_tokens:,}",
        Column.SPEED: _number(speed, ",.1f"),
        Column.ACCEPTANCE: _number(alpha, ".3f"),
        Column.ENDED: ended,
    }
    keys = {column: _word_key(text) for column, text in words.items()}
    keys[Column.DATE] = (1, started, "")
    keys[Column.TOKENS] = (1, counts.n_output_tokens, "")
    keys[Column.GAMMA] = _number_key(gamma)
    keys[Column.SPEED] = _number_key(speed)
    keys[Column.ACCEPTANCE] = _number_key(alpha)
    return LibraryRow(
        path=entry.path,
        words=tuple(words[column] for column in Column),
        keys=tuple(keys[column] for column in Column),
        name=name,
        tags=summary.tags,
        notes=summary.notes,
        facts=_facts(summary),
        problem="",
        is_recording=summary.is_recording,
        haystack="\n".join(
            (name, entry.path.stem, *summary.tags, summary.notes, counts.target, draft)
        ).casefold(),
    )


def _broken(entry: LibraryEntry, started: float, date: str) -> LibraryRow:
    words = dict.fromkeys(Column, "")
    words |= {Column.NAME: entry.path.stem, Column.DATE: date, Column.ENDED: "broken"}
    keys = {column: _word_key(text) for column, text in words.items()}
    keys[Column.DATE] = (1, started, "")
    return LibraryRow(
        path=entry.path,
        words=tuple(words[column] for column in Column),
        keys=tuple(keys[column] for column in Column),
        name=entry.path.stem,
        tags=(),
        notes="",
        facts="",
        problem=entry.problem,
        is_recording=False,
        haystack=f"{entry.path.stem}\n{entry.problem}".casefold(),
    )


def _facts(summary: FileSummary) -> str:
    settings = told_settings(summary.config_json)
    counts = summary.counts
    parts = [
        f"gamma {summary.gamma}" if "gamma" in settings else "",
        f"temperature {summary.temperature}" if "temperature" in settings else "",
        f"{counts.n_sequences:,} sequences",
        f"{counts.duration_ns / 1e9:,.1f} s",
        counts.device,
        f"{summary.n_file_bytes / _MIB:,.1f} MiB",
        summary.end_detail.strip().splitlines()[0] if summary.end_detail.strip() else "",
    ]
    return " · ".join(filter(None, parts))


def _told_draft(config_json: str) -> str:
    return str(told_settings(config_json).get("draft", ""))


def _told_gamma(config_json: str, draft: str) -> int | str:
    """Tokens drafted a step as the run began, or "auto"; 0 without a draft."""
    if draft == "none":
        return 0
    gamma = told_settings(config_json).get("gamma")  # anything, in a file from elsewhere
    if isinstance(gamma, int) and 0 <= gamma <= MAX_GAMMA:
        return gamma
    return "auto" if gamma == "auto" else UNKNOWN


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _number(value: Any, form: str) -> str:
    return format(value, form) if _is_number(value) else UNKNOWN


def _number_key(value: Any) -> Key:
    return (1, float(value), "") if _is_number(value) else (0, 0.0, "")


def _word_key(text: str) -> Key:
    return (2, 0.0, text.casefold()) if text and text != UNKNOWN else (0, 0.0, "")
