"""The table of everything the window does by menu or key."""

from functools import partial
from typing import TYPE_CHECKING

from ui.actions import Act
from ui.layouts import PRESETS
from ui.panel_table import PANELS

if TYPE_CHECKING:
    from ui.main_window import MainWindow


def menu_table(window: "MainWindow") -> tuple[Act, ...]:
    """The acts, in the menus' order."""
    return (*_session(window), *_engine(window), *_time(window), *_view(window), *_help(window))


def _session(window: "MainWindow") -> tuple[Act, ...]:
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


def _engine(window: "MainWindow") -> tuple[Act, ...]:
    menu, bar = "&Engine", window.run_bar
    return (
        Act(menu, "Pause or resume the engine", ("F8",), bar.toggle_engine),
        Act(menu, "Step the engine once", ("Shift+F10",), bar.step_engine),
        Act(menu, "Stop the run", ("Shift+F5",), bar.stop, is_line_before=True),
    )


def _time(window: "MainWindow") -> tuple[Act, ...]:
    menu, bar = "&Time", window.transport
    return (
        Act(menu, "Play or pause the picture", ("Space",), bar.toggle_play),
        Act(menu, "Follow the newest moment", ("F",), bar.toggle_follow),
        Act(menu, "One step on", ("Right",), bar.step_forward, is_line_before=True),
        Act(menu, "One step back", ("Left",), bar.step_back),
        Act(menu, "To the next draft or commit", ("Shift+Right",), bar.half_step),
        Act(menu, "To the beginning", ("Home",), bar.go_first),
        Act(menu, "To the newest moment", ("End",), bar.go_last),
        Act(menu, "Next rejection", ("N",), bar.to_rejection, is_line_before=True),
        Act(menu, "Worst step", ("W",), bar.to_worst),
        Act(menu, "Bookmark this moment", ("B",), bar.bookmark, is_line_before=True),
        Act(menu, "Next bookmark", ("Ctrl+B",), bar.to_bookmark),
        Act(menu, "Previous bookmark", ("Ctrl+Shift+B",), lambda: bar.to_bookmark(-1)),
        Act(menu, "Faster", ("+", "="), lambda: bar.change_speed(1), is_line_before=True),
        Act(menu, "Slower", ("-",), lambda: bar.change_speed(-1)),
    )


def _view(window: "MainWindow") -> tuple[Act, ...]:
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
    panels = tuple(
        Act(
            menu,
            f"Card: {panel.title}",
            (),
            partial(window.show_panel, panel.key),
            is_line_before=index == 0,
        )
        for index, panel in enumerate(PANELS)
    )
    return (
        *presets,
        Act(menu, "Reset this layout", ("Ctrl+0",), window.reset_layout),
        Act(
            menu, "Rejected tokens in the text", ("R",), window.toggle_refused, is_line_before=True
        ),
        Act(menu, "Theme: system, dark, light", ("Ctrl+T",), window.choose_theme),
        *panels,
        Act("", "Let go of what is selected", ("Escape",), window.escape),
    )


def _help(window: "MainWindow") -> tuple[Act, ...]:
    return (Act("&Help", "Keyboard shortcuts", ("F1", "?"), window.shortcut_sheet),)
