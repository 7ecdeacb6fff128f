"""Prompts: examples by kind, one's own, both."""

import pytest
from pytestqt.qtbot import QtBot

from engine.wire.config import ConfigError
from ui.dialogs.prompt_box import PromptBox

EXAMPLES = {"json": ("[", "{"), "code": ("def a", "def b", "def c")}


def box_of(qtbot: QtBot) -> PromptBox:
    box = PromptBox(EXAMPLES)
    qtbot.addWidget(box)
    return box


def test_so_many_of_each_kind(qtbot: QtBot) -> None:
    box = box_of(qtbot)
    box.kinds["json"].setChecked(True)
    box.n_each.setValue(3)
    assert [p.text for p in box.chosen()] == ["[", "{", "def a", "def b", "def c"]


def test_ones_own_are_set_apart_by_a_line(qtbot: QtBot) -> None:
    box = box_of(qtbot)
    box.kinds["code"].setChecked(False)
    box.own.setPlainText("one\n  two\n---\n\nthree\n---\n \n")
    assert [p.text for p in box.chosen()] == ["one\n  two", "\nthree"]


def test_none_is_no_order(qtbot: QtBot) -> None:
    box = box_of(qtbot)
    box.kinds["code"].setChecked(False)
    with pytest.raises(ConfigError, match="no prompt"):
        box.chosen()


def test_a_prompt_beyond_all_contexts_is_refused(qtbot: QtBot) -> None:
    box = box_of(qtbot)
    box.own.setPlainText("x" * (4 * 2**20 + 1))
    with pytest.raises(ConfigError, match="longer than 4 MiB"):
        box.chosen()
