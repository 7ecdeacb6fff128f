"""The window's program: the application, its look, its window, and what becomes of errors."""

import signal
import socket
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType, TracebackType

from PySide6.QtCore import QCoreApplication, QSocketNotifier, QtMsgType, qInstallMessageHandler
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from specscope.wiring import LocalWorkshop
from ui.full_sweep import FullSweep, sweep_rarely
from ui.icons import application_icon
from ui.look import CHOICES, Look
from ui.main_window import MainWindow
from ui.preferences import Preferences


def make_application(arguments: Sequence[str] = ("specscope",)) -> QApplication:
    """The one application of this process."""
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    sweep_rarely()
    QCoreApplication.setApplicationName("specscope")
    QGuiApplication.setDesktopFileName("specscope")
    application = QApplication(list(arguments))
    application.setStyle("Fusion")  # the same everywhere: the style sheet does the rest
    application.setWindowIcon(application_icon())
    return application


def make_window(
    workshop: LocalWorkshop | None = None, preferences: Preferences | None = None
) -> MainWindow:
    """A window on the start page, not shown yet."""
    preferences = preferences or Preferences()
    choice = preferences.values.theme
    look = Look(choice if choice in CHOICES else "system")
    look.apply()
    window = MainWindow(workshop or LocalWorkshop(), preferences, look)
    window.show_start()
    FullSweep(window.clock, window.controller, parent=window)
    return window


def run_window(paths: Sequence[Path] = ()) -> int:
    """Show the window until it is closed; returns the exit code."""
    application = make_application()
    qInstallMessageHandler(say_qt_message)
    window = make_window()
    sys.excepthook = _told_in(window)
    notifier = _end_on_signals(window)
    # To whoever started this from a terminal, too: the banner goes away with the window.
    window.controller.problem_told.connect(lambda sentence: sys.stderr.write(f"{sentence}\n"))
    window.show()
    window.clock.start()
    if paths:
        window.open_sessions(paths)
    code = application.exec()
    notifier.setEnabled(False)
    return code


def _told_in(
    window: MainWindow,
) -> Callable[[type[BaseException], BaseException, TracebackType | None], None]:
    """An error nobody handled is told in the window and on standard error; the program goes on."""

    def tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        text = "".join(traceback.format_exception(kind, error, trace))
        sys.stderr.write(text)
        window.banner.say(f"Something went wrong in the window itself: {error}\n{text}")

    return tell


def _end_on_signals(window: MainWindow) -> QSocketNotifier:
    """Ctrl-C and SIGTERM close the window as a person would. Python hears a signal only while it
    runs, so the signal's byte wakes Qt's loop."""
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    signal.set_wakeup_fd(writing.fileno())

    def close(_number: int, _frame: FrameType | None) -> None:
        window.close()

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, close)
    notifier = QSocketNotifier(reading.fileno(), QSocketNotifier.Type.Read, window)
    notifier.activated.connect(lambda *_: reading.recv(64))
    notifier.sockets = (reading, writing)  # type: ignore[attr-defined]
    return notifier


def say_qt_message(kind: QtMsgType, _context: object, message: str) -> None:
    if "propagateSizeHints" not in message:  # the offscreen platform says so of every window
        sys.stderr.write(f"Qt {kind.name}: {message}\n")
