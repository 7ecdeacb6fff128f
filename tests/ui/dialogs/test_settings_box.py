"""Settings: every field gives what RunConfig takes."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from engine.wire.config import RunConfig
from ui.dialogs.settings_box import SettingsBox
from ui.number_fields import WholeField


def box_of(qtbot: QtBot, *, has_gpu: bool = False) -> SettingsBox:
    box = SettingsBox(has_gpu=has_gpu)
    qtbot.addWidget(box)
    return box


def test_the_fields_begin_as_a_runs_settings_do(qtbot: QtBot) -> None:
    assert RunConfig(**box_of(qtbot).values()) == RunConfig()


@pytest.mark.parametrize(
    "values",
    [
        {"gamma": "auto", "max_gamma": 12},
        {"gamma": 0, "temperature": 1.25, "top_k": 40, "top_p": 0.95},
        {"batch": 8, "block_size": 32, "allocation": "contiguous", "chat": True},
        {"device": "cuda:1", "dtype": "bfloat16", "calibrate": False, "seed": 123},
    ],
)
def test_what_is_filled_in_comes_out(qtbot: QtBot, values: dict[str, object]) -> None:
    box = box_of(qtbot)
    box.fill(values)
    assert {name: box.values()[name] for name in values} == values
    RunConfig(**box.values())


def test_a_change_is_told(qtbot: QtBot) -> None:
    box = box_of(qtbot)
    told: list[int] = []
    box.changed.connect(lambda: told.append(1))
    box.fill({"gamma": 7})
    box.fill({"gamma": 7})
    assert told == [1]


def test_graphs_can_be_wanted_where_a_gpu_decodes(qtbot: QtBot) -> None:
    box = box_of(qtbot, has_gpu=True)
    assert box.graphs.isEnabled()
    box.fill({"device": "cpu"})
    assert not box.graphs.isEnabled()
    box = box_of(qtbot, has_gpu=False)
    assert not box.graphs.isChecked()
    assert box.values()["graphs"] is True  # a processor captures nothing; the wish is kept
    box.fill({"device": "cuda:1"})
    assert box.graphs.isChecked()


def test_a_number_that_is_too_large_stays_as_typed_and_is_said(qtbot: QtBot) -> None:
    box = box_of(qtbot)
    box.show()
    field, note = box._fields["gamma"], box._notes["gamma"]
    assert isinstance(field, WholeField)
    assert not note.isVisible()
    field.selectAll()
    QTest.keyClicks(field, "99")
    assert field.text() == "99"
    assert note.isVisible()
    assert note.text() == "99 is too large: 0 to 32, or auto."
    assert box.problem.endswith(f"step: {note.text()}")
    QTest.keyClick(field, Qt.Key.Key_Backspace)
    assert box.problem == ""
    assert not note.isVisible()


def test_more_new_tokens_than_the_targets_context_holds_are_said_and_may_be_asked_for(
    qtbot: QtBot,
) -> None:
    box = box_of(qtbot)
    note = box._notes["max_new_tokens"]
    box.fill({"max_new_tokens": 1500})
    assert note.text() == ""
    box.set_context_length(1024)
    assert note.text() == "At most 1,024 with this target, prompt included."
    assert box.problem == ""
    box.fill({"max_new_tokens": 1000})
    assert note.text() == ""
    box.fill({"max_new_tokens": 1024})
    assert note.text()
    box.set_context_length(None)
    assert note.text() == ""
