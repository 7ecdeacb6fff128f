"""Fields for numbers, alike everywhere: no arrows, the text as far from the border as in others.

A number that is too large or too small can be typed and is said to be: swallowing its last digit,
or putting back the one before, would leave another number. Whoever reads the value of a field asks
for its ``problem`` before. Numbers are written as everywhere in the program, whatever the desktop's
language: with a point.
"""

from collections.abc import Callable

from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QValidator, QWheelEvent
from PySide6.QtWidgets import QAbstractSpinBox, QDoubleSpinBox, QSpinBox

_INSET_PX = 6
_LARGEST = 2**31 - 1
_PLACES = 6
"""Behind the point: more than a setting needs, so that none that is typed is swallowed."""


class WholeField(QSpinBox):
    """A whole number; ``word`` stands for the lowest one."""

    def __init__(self, low: int, high: int, word: str = "") -> None:
        super().__init__()
        self._low, self._high, self._word = low, high, word
        self.setRange(low if word else min(low, 0), min(10 * high + 9, _LARGEST))
        self.setSpecialValueText(word)

    @property
    def problem(self) -> str:
        """Why its number cannot be taken, in a sentence; "" when it can."""
        if self._low <= self.value() <= self._high:
            return ""
        least = self._low + 1 if self._word else self._low
        other = f", or {self._word}" if self._word else ""
        wrong = "too large" if self.value() > self._high else "too small"
        return f"{self.value():,} is {wrong}: {least:,} to {self._high:,}{other}."

    def setValue(self, value: int) -> None:
        """The nearest that can be taken."""
        super().setValue(max(self._low, min(value, self._high)))

    def stepBy(self, steps: int) -> None:
        self.setValue(self.value() + steps)

    def wheelEvent(self, event: QWheelEvent) -> None:
        _when_in_hand(self, event, super().wheelEvent)


class DecimalField(QDoubleSpinBox):
    """A number with a point, shown with at least ``places`` digits behind it."""

    def __init__(self, low: float, high: float, places: int) -> None:
        self._low, self._high, self._places = low, high, places
        super().__init__()
        self.setLocale(QLocale.c())
        self.setDecimals(_PLACES)
        self.setRange(min(low, 0.0), 10 * high + 9)

    @property
    def problem(self) -> str:
        """Why its number cannot be taken, in a sentence; "" when it can."""
        if self._low <= self.value() <= self._high:
            return ""
        wrong = "too large" if self.value() > self._high else "too small"
        typed = f"{self.value():.{_PLACES}f}".rstrip("0").rstrip(".")
        return f"{typed} is {wrong}: {self._low:g} to {self._high:g}."

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        """A comma is a point: of another one Qt would swallow either."""
        return super().validate(text.replace(",", "."), position)

    def textFromValue(self, value: float) -> str:
        text = super().textFromValue(value)
        most = len(text) - _PLACES + self._places
        return text[:most] + text[most:].rstrip("0")

    def setValue(self, value: float) -> None:
        """The nearest that can be taken."""
        super().setValue(max(self._low, min(value, self._high)))

    def stepBy(self, steps: int) -> None:
        self.setValue(self.value() + steps * self.singleStep())

    def wheelEvent(self, event: QWheelEvent) -> None:
        _when_in_hand(self, event, super().wheelEvent)


NumberField = WholeField | DecimalField


def require(field: NumberField, name: str) -> None:
    """Raises ValueError with the problem of ``field``, which a person knows by ``name``."""
    if field.problem:
        raise ValueError(f"{name}: {field.problem}")


def _when_in_hand(
    field: QAbstractSpinBox, event: QWheelEvent, act: Callable[[QWheelEvent], None]
) -> None:
    """A wheel that passes over a field while it scrolls what the field is in changes nothing."""
    if field.hasFocus():
        act(event)
    else:
        event.ignore()


def whole_field(low: int, high: int, value: int | None = None, *, word: str = "") -> WholeField:
    """``word`` stands for the lowest value."""
    field = WholeField(low, high, word)
    field.setValue(low if value is None else value)
    _make_alike(field)
    return field


def decimal_field(
    low: float, high: float, value: float | None = None, *, step: float = 1.0, decimals: int = 2
) -> DecimalField:
    """A number with at least so many digits behind the point."""
    field = DecimalField(low, high, decimals)
    field.setSingleStep(step)
    field.setValue(low if value is None else value)
    _make_alike(field)
    return field


def _make_alike(field: NumberField) -> None:
    """Qt gives a style sheet's padding to every field but the one inside of these; and a wheel
    brings them the keyboard."""
    field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    field.lineEdit().setTextMargins(_INSET_PX, 0, _INSET_PX, 0)
