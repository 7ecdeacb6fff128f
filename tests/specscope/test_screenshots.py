"""Pictures: which there are, in which sizes."""

import subprocess
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from specscope import screenshots
from tests.sessions.recorded import record, script
from ui.layouts import PRESETS

pytestmark = pytest.mark.usefixtures("data_folder")
THEMES = ("dark", "light")


def test_a_layout_in_both_themes(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.layouts.PRESETS", PRESETS[:1])
    session = record(tmp_path / "a.specscope", script(12))
    folder = tmp_path / "pictures"
    folder.mkdir()
    screenshots.take([session], folder, size=(1100, 700), ending="@1x")
    names = {f"{name}-{theme}@1x.png" for name in ("start", PRESETS[0].key) for theme in THEMES}
    assert {path.name for path in folder.iterdir()} == names
    pictures = {name: QImage(str(folder / name)) for name in names}
    for picture in pictures.values():
        ratio = picture.devicePixelRatio()
        assert (picture.width() / ratio, picture.height() / ratio) == (1100, 700)
    dark, light = (pictures[f"{PRESETS[0].key}-{theme}@1x.png"] for theme in THEMES)
    assert dark.pixelColor(2, 300).lightness() < 60 < light.pixelColor(2, 300).lightness()


def test_each_scale_has_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screenshots, "SCALES", (2,))
    said: list[str] = []
    screenshots.take_all([], tmp_path / "made", size=(1100, 700), say=said.append)
    files = [tmp_path / "made" / f"start-{theme}@2x.png" for theme in THEMES]
    assert said == [str(file) for file in files]
    assert QImage(str(files[0])).width() == 2200


def test_a_process_that_ends_badly_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.CompletedProcess([], 3, stdout="one.png\n")
    monkeypatch.setattr("subprocess.run", lambda *_, **__: done)
    said: list[str] = []
    with pytest.raises(screenshots.PicturesFailed, match=r"scale 1 .* code 3"):
        screenshots.take_all([], tmp_path / "made", size=(1100, 700), say=said.append)
    assert said == ["one.png"]
