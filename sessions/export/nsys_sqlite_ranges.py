"""NVTX rows: the ranges of the decoding thread, its domain, categories and marks."""

from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from typing import Any

from engine.wire.events import DraftVerified, Fate, Origin, Role, SpansMeasured
from sessions.export.nsys_sqlite_file import NsysFile
from sessions.export.nsys_sqlite_schema import (
    NVTX_CATEGORY,
    NVTX_DOMAIN,
    NVTX_MARK,
    NVTX_PUSH_POP,
    NVTX_START_END,
)
from sessions.export.ranges import COLORS, NO_STEP, HostRange, Nesting

DOMAIN = "specscope"
DOMAIN_ID = 1
CATEGORY_IDS: dict[Role | None, int] = {None: 1, Role.DRAFT: 2, Role.TARGET: 3}
CATEGORIES = {1: "engine", 2: "draft", 3: "target", 4: "tokens"}

_TOKENS = 4
_OPAQUE = 0xFF000000
_MARK_COLOR = _OPAQUE | 0xD55E00
_MOST_KNOWN = 1000
_MOST_AT_ONCE = 100  # rows of one statement
_INCOMPLETE = '{"incomplete": true}'
_COLUMNS = (
    "start", "end", "int64Value", "eventType", "category", "color", "text", "globalTid", "textId",
    "domainId",
)  # fmt: skip
_BOTH_MARKS = ("rejected", "recovered")
_PLACE_OF_TYPE = _COLUMNS.index("eventType")
_RARE_COLUMNS = (*_COLUMNS, "rangeId", "jsonText")


class RangeRows:
    """Writes ranges in the order they come.

    A range is push/pop where it nests with the others. It is start/end where it does not, or where
    it has the very times of another: readers that nest by time make twins each other's parent and
    lose both.
    """

    def __init__(self, file: NsysFile) -> None:
        self._file = file
        self._statement = file.statement("NVTX_EVENTS", _COLUMNS)
        self._rare_statement = file.statement("NVTX_EVENTS", _RARE_COLUMNS)
        self._nesting = Nesting()
        self._known: dict[tuple[tuple[Any, ...], ...], list[tuple[Any, ...]]] = {}
        self._steps: dict[tuple[tuple[Any, ...], ...], str] = {}
        self._marks: dict[tuple[str, ...], str] = {}
        self._n_start_end = 0
        self.n_incomplete = 0

    def add_step(self, event: SpansMeasured, ends: Sequence[int] | None) -> bool:
        """Write a step's ranges as one row of numbers: what steps have in common is in the
        statement. False, and nothing is written, where that cannot be.

        Args:
            ends: what ``RangeReader.read_plain`` said of the step.
        """
        if ends is None:
            return False
        names, roles = event.names, event.roles
        statement = self._steps.get((names, roles)) or self._step_statement(names, roles)
        bounds = list(zip(event.start_ns, ends, strict=True))
        nesting = self._nesting.with_all(bounds) if statement else None
        if nesting is None:
            return False
        self._nesting = nesting
        self._file.add(statement, (event.step, *chain.from_iterable(bounds)))
        return True

    def add_all(self, ranges: Iterable[HostRange]) -> None:
        """The payload is the step, or the sequence where there is no step."""
        ranges = list(ranges)
        if not ranges:
            return
        starts, ends, names, roles, payloads, *_, sequences, incomplete = zip(*ranges, strict=True)
        fits = self._nesting.fits
        nests = [fits(*times, may_be_twin=False) for times in zip(starts, ends, strict=True)]
        if NO_STEP in payloads:
            payloads = tuple(
                sequence if step == NO_STEP else step
                for step, sequence in zip(payloads, sequences, strict=True)
            )
        same = self._known.get((names, roles)) or self._same(names, roles)
        rows: Iterable[tuple[Any, ...]] = zip(
            starts, ends, payloads, repeat(NVTX_PUSH_POP), *same, strict=False
        )
        if not all(nests) or any(incomplete):
            rows = self._without_rare(ranges, list(rows), nests)
        self._file.add_all(self._statement, rows)

    def _without_rare(
        self, ranges: Sequence[HostRange], rows: Sequence[tuple[Any, ...]], nests: Sequence[bool]
    ) -> list[tuple[Any, ...]]:
        """The rows of those that nest and are whole; the others are written apart."""
        plain = []
        for told, row, does_nest in zip(ranges, rows, nests, strict=True):
            if does_nest and not told.is_incomplete:
                plain.append(row)
            else:
                self._add_rare(told, row, nests=does_nest)
        return plain

    def _add_rare(self, told: HostRange, row: tuple[Any, ...], *, nests: bool) -> None:
        kind, range_id = NVTX_PUSH_POP, None
        if not nests:
            self._n_start_end += 1
            kind, range_id = NVTX_START_END, self._n_start_end
        self.n_incomplete += told.is_incomplete
        note = _INCOMPLETE if told.is_incomplete else None
        row = (*row[:_PLACE_OF_TYPE], kind, *row[_PLACE_OF_TYPE + 1 :], range_id, note)
        self._file.add(self._rare_statement, row)

    def mark(self, event: DraftVerified) -> None:
        """A mark where a draft token was rejected, and one for the token drawn instead; their
        payload is the token's position in the sequence."""
        if Fate.REJECTED not in event.fates:
            return
        position = event.position + event.fates.index(Fate.REJECTED)
        texts = _BOTH_MARKS if event.extra_origin is Origin.RECOVERED else _BOTH_MARKS[:1]
        statement = self._marks.get(texts) or self._mark_statement(texts)
        self._file.add(statement, (event.t_ns, position))

    def describe(self) -> None:
        """The domain and the categories, said at time 0."""
        self._add_plain(NVTX_DOMAIN, DOMAIN, 0, None, None, None)
        for category, name in CATEGORIES.items():
            self._add_plain(NVTX_CATEGORY, name, 0, category, None, None)

    def _add_plain(
        self,
        kind: int,
        text: str,
        start_ns: int,
        category: int | None,
        color: int | None,
        payload: int | None,
    ) -> None:
        file = self._file
        same = (category, color, text, file.global_tid, file.string_id(text), DOMAIN_ID)
        file.add(self._statement, (start_ns, None, payload, kind, *same))

    def _step_statement(self, names: tuple[str, ...], roles: tuple[Role | None, ...]) -> str:
        """Its parameters: the step, then start and end of each range. "" for names that are not
        ours, and for too many."""
        if not COLORS.keys() >= set(names) or len(names) > _MOST_AT_ONCE:
            return ""
        same = zip(*self._same(names, roles), strict=True)
        rows = [
            (f"?{2 * place + 2}", f"?{2 * place + 3}", "?1", NVTX_PUSH_POP, *map(_as_sql, columns))
            for place, columns in enumerate(same)
        ]
        if len(self._steps) == _MOST_KNOWN:
            self._steps.clear()
        statement = self._steps[names, roles] = self._file.statement_of(
            "NVTX_EVENTS", _COLUMNS, rows
        )
        return statement

    def _mark_statement(self, texts: tuple[str, ...]) -> str:
        """Its parameters: the time, and the position."""
        file = self._file
        rows = [
            ("?1", "NULL", "?2", NVTX_MARK, _TOKENS, _MARK_COLOR, _as_sql(text), file.global_tid,
             file.string_id(text), DOMAIN_ID)
            for text in texts
        ]  # fmt: skip
        statement = self._marks[texts] = file.statement_of("NVTX_EVENTS", _COLUMNS, rows)
        return statement

    def _same(
        self, names: tuple[str, ...], roles: tuple[Role | None, ...]
    ) -> list[tuple[Any, ...]]:
        """The columns that follow from the names and roles of some ranges; steps are alike."""
        file = self._file
        same = [
            (CATEGORY_IDS[role], _OPAQUE | COLORS.get(name, 0x808080), name, file.global_tid,
             file.string_id(name), DOMAIN_ID)
            for name, role in zip(names, roles, strict=True)
        ]  # fmt: skip
        if len(self._known) == _MOST_KNOWN:
            self._known.clear()
        columns = self._known[names, roles] = list(zip(*same, strict=True))
        return columns


def _as_sql(value: int | str) -> str:
    """A number, or one of this module's own texts."""
    return f"'{value}'" if isinstance(value, str) else str(value)
