"""ComparisonPanel: the figures of two to four sessions side by side, the baseline first."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from sessions.comparability import comparison_notes
from sessions.compare import Column, compare
from sessions.findings import Severity
from sessions.metric_catalog import CATALOG
from sessions.snapshot import Snapshot
from sessions.snapshot_memo import SnapshotMemo
from ui.compare.comparison_rows import Row, comparison_rows
from ui.compare.comparison_table import ComparisonTable
from ui.moment import Moment, View
from ui.panels.base import Empty, Panel

HOW_TO = (
    "Open two to four sessions from Sessions with Compare, or give the run dialog several drafts: "
    "it decodes the same prompts with each."
)
_MARKS = {Severity.WARNING: "⚠", Severity.ADVICE: "▸", Severity.INFO: "·"}
_KEYS = ("tokens_per_second", "measured_speedup", "predicted_speedup", "acceptance_rate")


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence about one session."""

    mark: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """``said`` has one entry per session, its findings; ``notes`` are what to bear in mind."""

    heads: tuple[str, ...]
    names: tuple[str, ...]  # the heads, the baseline's marked
    rows: tuple[Row, ...]
    said: tuple[tuple[Said, ...], ...]
    notes: tuple[str, ...]
    fastest: str
    whole_names: tuple[str, ...] = ()


class ComparisonPanel(Panel):
    key = "comparison"
    title = "Compare"
    reads = ("steps", "draft_tokens", "output_tokens", "sequences", "calibrations", "ends")
    hint = "The figures of several sessions side by side. " + HOW_TO
    explanation = "\n".join(
        (
            *(f"{CATALOG[key].name}: {CATALOG[key].formula}" for key in _KEYS),
            "What ranks is tokens per second. Acceptance falls with gamma though the draft is the "
            "same: it is never ranked.",
        )
    )
    frames_per_draw = 15

    def build(self) -> None:
        self.table = ComparisonTable(self.look)
        self.words = QLabel()
        self.words.setWordWrap(True)
        self.words.setTextFormat(Qt.TextFormat.RichText)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.words.setContentsMargins(5, 4, 5, 0)
        self.words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        page = QWidget()
        page.setObjectName("page")
        layout = QVBoxLayout(page)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.table)
        layout.addWidget(self.words)
        layout.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(page)
        self.body.addWidget(area)

    @staticmethod
    def digest(moment: Moment, view: View) -> Comparison | Empty | None:
        if not moment.others:
            return None
        if not any(len(other.snapshot.steps) for other in moment.others):
            return Empty("Nothing was decoded yet: the figures come with the first step.")
        compared = _COMPARED([(other.name, other.snapshot) for other in moment.others])
        whole = {other.name: other.whole_name or other.name for other in moment.others}
        return replace(compared, whole_names=tuple(whole[name] for name in compared.heads))

    def draw(self, digest: Comparison) -> None:
        self.table.show_rows(digest.names, digest.rows, tips=digest.whole_names)
        words = self._html(digest)
        if words != self.words.text():
            self.words.setText(words)
        self.noted.emit(f"fastest: {escape(digest.fastest)}" if digest.fastest else "")

    def has_moved(self) -> bool:
        return _COMPARED.is_behind

    def _html(self, digest: Comparison) -> str:
        theme = self.theme
        parts = [
            f'<p style="margin:1px 0 1px 0"><span style="color:{theme.warning}">⚠</span> '
            f"{escape(note)}</p>"
            for note in digest.notes
        ]
        for name, said in zip(digest.names, digest.said, strict=True):
            if said:
                parts.append(f'<p style="margin:6px 0 1px 0"><b>{escape(name)}</b></p>')
            for each in said:
                ink = theme.warning if each.mark == "⚠" else theme.dim
                parts.append(
                    f'<p style="margin:1px 0 1px 8px"><span style="color:{ink}">{each.mark}</span> '
                    f"{escape(each.sentence)}</p>"
                )
        return "".join(parts)


def _compared(sessions: Sequence[tuple[str, Snapshot]]) -> Comparison:
    """The baseline first; the others stay where they are, so that no column jumps while the
    sessions play."""
    order = [name for name, _ in sessions]
    columns = sorted(
        compare(sessions), key=lambda column: (not column.is_baseline, order.index(column.name))
    )
    fastest = [column.name for column in columns if column.rank == 1]
    return Comparison(
        heads=tuple(column.name for column in columns),
        names=tuple(_heading(column) for column in columns),
        rows=comparison_rows(columns),
        said=tuple(_said(column) for column in columns),
        notes=comparison_notes(sessions),
        fastest=fastest[0] if fastest and len(columns) > 1 else "",
    )


def _heading(column: Column) -> str:
    return f"baseline · {column.name}" if column.is_baseline else column.name


def _said(column: Column) -> tuple[Said, ...]:
    return tuple(Said(_MARKS[each.severity], each.words) for each in column.findings)


_COMPARED = SnapshotMemo(_compared)
"""The newest comparison: looked at again at every click, it is made once."""
