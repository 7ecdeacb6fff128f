"""What an export is asked for."""

import pytest
from pytestqt.qtbot import QtBot

from sessions.export import EXPORTERS
from sessions.export.options import ExportOptions, StepRange, TimeRange
from ui.dialogs.export_choice import FormatChoice, PartChoice


def test_the_first_format_is_chosen_and_another_is_told_once(qtbot: QtBot) -> None:
    choice = FormatChoice()
    qtbot.addWidget(choice)
    assert choice.name == next(iter(EXPORTERS))
    told: list[str] = []
    choice.chosen.connect(lambda: told.append(choice.name))
    choice.buttons["csv"].click()
    assert told == ["csv"]
    assert choice.extension == EXPORTERS["csv"].extension


def test_a_format_whose_package_is_missing_cannot_be_chosen(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(EXPORTERS["parquet"]), "is_available", False)
    choice = FormatChoice()
    qtbot.addWidget(choice)
    assert not choice.buttons["parquet"].isEnabled()


def test_the_parts(qtbot: QtBot) -> None:
    part = PartChoice((1_000_000_000, 2_500_000_000))
    qtbot.addWidget(part)
    assert part.options(is_timeline=True) == ExportOptions(None, False)
    part.last.setValue(7)  # whoever gives a number means the steps
    assert part.options(is_timeline=True).part == StepRange(0, 7)
    part.first.setValue(8)
    assert "behind the last" in part.problem
    part.window_.click()
    assert part.problem == ""
    assert part.options(is_timeline=True).part == TimeRange(1_000_000_000, 2_500_000_000)
    assert "1.000 s to 2.500 s" in part.window_.text()


def test_a_timeline_that_follows_has_no_stretch(qtbot: QtBot) -> None:
    part = PartChoice(None)
    qtbot.addWidget(part)
    assert not part.window_.isEnabled()
    part.set_timeline(False)
    assert not part.per_step.isEnabled()
    assert part.per_step.toolTip()
