"""What a bare Linux lacks is told by its packages, before Qt ends the process over it."""

from pathlib import Path

import pytest

from specscope import window_libraries
from specscope.window_libraries import platforms, window_lack

CURSOR = "libxcb-cursor.so.0: cannot open shared object file: No such file or directory"


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> set[str]:
    """Names of the files that cannot be loaded; empty at first."""
    for name in ("libqxcb.so", "libqwayland.so", "libqoffscreen.so"):
        (tmp_path / name).touch()
    names: set[str] = set()
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(window_libraries, "_plugins", lambda: tmp_path)
    monkeypatch.setattr(
        window_libraries, "load", lambda file: CURSOR if Path(file).name in names else ""
    )
    return names


def test_qt_tries_what_there_is_a_display_for() -> None:
    assert platforms({"DISPLAY": ":0"}) == ["xcb"]
    assert platforms({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}) == ["wayland", "xcb"]
    assert platforms({"DISPLAY": ":0", "QT_QPA_PLATFORM": "offscreen:x=1;xcb"}) == [
        "offscreen", "xcb",
    ]  # fmt: skip
    assert platforms({}) == []


def test_the_packages_are_named(missing: set[str]) -> None:
    assert window_lack({"DISPLAY": ":0"}) is None
    missing |= {"libqxcb.so", "libxcb-cursor.so.0", "libxcb-keysyms.so.1", "libwayland-client.so.0"}
    lack = window_lack({"DISPLAY": ":0"})
    assert lack is not None
    assert "xcb platform lacks libxcb-cursor.so.0" in lack.detail
    assert "apt install libxcb-cursor0 libxcb-keysyms1 (" in lack.remedy
    assert lack.detail in lack.sentence
    assert lack.remedy in lack.sentence


def test_one_platform_that_can_be_loaded_is_enough(missing: set[str]) -> None:
    missing.add("libqxcb.so")
    assert window_lack({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}) is None
    assert window_lack({"DISPLAY": ":0", "QT_QPA_PLATFORM": "offscreen"}) is None
    lack = window_lack({"DISPLAY": ":0"})
    assert lack is not None
    assert "reinstall PySide6" in lack.remedy  # no file of the table is missing


def test_a_platform_that_is_not_known_is_left_to_qt(missing: set[str]) -> None:
    missing.add("libqxcb.so")
    assert window_lack({"QT_QPA_PLATFORM": "vnc"}) is None


def test_the_platform_without_a_display_can_be_loaded_here() -> None:
    assert window_lack({"QT_QPA_PLATFORM": "offscreen"}) is None


def test_a_file_that_is_nowhere_is_complained_of() -> None:
    assert "no-such" in window_libraries.load("libno-such.so.9")
