"""How a token is drawn: each origin and fate by a colour and by a shape, on a grid of cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from sessions.token_trail import TrailKind
from ui.text.cells import HELD_NEWLINE, NEWLINE, TAB, clusters, is_plain, mark_of
from ui.theme import Theme, mixed, token_font


class Shape(Enum):
    """The second cue beside the colour."""

    PLAIN = "plain"
    UNDERLINED = "underlined"
    STRUCK = "struck through"
    OUTLINED = "outlined"
    DOTTED = "dotted below"


@dataclass(frozen=True, slots=True)
class Ink:
    """``colour`` as #RRGGBB."""

    colour: str
    shape: Shape = Shape.PLAIN
    is_bold: bool = False


def inks(theme: Theme) -> dict[TrailKind, Ink]:
    """What each kind of token is drawn with."""
    return {
        TrailKind.ACCEPTED: Ink(theme.accepted),
        TrailKind.RECOVERED: Ink(theme.recovered, Shape.UNDERLINED),
        TrailKind.BONUS: Ink(theme.bonus, is_bold=True),
        TrailKind.REMAINDER: Ink(theme.dim),
        TrailKind.PROMPT: Ink(theme.dim),
        TrailKind.REJECTED: Ink(theme.rejected, Shape.STRUCK),
        TrailKind.DISCARDED: Ink(theme.discarded, Shape.OUTLINED),
        TrailKind.PROPOSED: Ink(theme.draft, Shape.DOTTED),
    }


class Pencil:
    """Draws characters into cells. ``cell`` is the width of one, ``height`` that of a row."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.font = token_font()
        for feature in ("liga", "calt"):  # each character keeps its cell
            self.font.setFeature(QFont.Tag(feature), 0)
        self.bold = QFont(self.font)
        self.bold.setBold(True)
        metrics = QFontMetricsF(self.font)
        self.cell = metrics.horizontalAdvance("0" * 64) / 64
        self.ascent = metrics.ascent()
        self.height = round(metrics.height() * 1.18)
        self._baseline = (self.height - metrics.height()) / 2 + self.ascent
        self._is_even = [self._has_even_cells(font) for font in (self.font, self.bold)]

    def write(
        self,
        painter: QPainter,
        x: float,
        y: float,
        codes: list[int],
        edges: Sequence[int],
        ink: Ink,
    ) -> None:
        """Characters ``codes`` of a row whose top is at ``y``; ``edges`` are the cells where each
        begins, and where the last one ends, from ``x``."""
        painter.setFont(self.bold if ink.is_bold else self.font)
        painter.setPen(QColor(ink.colour))
        text = "".join(map(chr, codes)) if max(codes) < 128 else ""
        if is_plain(text) and text and self._is_even[ink.is_bold]:
            painter.drawText(QPointF(x, y + self._baseline), text)
            return
        for first, last in clusters(codes):
            left = x + edges[first] * self.cell
            width = (edges[last] - edges[first]) * self.cell
            self._write_one(painter, left, y, width, codes[first:last])

    def shape(self, painter: QPainter, x: float, y: float, width: float, ink: Ink) -> None:
        """The second cue of a token that is ``width`` wide."""
        colour = QColor(ink.colour)
        right = x + width
        if ink.shape is Shape.UNDERLINED:
            painter.fillRect(QRectF(x, y + self._baseline + 2, width, 1), colour)
        elif ink.shape is Shape.STRUCK:
            painter.fillRect(QRectF(x, y + self._baseline - self.ascent * 0.32, width, 1), colour)
        elif ink.shape is Shape.OUTLINED:
            painter.setPen(QPen(QColor(mixed(ink.colour, self.theme.panel, 0.45)), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(x, y + 1.5, width - 1, self.height - 3), 2, 2)
        elif ink.shape is Shape.DOTTED:
            painter.setPen(QPen(colour, 1, Qt.PenStyle.DotLine))
            below = y + self._baseline + 2.5
            painter.drawLine(QLineF(x, below, right, below))

    # --- inside ----------------------------------------------------------------------------------

    def _write_one(
        self, painter: QPainter, x: float, y: float, width: float, codes: list[int]
    ) -> None:
        """A character with what is drawn over it, or a mark for one that cannot be seen."""
        code = codes[0]
        if code in (NEWLINE, HELD_NEWLINE):
            self._return_sign(painter, x, y)
        elif code == TAB:
            middle = y + self.height / 2
            self._faint_line(painter, [(x + 2, middle), (x + width - 3, middle)])
        elif mark := mark_of(code):
            painter.drawText(QPointF(x, y + self._baseline), mark)
            pen = QPen(QColor(self.theme.line), 1)
            painter.save()
            painter.setPen(pen)
            painter.drawRect(QRectF(x, y + 1.5, width - 1, self.height - 3))
            painter.restore()
        else:
            text = "".join(chr(code) for code in codes)
            painter.drawText(QPointF(x, y + self._baseline), text)

    def _return_sign(self, painter: QPainter, x: float, y: float) -> None:
        """A bent arrow to the left: a newline that can be seen."""
        cell, middle = self.cell, y + self._baseline - self.ascent * 0.28
        left, right, head = x + cell * 0.15, x + cell * 0.85, cell * 0.28
        self._faint_line(
            painter, [(right, middle - self.ascent * 0.3), (right, middle), (left, middle)]
        )
        self._faint_line(
            painter, [(left + head, middle - head), (left, middle), (left + head, middle + head)]
        )

    def _faint_line(self, painter: QPainter, points: list[tuple[float, float]]) -> None:
        painter.save()
        painter.setPen(QPen(QColor(mixed(self.theme.dim, self.theme.panel, 0.55)), 1))
        for (x0, y0), (x1, y1) in pairwise(points):
            painter.drawLine(QLineF(x0, y0, x1, y1))
        painter.restore()

    def _has_even_cells(self, font: QFont) -> bool:
        """Whether a run of characters can be drawn at once and each is in its cell."""
        metrics = QFontMetricsF(font)
        runs = [metrics.horizontalAdvance(letter * 64) for letter in "il0W "]
        return max(abs(run - 64 * self.cell) for run in runs) < self.cell * 0.5
