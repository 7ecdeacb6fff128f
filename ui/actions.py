"""Actions: everything the window can be told by menu or key, in one table. The shortcut sheet is
made from it, so that none is missing there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu


@dataclass(frozen=True, slots=True)
class Act:
    """``menu`` "" is for keys alone; ``is_line_before`` draws a line in the menu."""

    menu: str
    text: str
    keys: tuple[str, ...]
    run: Callable[[], object]
    is_line_before: bool = False
    is_checkable: bool = False


MENUS = ("&Session", "&Engine", "&Time", "&View", "&Help")


def install(window: QMainWindow, acts: Sequence[Act]) -> dict[str, QAction]:
    """Menus and keys of the window; the actions by their texts."""
    bar = window.menuBar()
    menus: dict[str, QMenu] = {name: bar.addMenu(name) for name in MENUS}
    made: dict[str, QAction] = {}
    for act in acts:
        action = QAction(act.text, window)
        action.setShortcuts([QKeySequence(keys) for keys in act.keys])
        action.setCheckable(act.is_checkable)
        action.triggered.connect(lambda _=False, run=act.run: run())
        if act.menu:
            if act.is_line_before:
                menus[act.menu].addSeparator()
            menus[act.menu].addAction(action)
        else:
            window.addAction(action)
        made[act.text] = action
    return made


def sheet(acts: Sequence[Act]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The shortcut sheet: by menu, each key and what it does."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for act in acts:
        if act.keys:
            name = act.menu.replace("&", "") or "More keys"
            keys = ", ".join(
                QKeySequence(k).toString(QKeySequence.SequenceFormat.NativeText) for k in act.keys
            )
            groups.setdefault(name, []).append((keys, act.text.replace("&", "").rstrip("…")))
    return list(groups.items())
