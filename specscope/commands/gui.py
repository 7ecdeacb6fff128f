"""``specscope gui``: the window."""

import os
import sys
from pathlib import Path

import click

from sessions.library import Library
from specscope.desktop_entry import data_home, install_desktop_entry
from specscope.opened import session_errors, stored_snapshot
from specscope.screenshots import PicturesFailed, take_all
from specscope.window_libraries import window_lack

NO_DISPLAY = (
    "There is no display to show a window on (neither DISPLAY nor WAYLAND_DISPLAY is set). "
    'Decode in the terminal instead: specscope run "def quicksort(items):". '
    "Pictures of a session need no display: specscope gui FILE --screenshots DIR."
)


@click.command()
@click.argument("files", nargs=-1)
@click.option(
    "--screenshots",
    "screenshots",
    type=click.Path(path_type=Path, file_okay=False),
    help="Save pictures of every layout of FILE in both themes, at scale 1 and 2, and exit.",
)
@click.option(
    "--size",
    default="1720x1050",
    show_default=True,
    metavar="WxH",
    help="The window's size in the pictures.",
)
@click.option(
    "--install-desktop-entry",
    "is_install",
    is_flag=True,
    help="Put SpecScope among the desktop's applications, for this user (Linux), and exit.",
)
def gui(files: tuple[str, ...], screenshots: Path | None, size: str, is_install: bool) -> None:
    """Open the workbench window, on FILES (sessions to look at; several are compared) or on its
    start page."""
    if is_install:
        _install()
        return
    with session_errors():
        paths = [Library().find(name) for name in files]
    if screenshots is not None:
        _take_pictures(paths, screenshots, size=_size(size))
        return
    if not has_display():
        raise click.UsageError(NO_DISPLAY)
    if (lack := window_lack()) is not None:
        raise click.UsageError(lack.sentence)
    from specscope.app import run_window  # Qt: only where a window is to be shown

    sys.exit(run_window(paths))


def _take_pictures(paths: list[Path], folder: Path, *, size: tuple[int, int]) -> None:
    """A session that cannot be read to its end is told before anything is drawn."""
    for path in paths:
        stored_snapshot(str(path))
    try:
        take_all(paths, folder, size=size, say=click.echo)
    except PicturesFailed as failure:
        raise click.ClickException(str(failure)) from failure


def _install() -> None:
    """Into the user's own folders: nothing of the system is touched."""
    if not sys.platform.startswith("linux"):
        raise click.UsageError(
            "Desktop entries are Linux's. On Windows and macOS make a shortcut to the command "
            "specscope."
        )
    try:
        click.echo(f"Written: {install_desktop_entry(data_home())}")
    except OSError as error:
        raise click.ClickException(f"The desktop entry could not be written: {error}") from error


def has_display() -> bool:
    """Whether a window could be shown: on Linux something must be there to show it on."""
    if not sys.platform.startswith("linux"):
        return True
    is_headless = os.environ.get("QT_QPA_PLATFORM", "") in ("offscreen", "minimal", "vnc")
    return is_headless or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise click.BadParameter(f"{text!r} is no size: write WxH, as in 1720x1050.")
    return max(640, int(width)), max(480, int(height))
