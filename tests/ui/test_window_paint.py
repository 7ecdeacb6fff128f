"""A window is painted once a frame, however many plots have changed in it."""

import pyqtgraph as pg
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from ui.plots.plot import Plot
from ui.theme import DARK
from ui.window_paint import WindowPaint


class Counted(Plot):
    n_painted = 0

    def paintEvent(self, event: QPaintEvent) -> None:
        self.n_painted += 1
        super().paintEvent(event)


def test_each_of_several_plots_is_painted_once(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    line = QHBoxLayout(window)
    plots = [Counted(DARK) for _ in range(4)]
    curves = [pg.PlotCurveItem([0.0, 1.0], [0.0, 1.0]) for _ in plots]
    for plot, curve in zip(plots, curves, strict=True):
        plot.addItem(curve)
        plot.getPlotItem().getViewBox().disableAutoRange()
        line.addWidget(plot)
    window.show()
    qtbot.waitExposed(window)
    paint = WindowPaint(window)
    for _ in range(3):  # axes find their width
        paint.paint()
        QCoreApplication.processEvents()
    for plot, curve in zip(plots, curves, strict=True):
        plot.n_painted = 0
        curve.setData([0.0, 1.0], [1.0, 0.0])
        plot.getPlotItem().getViewBox().setRange(xRange=(0.25, 0.75), padding=0)
    window.update()
    paint.paint()
    assert [plot.n_painted for plot in plots] == [1, 1, 1, 1]
    paint.paint()
    QCoreApplication.processEvents()
    assert [plot.n_painted for plot in plots] == [1, 1, 1, 1]  # nothing was left over


def test_between_frames_qt_paints_as_ever(qtbot: QtBot) -> None:
    window = Counted(DARK)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    WindowPaint(window).paint()
    n_before = window.n_painted
    window.viewport().update()
    qtbot.waitUntil(lambda: window.n_painted > n_before)
