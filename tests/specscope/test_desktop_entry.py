"""The desktop entry: written where desktops look, and starting this very program."""

import configparser
import sys
from pathlib import Path

import pytest

from specscope import desktop_entry
from specscope.desktop_entry import data_home, install_desktop_entry


def entry_of(path: Path) -> configparser.SectionProxy:
    parser = configparser.RawConfigParser()
    parser.read(path, encoding="utf-8")
    return parser["Desktop Entry"]


def test_entry_and_icon_are_where_desktops_look(tmp_path: Path) -> None:
    path = install_desktop_entry(tmp_path)
    assert path == tmp_path / "applications" / "specscope.desktop"
    entry = entry_of(path)
    assert (entry["type"], entry["name"], entry["icon"]) == (
        "Application",
        "SpecScope",
        "specscope",
    )
    assert entry["exec"].endswith(" gui %f")
    icon = tmp_path / "icons" / "hicolor" / "scalable" / "apps" / "specscope.svg"
    assert icon.read_text(encoding="utf-8").startswith("<svg")
    assert install_desktop_entry(tmp_path) == path  # a second time changes nothing


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("/opt/venv/bin/specscope", "/opt/venv/bin/specscope gui %f"),
        ("/home/a b/specscope", '"/home/a b/specscope" gui %f'),
        ("/50%/specscope", "/50%%/specscope gui %f"),
        ('/a"$/specscope', '"/a\\\\"\\\\$/specscope" gui %f'),
    ],
)
def test_the_program_is_named_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, told: str
) -> None:
    monkeypatch.setattr(desktop_entry.shutil, "which", lambda *_, **__: program)
    assert entry_of(install_desktop_entry(tmp_path))["exec"] == told


@pytest.mark.parametrize("program", ["/a\nExec=b/specscope", "/\udcff/specscope"])
def test_a_path_that_no_entry_can_name_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(desktop_entry.shutil, "which", lambda *_, **__: program)
    with pytest.raises(OSError, match="desktop entry"):
        install_desktop_entry(tmp_path)
    assert not list(tmp_path.iterdir())


def test_without_its_script_it_is_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desktop_entry.shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    exec_line = entry_of(install_desktop_entry(tmp_path))["exec"]
    assert exec_line == "/usr/bin/python3 -m specscope gui %f"


@pytest.mark.parametrize("named", ["", "not/absolute"])
def test_the_users_data_are_in_their_home_unless_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", named)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert data_home() == tmp_path / ".local" / "share"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert data_home() == tmp_path / "data"
