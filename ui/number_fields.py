"""Fields for numbers, alike everywhere: no arrows, the text as far from the border as in others."""

from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox

_INSET_PX = 6


def whole_field(low: int, high: int, value: int | None = None, *, word: str = "") -> QSpinBox:
    """``word`` stands for the lowest value."""
    field = QSpinBox()
    field.setRange(low, high)
    field.setSpecialValueText(word)
    field.setValue(low if value is None else value)
    _inset(field)
    return field


def decimal_field(
    low: float, high: float, value: float | None = None, *, step: float = 1.0, decimals: int = 2
) -> QDoubleSpinBox:
    """A number with so many digits behind the point."""
    field = QDoubleSpinBox()
    field.setDecimals(decimals)
    field.setRange(low, high)
    field.setSingleStep(step)
    field.setValue(low if value is None else value)
    _inset(field)
    return field


def _inset(field: QSpinBox | QDoubleSpinBox) -> None:
    """Qt gives a style sheet's padding to every field but the one inside of these."""
    field.lineEdit().setTextMargins(_INSET_PX, 0, _INSET_PX, 0)
