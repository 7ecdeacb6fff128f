"""The order in which Tab goes from widget to widget, where parts are made later than what is
behind them."""

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def tab_through(*parts: QWidget) -> None:
    """Let Tab go from part to part, and within each as it went. All are of one window."""
    stops = [each for stops_of_one in _stops_of(parts) for each in stops_of_one]
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


def _stops_of(parts: Sequence[QWidget]) -> list[list[QWidget]]:
    """What of each part takes the keyboard, itself too, in the order there is: the window's widgets
    are gone through once, for they are hundreds."""
    before: dict[QWidget, list[QWidget]] = {part: [] for part in parts}
    behind: dict[QWidget, list[QWidget]] = {part: [] for part in parts}
    met: set[QWidget] = set()
    each: QWidget | None = parts[0]
    while each is not None:
        owner: QWidget | None = each
        while owner is not None and owner not in before:
            owner = owner.parentWidget()
        met.add(each)
        if owner is not None and _is_stop(each):
            (behind if owner in met else before)[owner].append(each)
        each = each.nextInFocusChain()
        if each is parts[0]:
            break
    return [behind[part] + before[part] for part in parts]
