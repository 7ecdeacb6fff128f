"""The run dialog: orders, sentences, and what is remembered."""

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QPushButton, QScrollArea
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from engine.wire.config import ConfigError
from tests.support.scripted_sessions import ScriptedWorkshop
from ui.dialogs.run_dialog import RunDialog
from ui.dialogs.target_box import TargetBox
from ui.look import Look
from ui.number_fields import WholeField
from ui.run_order import RunOrder


def dialog_of(qtbot: QtBot, **remembered: object) -> RunDialog:
    dialog = RunDialog(ScriptedWorkshop(), Look("dark"), remembered)
    qtbot.addWidget(dialog)
    return dialog


def test_as_it_opens_it_runs_the_bundled_pair_on_code(qtbot: QtBot) -> None:
    order = dialog_of(qtbot).order()
    assert [config.draft for config in order.configs] == ["bundled-draft"]
    assert [prompt.text for prompt in order.prompts] == ["def a", "def b"]
    assert {prompt.label for prompt in order.prompts} == {"code"}
    assert order.is_recorded


def test_several_drafts_share_all_other_settings(qtbot: QtBot) -> None:
    dialog = dialog_of(qtbot)
    dialog.drafts.choose(["bundled-draft", "ngram", "none"])
    dialog.settings.fill({"gamma": "auto", "temperature": 0.7, "seed": 9, "block_size": 32})
    configs = dialog.order().configs
    assert [config.draft for config in configs] == ["bundled-draft", "ngram", "none"]
    assert {(c.gamma, c.temperature, c.seed, c.block_size) for c in configs} == {
        ("auto", 0.7, 9, 32)
    }
    assert "3 drafts" in dialog.run_button.text()


def test_what_cannot_work_is_said_and_bars_the_button(qtbot: QtBot) -> None:
    dialog = dialog_of(qtbot)
    for box in dialog.prompts.kinds.values():
        box.setChecked(False)
    assert "no prompt" in dialog.problem.text()
    assert not dialog.run_button.isEnabled()
    dialog.prompts.own.setPlainText("def f():")
    assert dialog.problem.text() == ""
    assert dialog.run_button.isEnabled()


def test_no_draft_is_no_order(qtbot: QtBot) -> None:
    dialog = dialog_of(qtbot)
    for box in dialog.drafts._boxes.values():
        box.setChecked(False)
    with pytest.raises(ConfigError, match="No draft is chosen"):
        dialog.order()


def test_drafts_that_do_not_fit_the_target_are_let_go(qtbot: QtBot) -> None:
    dialog = dialog_of(qtbot)
    dialog.target.choose("far-target")
    assert dialog.drafts.chosen == ("ngram",)


def test_accepting_tells_the_order_and_the_fields(qtbot: QtBot) -> None:
    dialog = dialog_of(qtbot)
    told: list[tuple[RunOrder, dict[str, object]]] = []
    dialog.ordered.connect(lambda order, fields: told.append((order, fields)))
    dialog.recording.setChecked(False)
    dialog.name.setText(" a name ")
    dialog.accept()
    order, fields = told[0]
    assert (order.name, order.is_recorded) == ("a name", False)
    assert dialog.result() == QDialog.DialogCode.Accepted
    again = dialog_of(qtbot, **fields)
    assert again.order().configs == order.configs
    assert again.order().prompts == order.prompts
    assert not again.recording.isChecked()


@pytest.mark.parametrize(
    "remembered",
    [
        {"target": 3, "drafts": "x", "prompts": [], "settings": 7},
        {"settings": {"gamma": None, "dtype": "no", "batch": "many", "block_size": 7}},
        {"prompts": {"kinds": 3, "own": None, "n_each": "x"}},
    ],
)
def test_what_was_remembered_wrongly_does_no_harm(
    qtbot: QtBot, remembered: dict[str, object]
) -> None:
    assert dialog_of(qtbot, **remembered).order().configs[0].block_size == 16


def dialog_at_the_keyboard(qtbot: QtBot) -> tuple[RunDialog, list[RunOrder]]:
    """With what it orders. It is gone as soon as it is closed."""
    dialog = RunDialog(ScriptedWorkshop(), Look("dark"), {})
    told: list[RunOrder] = []
    dialog.ordered.connect(lambda order, _: told.append(order))
    dialog.show()
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    return dialog, told


def test_return_runs_from_any_field(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(TargetBox, "_browse", lambda *_: asked.append(True))
    dialog, told = dialog_at_the_keyboard(qtbot)
    dialog.name.setFocus()
    QTest.keyClick(dialog.name, Qt.Key.Key_Return)
    assert asked == []
    assert len(told) == 1


def test_return_in_the_drafts_field_adds_and_does_not_run(qtbot: QtBot) -> None:
    dialog, told = dialog_at_the_keyboard(qtbot)
    dialog.drafts.other.setFocus()
    dialog.drafts.other.setText("/models/mine")
    QTest.keyClick(dialog.drafts.other, Qt.Key.Key_Return)
    assert "/models/mine" in dialog.drafts.chosen
    assert told == []
    dialog.reject()


def test_return_on_another_button_presses_that_one(qtbot: QtBot) -> None:
    dialog, told = dialog_at_the_keyboard(qtbot)
    (cancel,) = [b for b in dialog.findChildren(QPushButton) if "Cancel" in b.text()]
    cancel.setFocus()
    QTest.keyClick(cancel, Qt.Key.Key_Return)
    assert not isValid(dialog) or not dialog.isVisible()
    assert told == []


@pytest.mark.parametrize("name", ["~nosuchuser/model", "n" * 300])
def test_a_target_or_draft_that_can_be_no_path_is_said(qtbot: QtBot, name: str) -> None:
    dialog = dialog_of(qtbot)
    dialog.drafts.choose(["ngram", name])
    assert name[:20] in dialog.problem.text()
    dialog = dialog_of(qtbot)
    dialog.target.choose(name)
    assert name[:20] in dialog.problem.text()
    assert not dialog.run_button.isEnabled()
    assert dialog.problem.textFormat() is Qt.TextFormat.PlainText


def test_it_is_gone_when_it_is_closed(qtbot: QtBot) -> None:
    dialog, _ = dialog_at_the_keyboard(qtbot)
    dialog.reject()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not isValid(dialog)


@pytest.mark.parametrize(
    ("width", "height", "may_scroll_down"),
    [(1040, 696, False), (890, 696, False), (889, 600, True), (700, 600, True)],
)
def test_it_never_scrolls_sideways_nor_down_where_a_screen_is_768_high(
    qtbot: QtBot, width: int, height: int, may_scroll_down: bool
) -> None:
    dialog = dialog_of(qtbot)
    dialog.resize(width, height)
    dialog.show()
    qtbot.waitExposed(dialog)
    (area,) = [each for each in dialog.findChildren(QScrollArea) if each.parent() is dialog]
    assert area.horizontalScrollBar().maximum() == 0
    assert may_scroll_down or area.verticalScrollBar().maximum() == 0


def test_it_leaves_room_for_the_screens_edges(qtbot: QtBot) -> None:
    dialog = dialog_of(qtbot)
    screen = dialog.screen().availableGeometry()
    assert dialog.height() <= screen.height() - 60
    assert dialog.width() < screen.width()


def test_drafts_are_looked_up_when_the_target_is_typed_and_before_it_runs(qtbot: QtBot) -> None:
    dialog = dialog_of(qtbot)
    asked: list[str] = []
    offer = dialog.drafts._offer
    dialog.drafts._offer = lambda target: [asked.append(target), *offer(target)][1:]
    line = dialog.target.box.lineEdit()
    line.selectAll()
    QTest.keyClicks(line, "own/model")
    assert asked == []
    told: list[RunOrder] = []
    dialog.ordered.connect(lambda order, _: told.append(order))
    dialog.accept()
    assert asked == ["own/model"]
    assert told[0].configs[0].draft == "ngram"


def test_a_number_that_is_too_large_bars_the_button(qtbot: QtBot) -> None:
    dialog = dialog_of(qtbot)
    for field in (dialog.settings._fields["max_new_tokens"], dialog.prompts.n_each):
        assert isinstance(field, WholeField)
        before = field.value()
        field.selectAll()
        QTest.keyClicks(field, "9" * (len(str(field._high)) + 1))
        assert "is too large" in dialog.problem.text()
        assert not dialog.run_button.isEnabled()
        field.setValue(before)
        assert dialog.run_button.isEnabled()


def test_a_path_without_a_model_is_said(qtbot: QtBot) -> None:
    dialog = dialog_of(qtbot)
    dialog.target.choose("/nosuch/target")
    assert "no model at /nosuch/target" in dialog.problem.text()
    dialog.target.choose("bundled-target")
    assert dialog.problem.text() == ""
    dialog.drafts.choose(["/nosuch/draft"])
    assert "no model at /nosuch/draft" in dialog.problem.text()
    assert not dialog.run_button.isEnabled()


def test_an_engine_is_prepared_while_the_dialog_is_open_and_kept_for_its_order(
    qtbot: QtBot,
) -> None:
    for end, told in ((QDialog.reject, ["prepare", "let go"]), (RunDialog.accept, ["prepare"])):
        workshop = ScriptedWorkshop()
        dialog = RunDialog(workshop, Look("dark"), {})
        assert workshop.told == []
        dialog.open()
        assert workshop.told == ["prepare"]
        end(dialog)
        assert workshop.told == told
