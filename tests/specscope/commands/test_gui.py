"""``specscope gui``: what it says where no window can be shown."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from specscope.cli import main
from specscope.screenshots import PicturesFailed
from specscope.window_libraries import Lack
from tests.specscope.stored import record


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


def test_a_damaged_session_is_told_before_any_picture(data_folder: Path) -> None:
    path, _ = record(name="hurt")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE events SET payload = x'00' WHERE ordinal = 9")
    pictures = data_folder / "pictures"
    done = CliRunner().invoke(main, ["gui", str(path), "--screenshots", str(pictures)])
    assert done.exit_code == 2
    assert "specscope session recover" in done.stderr
    assert done.stderr == CliRunner().invoke(main, ["show", str(path)]).stderr
    assert not pictures.exists()


def test_pictures_that_failed_are_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise PicturesFailed("The pictures were not all taken.")

    monkeypatch.setattr("specscope.commands.gui.take_all", fail)
    done = CliRunner().invoke(main, ["gui", "--screenshots", str(tmp_path)])
    assert done.exit_code == 1
    assert done.stderr == "Error: The pictures were not all taken.\n"


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
