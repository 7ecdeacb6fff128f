"""The fields of the planner's forms."""

from pytestqt.qtbot import QtBot

from engine.theory.presets import PRESETS
from ui.panels.planner_fields import bits_field, count_field, models_field, number_field


def test_a_model_is_chosen_or_typed(qtbot: QtBot) -> None:
    field = models_field("layers=1", "of the session")
    qtbot.addWidget(field)
    assert field.currentText() == "layers=1"
    assert [field.itemText(i) for i in range(field.count())] == ["of the session", *PRESETS]
    field.setEditText("layers=2")
    qtbot.keyClicks(field, "\r")
    assert field.count() == 1 + len(PRESETS)  # what was typed does not become a preset


def test_numbers_keep_to_their_ranges(qtbot: QtBot) -> None:
    count, bits, number = (
        count_field(5, 1, 9000),
        bits_field(16),
        number_field(0.25, most=1, step=0.05),
    )
    for field in (count, bits, number):
        qtbot.addWidget(field)
    assert (count.value(), bits.value(), number.value()) == (5, 16.0, 0.25)
    count.setValue(0)
    bits.setValue(100)
    number.setValue(2)
    assert (count.value(), bits.value(), number.value()) == (1, 64.0, 1.0)
    number.stepDown()
    assert number.value() == 0.95
