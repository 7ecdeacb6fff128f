"""Keys that the window and the widget with the keyboard both know: the widget has them, so that a
button can be pressed and a list walked through without a mouse."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QPushButton,
    QTabBar,
    QToolButton,
    QWidget,
)

_Key = Qt.Key
_RETURNS = frozenset({_Key.Key_Return, _Key.Key_Enter})
_ARROWS = frozenset({_Key.Key_Left, _Key.Key_Right, _Key.Key_Up, _Key.Key_Down})
_ENDS = frozenset({_Key.Key_Home, _Key.Key_End})
_OWN: tuple[tuple[type[QWidget], frozenset[Qt.Key]], ...] = (
    (QAbstractButton, frozenset({_Key.Key_Space}) | _RETURNS),
    (QComboBox, frozenset({_Key.Key_Space, _Key.Key_Up, _Key.Key_Down}) | _ENDS),
    (QTabBar, frozenset({_Key.Key_Left, _Key.Key_Right})),
    (QAbstractItemView, frozenset({_Key.Key_Space}) | _ARROWS | _ENDS),
)
"""What each kind does something with; any other key stays the window's."""


def share_keys(window: QWidget) -> None:
    """Let the widgets of ``window`` have the keys they know before its shortcuts take them, and
    let Return press the button that has the keyboard.

    A widget of one's own says what it knows by ``own_keys``, a set of keys of its own and of
    what it holds, and that letters search it by ``is_searched_by_letters``."""
    window.installEventFilter(_KeySharing(window))


class _KeySharing(QObject):
    """Sees what no widget below has taken: both events go from the widget with the keyboard up to
    its window."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.ShortcutOverride or kind == QEvent.Type.KeyPress:
            assert isinstance(event, QKeyEvent)
            focused = QApplication.focusWidget()
            if focused is None:
                return False
            if kind == QEvent.Type.ShortcutOverride and is_of(focused, event):
                event.accept()
                return True
            # A box to tick or a choice is no such button: Return there is its dialog's.
            is_pressed = kind == QEvent.Type.KeyPress and _is_press(event)
            if is_pressed and isinstance(focused, QPushButton | QToolButton):
                event.accept()
                if not event.isAutoRepeat():
                    focused.click()
                return True
        return False


def is_of(widget: QWidget, event: QKeyEvent) -> bool:
    """Whether the key does something in ``widget``."""
    if getattr(widget, "is_searched_by_letters", False) and _is_letter(event):
        return True
    if _modifiers(event) != Qt.KeyboardModifier.NoModifier:
        return False
    around: QWidget | None = widget
    while around is not None:
        if event.key() in getattr(around, "own_keys", ()):
            return True
        around = around.parentWidget()
    return any(isinstance(widget, kind) and event.key() in keys for kind, keys in _OWN)


def _is_letter(event: QKeyEvent) -> bool:
    none, shift = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
    text = event.text()
    return bool(text) and text.isprintable() and _modifiers(event) in (none, shift)


def _is_press(event: QKeyEvent) -> bool:
    return event.key() in _RETURNS and _modifiers(event) == Qt.KeyboardModifier.NoModifier


def _modifiers(event: QKeyEvent) -> Qt.KeyboardModifier:
    """But for which keys they are on."""
    return event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
