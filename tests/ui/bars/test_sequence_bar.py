"""Tabs for a few sequences, a list for many."""

import pytest
from pytestqt.qtbot import QtBot

from ui.bars.sequence_bar import MOST_TABS, SequenceBar
from ui.step.looked_at import NamedSequence


def sequences(n: int) -> list[NamedSequence]:
    return [NamedSequence(10 + index, f"s&{index}") for index in range(n)]


@pytest.fixture
def bar(qtbot: QtBot) -> SequenceBar:
    bar = SequenceBar()
    qtbot.addWidget(bar)
    return bar


def test_few_are_tabs_and_many_a_list(bar: SequenceBar) -> None:
    bar.show_sequences(sequences(MOST_TABS), 11)
    assert (bar.tabs.isHidden(), bar.list.isHidden()) == (False, True)
    assert bar.tabs.tabText(1) == "s&&1"  # an ampersand, not a shortcut
    assert bar.tabs.currentIndex() == 1
    bar.show_sequences(sequences(MOST_TABS + 1), 12)
    assert (bar.tabs.isHidden(), bar.list.isHidden()) == (True, False)
    assert bar.list.count() == MOST_TABS + 1
    assert bar.list.currentText() == "s&2"


def test_without_tabs_there_is_always_the_list(qtbot: QtBot) -> None:
    bar = SequenceBar(has_tabs=False)
    qtbot.addWidget(bar)
    bar.show_sequences(sequences(2), 10)
    assert (bar.tabs.isHidden(), bar.list.isHidden()) == (True, False)


def test_a_person_chooses_and_showing_does_not(bar: SequenceBar) -> None:
    chosen: list[int] = []
    bar.chosen.connect(chosen.append)
    bar.show_sequences(sequences(3), 10)
    bar.show_sequences(sequences(4), 12)
    assert chosen == []
    bar.tabs.setCurrentIndex(3)
    bar.show_sequences(sequences(20), 12)
    bar.list.activated.emit(7)
    assert chosen == [13, 17]


def test_others_take_the_place_of_those_before(bar: SequenceBar) -> None:
    bar.show_sequences(sequences(3), 10)
    bar.show_sequences(sequences(4)[2:], 13)
    assert [bar.tabs.tabText(i) for i in range(bar.tabs.count())] == ["s&&2", "s&&3"]
    assert bar.tabs.currentIndex() == 1
