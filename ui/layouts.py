"""Layouts: named arrangements of the docks. An arrangement is a tree of rows and columns; a person
moves cards as they like, and that is remembered under the preset's name until it is reset."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar


@dataclass(frozen=True, slots=True)
class Tabs:
    """Cards over one another, the first in front. One alone is just a card."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """Parts beside one another (``is_row``) or over one another, with their shares of the room."""

    is_row: bool
    parts: tuple["Split | Tabs", ...]
    shares: tuple[int, ...]


def row(*parts: "tuple[int, Split | Tabs]") -> Split:
    return Split(True, tuple(part for _, part in parts), tuple(share for share, _ in parts))


def column(*parts: "tuple[int, Split | Tabs]") -> Split:
    return Split(False, tuple(part for _, part in parts), tuple(share for share, _ in parts))


def cards(*keys: str) -> Tabs:
    return Tabs(keys)


@dataclass(frozen=True, slots=True)
class Preset:
    key: str
    name: str
    words: str
    shortcut: str
    tree: Split


PRESETS = (
    Preset(
        "watch", "Watch", "Every token as it comes, and the most important pictures", "Ctrl+1",
        column(
            (68, row(
                (27, cards("tokens")),
                (73, column(
                    (50, cards("timeline")),
                    (50, row((64, cards("kv-blocks", "kv-memory")),
                             (36, cards("roofline", "utilization-time")))),
                )),
            )),
            (32, row(
                (27, cards("acceptance-position")),
                (24, cards("acceptance-entropy", "acceptance-time")),
                (23, cards("speedup-curve", "throughput")),
                (26, cards("waterfall", "step-split")),
            )),
        ),
    ),
    Preset(
        "memory", "Memory", "Which blocks each model holds, and what that costs", "Ctrl+2",
        column(
            (62, row((68, cards("kv-blocks")), (32, cards("tokens", "step")))),
            (38, row((40, cards("kv-memory")), (30, cards("roofline", "utilization-time")),
                     (30, cards("planner")))),
        ),
    ),
    Preset(
        "why", "Why slow?", "Where the time goes, and what to do about it", "Ctrl+3",
        column(
            (50, row((36, cards("findings")), (34, cards("waterfall")),
                     (30, cards("speedup-curve")))),
            (50, row((36, cards("timeline")), (34, cards("step-split", "throughput")),
                     (30, cards("step", "acceptance-position", "acceptance-entropy")))),
        ),
    ),
    Preset(
        "compare", "Compare", "Several sessions side by side, the baseline first", "Ctrl+4",
        column(
            (55, row((60, cards("comparison")), (40, cards("comparison-outputs")))),
            (45, row((60, cards("comparison-charts")),
                     (40, cards("comparison-reasons", "sessions")))),
        ),
    ),
    Preset(
        "sessions", "Sessions", "The library", "Ctrl+5",
        column((60, cards("sessions")), (40, row((50, cards("tokens")), (50, cards("findings"))))),
    ),
)  # fmt: skip

BY_KEY = {preset.key: preset for preset in PRESETS}


def keys_of(tree: Split | Tabs) -> tuple[str, ...]:
    """All cards of an arrangement, in reading order."""
    if isinstance(tree, Tabs):
        return tree.keys
    return tuple(key for part in tree.parts for key in keys_of(part))


def arrange(window: QMainWindow, docks: Mapping[str, QDockWidget], preset: Preset) -> None:
    """Lay ``docks`` out as the preset has them; those it does not name are hidden."""
    _blank_tabs(window)
    for dock in docks.values():
        dock.setFloating(False)
        window.removeDockWidget(dock)
    named = keys_of(preset.tree)
    first = docks[named[0]]
    window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, first)
    first.show()
    _place(window, docks, preset.tree)
    for key, dock in docks.items():
        if key not in named:  # in the window though hidden, so that what is kept says it is hidden
            window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
            dock.hide()
    _size(window, docks, preset.tree, window.width(), window.height())
    _show_tabs(window)


def _tab_bars(window: QMainWindow) -> list[QTabBar]:
    return [bar for bar in window.findChildren(QTabBar) if bar.parent() is window]


def _blank_tabs(window: QMainWindow) -> None:
    """Before another arrangement: a bar that Qt takes again gets its titles from the cards."""
    for bar in _tab_bars(window):
        for place in range(bar.count()):
            bar.setTabText(place, "")


def _show_tabs(window: QMainWindow) -> None:
    """Show the tab bars that are in use, and no other: Qt takes bars of an earlier arrangement
    again and leaves them hidden, and those that it does not take stay where they were."""
    for bar in _tab_bars(window):
        bar.setAccessibleName("Cards")
        bar.setElideMode(Qt.TextElideMode.ElideMiddle)  # titles differ at their ends
        titles = [bar.tabText(place) for place in range(bar.count())]
        bar.setVisible(len(titles) > 1 and all(titles))


def save_arrangement(window: QMainWindow) -> str:
    """As text, to be kept."""
    return bytes(window.saveState().toBase64().data()).decode("ascii")


def restore_arrangement(window: QMainWindow, text: str) -> bool:
    """Whether the text was an arrangement of these docks."""
    _blank_tabs(window)
    is_restored = window.restoreState(QByteArray.fromBase64(text.encode("ascii", "replace")))
    _show_tabs(window)
    return is_restored


def _first(tree: Split | Tabs) -> str:
    return keys_of(tree)[0]


def _place(window: QMainWindow, docks: Mapping[str, QDockWidget], tree: Split | Tabs) -> None:
    """The first card of ``tree`` lies where the whole of it is to be: it is divided."""
    if isinstance(tree, Tabs):
        for key in tree.keys[1:]:
            window.tabifyDockWidget(docks[tree.keys[0]], docks[key])
            docks[key].show()
        docks[tree.keys[0]].raise_()
        return
    side = Qt.Orientation.Horizontal if tree.is_row else Qt.Orientation.Vertical
    for before, part in zip(tree.parts, tree.parts[1:], strict=False):
        window.splitDockWidget(docks[_first(before)], docks[_first(part)], side)
        docks[_first(part)].show()
    for part in tree.parts:
        _place(window, docks, part)


def _size(
    window: QMainWindow,
    docks: Mapping[str, QDockWidget],
    tree: Split | Tabs,
    width: int,
    height: int,
) -> None:
    if isinstance(tree, Tabs):
        return
    whole, room = sum(tree.shares), width if tree.is_row else height
    sizes: Sequence[int] = [max(1, room * share // whole) for share in tree.shares]
    firsts = [docks[_first(part)] for part in tree.parts]
    side = Qt.Orientation.Horizontal if tree.is_row else Qt.Orientation.Vertical
    window.resizeDocks(firsts, list(sizes), side)
    for part, size in zip(tree.parts, sizes, strict=True):
        across = (size, height) if tree.is_row else (width, size)
        _size(window, docks, part, *across)
