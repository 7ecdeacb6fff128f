"""The target: a known name, or any other."""

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from ui.dialogs.target_box import TargetBox
from ui.models_offered import OfferedModel

MODELS = (
    OfferedModel(name="here", words="9 M parameters, bundled", is_here=True),
    OfferedModel(name="far", words="7 B parameters, on the hub", is_here=False),
)


def test_what_a_model_is_is_said_in_words(qtbot: QtBot) -> None:
    box = TargetBox(MODELS)
    qtbot.addWidget(box)
    told: list[str] = []
    box.changed.connect(told.append)
    assert (box.value, box.words.text()) == ("here", "9 M parameters, bundled")
    box.choose("far")
    assert box.words.text().endswith("not on this machine yet.")
    box.choose(" some/folder ")
    assert box.value == "some/folder"
    assert told == ["far", "some/folder"]


def test_what_can_be_no_path_is_said(qtbot: QtBot) -> None:
    box = TargetBox(MODELS)
    qtbot.addWidget(box)
    box.choose("~nosuchuser/model")
    assert "home folder" in box.words.text()
    assert box.words.textFormat() is Qt.TextFormat.PlainText
