"""Nsight in the run dialog: offered where it is there, else told how to get it; lines to copy."""

from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from engine.wire.config import ConfigError, RunConfig
from ui.dialogs.nsight_box import NsightBox
from ui.run_order import OrderedPrompt, RunOrder


def order() -> RunOrder:
    return RunOrder(configs=(RunConfig(),), prompts=(OrderedPrompt("def f():"),))


def box_of(qtbot: QtBot) -> NsightBox:
    box = NsightBox(order)
    qtbot.addWidget(box)
    return box


@pytest.fixture
def _with_nsys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nsys"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def test_without_nsys_it_says_how_to_get_it(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    box = box_of(qtbot)
    assert not box.capture.isEnabled()
    assert "install Nsight Systems" in box.words.text()
    assert box.chosen(["a"]) is None


@pytest.mark.usefixtures("_with_nsys")
def test_a_report_is_named_with_its_suffix(qtbot: QtBot, tmp_path: Path) -> None:
    box = box_of(qtbot)
    assert box.chosen(["a"]) is None
    box.capture.setChecked(True)
    box.report.setText("mine")
    assert box.chosen(["a"]) == tmp_path / "mine.nsys-rep"
    with pytest.raises(ConfigError, match="one draft"):
        box.chosen(["a", "b"])


@pytest.mark.usefixtures("_with_nsys")
def test_what_was_remembered_does_not_capture_by_itself(qtbot: QtBot) -> None:
    box = box_of(qtbot)
    box.fill({"report": "mine"})
    box.fill({"report": 3})
    assert box.fields() == {"report": "mine"}
    assert box.chosen(["a"]) is None


def test_lines_are_copied(qtbot: QtBot) -> None:
    box = box_of(qtbot)
    actions = [action for action in box.copy.menu().actions() if action.text()]
    actions[0].trigger()
    assert QGuiApplication.clipboard().text().startswith("specscope run 'def f():'")
    actions[-1].trigger()
    assert QGuiApplication.clipboard().text().startswith("ncu ")
    assert len(actions) == 8


@pytest.mark.usefixtures("_with_nsys")
@pytest.mark.parametrize("text", ["~nosuchuser/report", "n" * 300, "n" * 250, "/"])
def test_a_report_that_can_be_no_path_is_said(qtbot: QtBot, text: str) -> None:
    box = box_of(qtbot)
    box.capture.setChecked(True)
    box.report.setText(text)
    with pytest.raises(ConfigError):
        box.chosen(["a"])
