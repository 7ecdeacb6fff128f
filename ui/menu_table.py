"""The table of everything the window does by menu or key."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Protocol

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar

from ui.actions import Act
from ui.bars.run_bar import RunBar
from ui.card import CardDock
from ui.layouts import PRESETS


class Window(Protocol):
    """What a window can be told."""

    def run_dialog(self) -> None: ...
    def run_again(self) -> None: ...
    def open_file(self) -> None: ...
    def open_example(self) -> None: ...
    def show_library(self) -> None: ...
    def export(self) -> None: ...
    def close_session(self) -> None: ...
    def show_start(self) -> None: ...
    def close(self) -> bool: ...
    def lay_out(self, key: str) -> None: ...
    def reset_layout(self) -> None: ...
    def show_panel(self, key: str) -> None: ...
    def toggle_refused(self) -> None: ...
    def choose_theme(self) -> None: ...
    def toggle_narrow(self) -> None: ...
    def shortcut_sheet(self) -> None: ...
    def escape(self) -> None: ...
    def menuBar(self) -> QMenuBar: ...
    @property
    def run_bar(self) -> RunBar: ...
    @property
    def transport(self) -> Any: ...  # a TransportBar, whose module is loaded with the stage


def menu_table(window: Window) -> tuple[Act, ...]:
    """The acts, in the menus' order."""
    return (*_session(window), *_engine(window), *_time(window), *_view(window), *_help(window))


def add_cards(window: Window, docks: Iterable[CardDock]) -> None:
    """The cards under the View menu, as soon as there are any: ticked are those that are laid
    out, in front or behind a tab."""
    view = next(a.menu() for a in window.menuBar().actions() if a.text() == "&View")
    assert isinstance(view, QMenu)
    view.addSeparator()
    menu = view.addMenu("Cards")
    for dock in docks:
        action = menu.addAction(dock.title)
        action.setCheckable(True)
        menu.aboutToShow.connect(partial(_tick, action, dock))
        action.triggered.connect(lambda is_on, dock=dock: _show(window, dock, is_shown=is_on))


def _tick(action: QAction, dock: CardDock) -> None:
    action.setChecked(not dock.isHidden())


def _show(window: Window, dock: CardDock, *, is_shown: bool) -> None:
    """In front of the others, or not at all."""
    if is_shown:
        window.show_panel(dock.objectName())
    else:
        dock.hide()


def _session(window: Window) -> tuple[Act, ...]:
    menu = "&Session"
    return (
        Act(menu, "Run…", ("Ctrl+R",), window.run_dialog),
        Act(menu, "Run again", ("Ctrl+Shift+R",), window.run_again),
        Act(menu, "Open…", ("Ctrl+O",), window.open_file, is_line_before=True),
        Act(menu, "Open the example", (), window.open_example),
        Act(menu, "All sessions", ("Ctrl+L",), window.show_library),
        Act(menu, "Export…", ("Ctrl+E",), window.export, is_line_before=True),
        Act(menu, "Close session", ("Ctrl+W",), window.close_session),
        Act(menu, "Start page", ("Ctrl+Home",), window.show_start, is_line_before=True),
        Act(menu, "Quit", ("Ctrl+Q",), window.close),
    )


def _engine(window: Window) -> tuple[Act, ...]:
    menu, bar = "&Engine", window.run_bar
    return (
        Act(menu, "Pause or resume the engine", ("F8",), bar.toggle_engine),
        Act(menu, "Step the engine once", ("Shift+F10",), bar.step_engine),
        Act(menu, "Record the kernels of the next step", ("K",), bar.record_kernels),
        Act(menu, "Stop the run", ("Shift+F5",), bar.stop, is_line_before=True),
    )


def _time(window: Window) -> tuple[Act, ...]:
    menu = "&Time"

    def late(act: str, *arguments: int) -> Callable[[], None]:
        """The bar is made with the stage, when it is first needed."""
        return lambda: getattr(window.transport, act)(*arguments)

    return (
        Act(menu, "Play or pause the picture", ("Space",), late("toggle_play")),
        Act(menu, "Follow the newest moment", ("F",), late("toggle_follow")),
        Act(menu, "One step on", ("Right",), late("step_forward"), is_line_before=True),
        Act(menu, "One step back", ("Left",), late("step_back")),
        Act(menu, "To the next draft or commit", ("Shift+Right",), late("half_step")),
        Act(menu, "To the beginning", ("Home",), late("go_first")),
        Act(menu, "To the newest moment", ("End",), late("go_last")),
        Act(menu, "Next rejection", ("N",), late("to_rejection"), is_line_before=True),
        Act(menu, "Worst step", ("W",), late("to_worst")),
        Act(menu, "Bookmark this moment", ("B",), late("bookmark"), is_line_before=True),
        Act(menu, "Next bookmark", ("Ctrl+B",), late("to_bookmark")),
        Act(menu, "Previous bookmark", ("Ctrl+Shift+B",), late("to_bookmark", -1)),
        Act(menu, "Faster", ("+", "="), late("change_speed", 1), is_line_before=True),
        Act(menu, "Slower", ("-",), late("change_speed", -1)),
    )


def _view(window: Window) -> tuple[Act, ...]:
    menu = "&View"
    presets = tuple(
        Act(
            menu,
            preset.name,
            (preset.shortcut,),
            partial(window.lay_out, preset.key),
            is_checkable=True,
        )
        for preset in PRESETS
    )
    return (
        *presets,
        Act(menu, "Reset this layout", ("Ctrl+0",), window.reset_layout),
        Act(
            menu, "Rejected tokens in the text", ("R",), window.toggle_refused, is_line_before=True
        ),
        Act(menu, "Figures of this sequence alone, or of all", ("O",), window.toggle_narrow),
        Act(menu, "Theme: system, dark, light", ("Ctrl+T",), window.choose_theme),
        Act("", "Let go of what is selected", ("Escape",), window.escape),
    )


def _help(window: Window) -> tuple[Act, ...]:
    return (Act("&Help", "Keyboard shortcuts", ("F1", "?"), window.shortcut_sheet),)
