"""How tokens are drawn: never by colour alone, each character in its cell."""

import pytest
from PySide6.QtGui import QColor, QImage, QPainter
from pytestqt.qtbot import QtBot

from sessions.token_trail import TrailKind
from ui.text.cells import HELD_NEWLINE, TAB
from ui.text.token_ink import Ink, Pencil, Shape, inks
from ui.theme import DARK, LIGHT, Theme

Box = tuple[int, int, int, int]


def inked(pencil: Pencil, codes: list[int], edges: list[int], ink: Ink) -> Box | None:
    """The box of what is drawn: left, top, right, bottom; None where nothing is."""
    image = QImage(200, 40, QImage.Format.Format_RGB32)
    image.fill(QColor(pencil.theme.panel))
    ground = image.pixel(0, 0)
    painter = QPainter(image)
    if codes:
        pencil.write(painter, 10, 8, codes, edges, ink)
    pencil.shape(painter, 10, 8, edges[-1] * pencil.cell, ink)
    painter.end()
    found = [(x, y) for x in range(200) for y in range(40) if image.pixel(x, y) != ground]
    if not found:
        return None
    xs, ys = zip(*found, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
def test_no_two_kinds_differ_by_colour_alone(theme: Theme) -> None:
    found = inks(theme)
    assert set(found) == set(TrailKind)
    told = [TrailKind.ACCEPTED, TrailKind.RECOVERED, TrailKind.BONUS, TrailKind.REJECTED,
            TrailKind.DISCARDED, TrailKind.PROPOSED]  # fmt: skip
    assert len({(found[kind].shape, found[kind].is_bold) for kind in told}) == len(told)


@pytest.mark.parametrize("shape", [shape for shape in Shape if shape is not Shape.PLAIN])
def test_every_shape_is_as_wide_as_its_token(shape: Shape, qtbot: QtBot) -> None:
    pencil = Pencil(DARK)
    box = inked(pencil, [], [0, 4], Ink(DARK.rejected, shape))
    assert box is not None
    assert box[0] == pytest.approx(10, abs=2)
    assert box[2] == pytest.approx(10 + 4 * pencil.cell, abs=2)


def test_plain_ink_has_no_shape(qtbot: QtBot) -> None:
    assert inked(Pencil(DARK), [], [0, 4], Ink(DARK.text)) is None


@pytest.mark.parametrize(
    ("codes", "edges"),
    [
        ([ord("i")] * 6, [0, 1, 2, 3, 4, 5, 6]),
        ([ord("W"), ord("e"), 0x301], [0, 1, 2, 2]),  # an accent over the letter before
        ([0x6F22], [0, 2]),
        ([TAB], [0, 4]),
        ([HELD_NEWLINE], [0, 1]),
        ([0x1B], [0, 2]),  # a mark: ^[
    ],
)
@pytest.mark.parametrize("is_bold", [False, True])
def test_what_is_written_stays_in_its_cells(
    codes: list[int], edges: list[int], is_bold: bool, qtbot: QtBot
) -> None:
    pencil = Pencil(DARK)
    box = inked(pencil, codes, edges, Ink(DARK.text, is_bold=is_bold))
    assert box is not None
    assert box[0] >= 8
    assert box[2] <= 10 + edges[-1] * pencil.cell + 2
    assert box[1] >= 8
    assert box[3] <= 8 + pencil.height
