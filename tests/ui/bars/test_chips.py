"""Chips: long names are cut in the middle, and a menu sends what its fields hold."""

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from ui.bars.chips import ChangeBox, fill_menu, menu_chip, set_chip, text_chip
from ui.number_fields import whole_field


def test_a_long_value_is_cut_in_the_middle_and_whole_in_the_tooltip(qtbot: QtBot) -> None:
    chip = text_chip("What proposes")
    qtbot.addWidget(chip)
    set_chip(chip, "draft", "short & <plain>")
    assert chip.text() == "draft <b>short &amp; &lt;plain&gt;</b>"
    assert chip.toolTip().count("What proposes") == 1
    name = "organisation-of-many/" + "model-with-a-long-name"
    set_chip(chip, "", name)
    assert chip.text().startswith(name[:13] + "…")
    assert chip.text().endswith(name[-5:])
    assert name in chip.toolTip()


def test_fields_in_a_menu_are_sent_by_enter_and_not_while_one_is_too_large(qtbot: QtBot) -> None:
    sent: list[int] = []
    chip, field = menu_chip("Gamma"), whole_field(0, 32)
    qtbot.addWidget(chip)
    fill_menu(chip, [("gamma", field)], lambda: sent.append(field.value()))
    (action,) = chip.menu().actions()
    box = action.defaultWidget()
    assert isinstance(box, ChangeBox)
    field.setValue(7)
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert sent == [7]
    field.lineEdit().setText("99")
    assert not box.button.isEnabled()
    assert "32" in box.problem.text()
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert sent == [7]
