"""The fields of the planner's forms, and their charts: the forms scroll, so all of them leave the
wheel to the form."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox

from engine.theory.presets import PRESETS
from ui.number_fields import DecimalField, WholeField, decimal_field, whole_field
from ui.plots.curve import CurvePlot
from ui.plots.part_bars import PartBars
from ui.plots.plot import Plot


class _StillChoice(QComboBox):
    """Not changed by a wheel that passes over it."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class _StillPlot(Plot):
    """Zoomed with Ctrl and the wheel: the wheel alone is the form's, over whatever it passes."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(event)
        else:
            event.ignore()


class FormBars(_StillPlot, PartBars):
    """Bars in a form that scrolls."""


class FormCurve(_StillPlot, CurvePlot):
    """A curve in a form that scrolls."""


def choice_field(names: Sequence[str]) -> QComboBox:
    """One of several names."""
    box = _StillChoice()
    box.addItems(list(names))
    return box


def models_field(text: str, *first: str) -> QComboBox:
    """A model to choose or to type."""
    box = choice_field([])
    box.setEditable(True)
    box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
    box.addItems([*first, *PRESETS])
    box.setCurrentText(text)
    box.setToolTip(
        "A preset, a model that is here or in the open session, a folder with a config.json, or "
        "numbers: "
        "layers=32,hidden=4096,heads=32,intermediate=11008,vocab=32000."
    )
    return box


def count_field(value: int, least: int, most: int) -> WholeField:
    box = whole_field(least, most, value)
    box.setGroupSeparatorShown(True)
    return box


def bits_field(value: float) -> DecimalField:
    return decimal_field(1.0, 64.0, value, decimals=1)


def number_field(value: float, *, most: float, step: float) -> DecimalField:
    return decimal_field(0.0, most, value, step=step, decimals=3)
