"""``specscope gui``: what it says where no window can be shown."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from specscope.cli import main
from specscope.window_libraries import Lack


@pytest.mark.parametrize("arguments", [["gui"], []])
def test_without_a_display_it_names_the_terminals_command(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2
    assert "specscope run" in done.output
    assert "no display" in done.output


def test_libraries_that_are_not_there_are_told_before_qt_ends_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lack = Lack("Qt's xcb platform lacks libxcb-cursor.so.0", "apt install libxcb-cursor0")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("specscope.commands.gui.window_lack", lambda: lack)
    done = CliRunner().invoke(main, ["gui"])
    assert done.exit_code == 2
    assert "apt install libxcb-cursor0" in done.output


def test_a_session_that_is_not_there_is_told() -> None:
    done = CliRunner().invoke(main, ["gui", "no-such-session"])
    assert done.exit_code == 2
    assert "no session 'no-such-session'" in done.output


def test_a_size_that_is_none_is_told(tmp_path: object) -> None:
    done = CliRunner().invoke(main, ["gui", "--screenshots", str(tmp_path), "--size", "large"])
    assert done.exit_code == 2
    assert "WxH" in done.output


def test_the_desktop_entry_is_written_for_this_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    done = CliRunner().invoke(main, ["gui", "--install-desktop-entry"])
    assert done.exit_code == 0
    assert (tmp_path / "applications" / "specscope.desktop").is_file()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    done = CliRunner().invoke(main, ["gui", "--install-desktop-entry"])
    assert done.exit_code == 1
    assert "could not be written" in done.output


def test_elsewhere_than_on_linux_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    done = CliRunner().invoke(main, ["gui", "--install-desktop-entry"])
    assert done.exit_code == 2
    assert "make a shortcut" in done.output
