"""A painter has ended when its block has, however it was left."""

import pytest
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from ui.painting import forget_told, guarded, painting


def test_a_painter_ends_with_its_block_and_with_an_error() -> None:
    image = QImage(4, 4, QImage.Format.Format_ARGB32)
    with painting(image) as painter:
        assert painter.isActive()
    assert not painter.isActive()
    with pytest.raises(ValueError, match="in the midst"), painting(image) as painter:
        raise ValueError("in the midst")
    assert not painter.isActive()


class Faulty(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.kept: list[QPainter] = []

    @guarded
    def paintEvent(self, _event: object) -> None:
        with painting(self) as painter:
            self.kept.append(painter)  # as a traceback does
            raise ValueError(f"a fault of the widget, {len(self.kept)}")


def test_an_error_in_a_paint_event_is_told_once_and_the_rest_is_painted(qtbot: QtBot) -> None:
    widget = Faulty()
    beneath = QLabel("whole", widget)
    with qtbot.captureExceptions() as caught:
        for _ in range(3):
            assert not widget.grab().isNull()
    assert len(widget.kept) == 3
    assert not any(painter.isActive() for painter in widget.kept)
    assert [str(error) for _, error, _ in caught] == ["a fault of the widget, 1"]
    assert not beneath.grab().isNull()
    forget_told()
    with qtbot.captureExceptions() as caught:
        widget.grab()
    assert len(caught) == 1
    widget.deleteLater()
