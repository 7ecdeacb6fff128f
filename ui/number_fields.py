"""Fields for numbers, alike everywhere: no arrows, the text as far from the border as in others."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QAbstractSpinBox, QDoubleSpinBox, QSpinBox

_INSET_PX = 6


class _WholeField(QSpinBox):
    """Not changed by a wheel that passes over it while it scrolls what the field is in."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        _when_in_hand(self, event, super().wheelEvent)


class _DecimalField(QDoubleSpinBox):
    """As the other is."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        _when_in_hand(self, event, super().wheelEvent)


def _when_in_hand(
    field: QAbstractSpinBox, event: QWheelEvent, act: Callable[[QWheelEvent], None]
) -> None:
    """A wheel is the field's while the keyboard is, and else of what scrolls."""
    if field.hasFocus():
        act(event)
    else:
        event.ignore()


def whole_field(low: int, high: int, value: int | None = None, *, word: str = "") -> QSpinBox:
    """``word`` stands for the lowest value."""
    field = _WholeField()
    field.setRange(low, high)
    field.setSpecialValueText(word)
    field.setValue(low if value is None else value)
    _make_alike(field)
    return field


def decimal_field(
    low: float, high: float, value: float | None = None, *, step: float = 1.0, decimals: int = 2
) -> QDoubleSpinBox:
    """A number with so many digits behind the point."""
    field = _DecimalField()
    field.setDecimals(decimals)
    field.setRange(low, high)
    field.setSingleStep(step)
    field.setValue(low if value is None else value)
    _make_alike(field)
    return field


def _make_alike(field: QSpinBox | QDoubleSpinBox) -> None:
    """Qt gives a style sheet's padding to every field but the one inside of these; and a wheel
    brings them the keyboard."""
    field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    field.lineEdit().setTextMargins(_INSET_PX, 0, _INSET_PX, 0)
