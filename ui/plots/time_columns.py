"""Columns over time, stacked from the bottom up, painted as one image: what that costs depends on
how many pixels there are, not on how many columns or how ragged their outline is."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QImage, QPainter

from ui.plots.time_plot import Array, Pixels


def paint_columns(
    painter: QPainter,
    pixels: Pixels,
    edges_ns: Array,
    shares: Array,
    inks: Sequence[QColor],
    ends: tuple[float, float],
) -> None:
    """Paint each column of ``edges_ns`` [n + 1] as far as it is seen.

    Args:
        shares: [k, n] of the height, 0..1; the first of each column is the lowest.
        inks: k opaque colours.
        ends: the top and the bottom, in pixels.
    """
    ratio, (top, bottom) = pixels.ratio, ends
    left, right = (round(x * ratio) for x in _seen(pixels, float(edges_ns[0]), float(edges_ns[-1])))
    height = round((bottom - top) * ratio)
    if right <= left or height <= 0:
        return
    column = columns_at(pixels, edges_ns, np.arange(left, right))
    levels = np.cumsum(shares[:, column], axis=0) * height  # [k, width]
    above = np.arange(height)[::-1, None] + 0.5  # [height, 1] from the bottom to a row's middle
    place = np.zeros((height, right - left), np.uint8)  # how many inks lie beneath each pixel
    for level in levels:
        place += above > level
    colours = np.array([*[ink.rgba() for ink in inks], 0], np.uint32)
    image = QImage(
        np.ascontiguousarray(colours[place]).data, right - left, height, 4 * (right - left),
        QImage.Format.Format_ARGB32_Premultiplied,
    )  # fmt: skip
    image.setDevicePixelRatio(ratio)
    painter.drawImage(QPointF(left / ratio, round(bottom * ratio) / ratio - height / ratio), image)


def columns_at(pixels: Pixels, edges_ns: Array, places: Array) -> Array:
    """[m] the column in the middle of each device pixel, told by its place [m] from the left."""
    transform = pixels.transform
    middle_ns = ((places + 0.5) / pixels.ratio - transform.dx()) / transform.m11()
    found = np.searchsorted(edges_ns, middle_ns, side="right") - 1
    return found.clip(0, len(edges_ns) - 2)


def _seen(pixels: Pixels, start_ns: float, end_ns: float) -> tuple[float, float]:
    """From where to where something of it is seen, in pixels."""
    area = pixels.area
    # Clipped before: a time far outside would leave the range of the screen's numbers.
    view = pixels.view
    ends = np.array([max(start_ns, view.left()), min(end_ns, view.right())])
    left, right = pixels.x(ends).tolist()
    return max(left, area.left()), min(right, area.right())
