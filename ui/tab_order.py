"""The order in which Tab goes from widget to widget, where parts are made later than what is
behind them."""

from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def tab_through(*parts: QWidget) -> None:
    """Let Tab go from part to part, and within each as it went. All are of one window."""
    stops = [each for part in parts for each in _stops_of(part)]
    for before, after in pairwise(stops):
        QWidget.setTabOrder(before, after)


def stops_before(part: QWidget) -> list[QWidget]:
    """The stop before ``part``; none where there is nothing else."""
    each = part.previousInFocusChain()
    while each is not None and each is not part:
        if _is_stop(each):
            return [each]
        each = each.previousInFocusChain()
    return []


def _is_stop(widget: QWidget) -> bool:
    return bool(widget.focusPolicy().value & Qt.FocusPolicy.TabFocus.value)


def _stops_of(part: QWidget) -> list[QWidget]:
    """What of the part takes the keyboard, itself too, in the order there is."""
    found: list[QWidget] = []
    each: QWidget | None = part
    while each is not None:
        if _is_stop(each) and (each is part or part.isAncestorOf(each)):
            found.append(each)
        each = each.nextInFocusChain()
        if each is part:
            break
    return found
