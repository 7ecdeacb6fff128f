"""Where Tab stops, for tests of its order."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def order_from(first: QWidget, n: int) -> list[QWidget]:
    """``first`` and what Tab meets behind it, ``n`` widgets or once round."""
    found, each = [first], first.nextInFocusChain()
    while each is not first and len(found) < n:
        if each.focusPolicy().value & Qt.FocusPolicy.TabFocus.value:
            found.append(each)
        each = each.nextInFocusChain()
    return found
