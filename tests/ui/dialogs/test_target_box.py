"""The target: a known name, or any other."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
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


def test_it_settles_when_typing_is_done_and_not_at_each_key(qtbot: QtBot) -> None:
    box = TargetBox(MODELS)
    qtbot.addWidget(box)
    settled: list[str] = []
    box.settled.connect(settled.append)
    line = box.box.lineEdit()
    line.selectAll()
    QTest.keyClicks(line, "own/model")
    assert (box.value, settled) == ("own/model", [])
    QTest.keyClick(line, Qt.Key.Key_Return)
    box.choose("far")
    assert settled == ["own/model", "far"]


def test_the_context_of_a_model_of_the_list_is_known(qtbot: QtBot) -> None:
    here = OfferedModel(name="here", words="", is_here=True, context_length=1024)
    box = TargetBox([here, MODELS[1]])
    qtbot.addWidget(box)
    assert box.context_length == 1024
    for name in ("far", "some/folder"):
        box.choose(name)
        assert box.context_length is None
