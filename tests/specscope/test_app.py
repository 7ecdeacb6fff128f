"""The window's program: it starts without torch, ends on a signal, and tells errors."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from specscope.app import _told_in, make_application, make_window
from ui.preferences import Preferences

pytestmark = pytest.mark.usefixtures("data_folder", "offscreen")

PROGRAM = """
import os, signal, sys
from pathlib import Path
from specscope import app
from ui.frame_clock import FrameClock

tick, n_ticks = FrameClock.tick, 0

def counted(clock):
    global n_ticks
    tick(clock)
    n_ticks += 1
    if n_ticks == 3:
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))

FrameClock.tick = counted
code = app.run_window([Path(name) for name in sys.argv[2:]])
print("torch" in sys.modules, n_ticks)
raise SystemExit(code)
"""


@pytest.fixture
def offscreen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_closes_the_window_and_all_is_well(name: str) -> None:
    assert hasattr(signal, name)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, name],
        env=dict(os.environ), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    has_torch, n_ticks = done.stdout.split()
    assert has_torch == "False"
    assert int(n_ticks) >= 3


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_a_file_that_cannot_be_opened_is_told_in_the_terminal_too(tmp_path: Path) -> None:
    path = tmp_path / "none.specscope"
    path.write_text("no session")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "SIGTERM", str(path)],
        env=dict(os.environ), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert "none.specscope" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_error_nobody_handled_is_told(
    qtbot: QtBot, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    window = make_window(preferences=Preferences(tmp_path / "window.json"))
    qtbot.addWidget(window)
    assert window.pages.currentWidget() is window.start
    error = ValueError("the picture fell off the wall")
    _told_in(window)(ValueError, error, None)
    assert "the picture fell off the wall" in window.banner.text
    assert "ValueError" in capsys.readouterr().err
    assert not window.banner.isHidden()
    window.close()


def test_there_is_one_application(qtbot: QtBot) -> None:
    assert make_application() is make_application()


def test_a_theme_that_is_no_more_becomes_the_system_s(qtbot: QtBot, tmp_path: Path) -> None:
    preferences = Preferences(tmp_path / "window.json")
    preferences.values.theme = "sepia"
    window = make_window(preferences=preferences)
    qtbot.addWidget(window)
    assert window.look.choice == "system"
    window.close()
