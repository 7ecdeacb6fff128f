"""CUDA graphs: barred where nothing can be captured, and not forgotten."""

from pytestqt.qtbot import QtBot

from ui.dialogs.graphs_box import GraphsBox


def test_without_a_gpu_it_is_barred_and_says_why(qtbot: QtBot) -> None:
    box = GraphsBox()
    qtbot.addWidget(box)
    box.set_has_gpu(False)
    assert not box.isEnabled()
    assert not box.isChecked()
    assert box.toolTip().startswith("Needs a GPU")


def test_what_was_wanted_comes_back_with_the_gpu(qtbot: QtBot) -> None:
    box = GraphsBox()
    qtbot.addWidget(box)
    for is_wanted in (True, False):
        box.set_has_gpu(True)
        box.setChecked(is_wanted)
        box.set_has_gpu(False)
        assert box.is_wanted == is_wanted
        box.set_has_gpu(True)
        assert box.isChecked() == is_wanted


def test_what_is_remembered_waits_for_a_gpu(qtbot: QtBot) -> None:
    box = GraphsBox()
    qtbot.addWidget(box)
    box.set_has_gpu(False)
    box.want(True)
    assert not box.isChecked()
    box.set_has_gpu(True)
    assert box.isChecked()
