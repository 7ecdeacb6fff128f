"""What all plots have in common: cross-hair, copying, zoom, clicks."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QToolTip
from pytestqt.qtbot import QtBot

from ui.plots.plot import Plot
from ui.theme import DARK, LIGHT


@pytest.fixture
def plot(qtbot: QtBot) -> Plot:
    plot = Plot(DARK, x_label="step", y_label="tokens")
    qtbot.addWidget(plot)
    plot.resize(400, 300)
    plot.plot([0, 10], [0, 5])
    plot.show()
    qtbot.waitExposed(plot)
    return plot


def scene_point(plot: Plot, x: float, y: float) -> QPointF:
    return plot.getPlotItem().getViewBox().mapViewToScene(QPointF(x, y))


def test_values_are_copied_as_csv(plot: Plot) -> None:
    plot.set_columns({"step": np.array([1, 2]), "alpha": np.array([0.5, 0.25])})
    plot.copy_csv()
    assert QGuiApplication.clipboard().text() == "step,alpha\n1,0.5\n2,0.25\n"


def test_columns_are_asked_for_when_somebody_copies(plot: Plot) -> None:
    values = [1]
    plot.set_columns(lambda: {"step": list(values)})
    values.append(2)
    assert plot.csv() == "step\n1\n2\n"


def test_the_picture_is_copied(plot: Plot) -> None:
    plot.copy_image()
    assert QGuiApplication.clipboard().pixmap().width() == 400


def test_the_cross_hair_says_exact_values(plot: Plot) -> None:
    plot.set_read_out(lambda x, y: f"step {x:.0f}: {y:.1f}")
    plot._point(scene_point(plot, 4.0, 2.5))
    assert plot._words.isVisible()
    assert plot._words.toPlainText() == "step 4: 2.5"
    assert plot._lines[0].value() == pytest.approx(4.0)


def test_where_there_is_nothing_to_say_there_is_no_cross_hair(plot: Plot) -> None:
    plot._point(scene_point(plot, 4.0, 2.5))
    plot.set_read_out(lambda x, y: "")
    plot._point(scene_point(plot, 5.0, 2.5))
    assert not plot._words.isVisible()


class Click:
    """As pyqtgraph's scene tells it."""

    def __init__(self, at: QPointF, *, is_double: bool = False) -> None:
        self._at, self._is_double = at, is_double

    def button(self) -> Qt.MouseButton:
        return Qt.MouseButton.LeftButton

    def scenePos(self) -> QPointF:
        return self._at

    def double(self) -> bool:
        return self._is_double


def test_a_click_tells_where(plot: Plot) -> None:
    told: list[tuple[float, float]] = []
    plot.clicked.connect(lambda x, y: told.append((x, y)))
    plot.scene().sigMouseClicked.emit(Click(scene_point(plot, 6.0, 1.0)))
    plot.scene().sigMouseClicked.emit(Click(QPointF(-50.0, -50.0)))
    assert told == [pytest.approx((6.0, 1.0))]


def test_a_double_click_shows_all(plot: Plot) -> None:
    plot.setXRange(3, 4)
    plot.scene().sigMouseClicked.emit(Click(scene_point(plot, 3.5, 1.0), is_double=True))
    assert plot.viewRange()[0][1] >= 10


def test_home_shows_all_again(plot: Plot, qtbot: QtBot) -> None:
    plot.setXRange(3, 4)
    qtbot.keyClick(plot, Qt.Key.Key_Home)
    (x0, x1), _ = plot.viewRange()
    assert x0 <= 0
    assert x1 >= 10


def test_the_theme_is_taken(plot: Plot) -> None:
    plot.restyle(LIGHT)
    axis = plot.getPlotItem().getAxis("bottom")
    assert axis.pen().color().name() == LIGHT.line.lower()
    assert axis.textPen().color().name() == LIGHT.dim.lower()


def test_the_menu_offers_all_of_it(plot: Plot) -> None:
    texts = [action.text() for action in plot.context_menu().actions()]
    assert texts == ["Copy as image", "Copy as CSV", "Save image…", "Save CSV…", "Show all"]


def test_a_file_that_cannot_be_written_is_said(
    plot: Plot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _place, text, _plot: told.append(text))
    for name, save in (("v.csv", plot.save_csv), ("v.png", plot.save_image)):
        path = str(tmp_path / "no such folder" / name)
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, path=path: (path, ""))
        save()
        assert "was not saved" in told[-1]
    assert len(told) == 2


def test_values_are_saved(plot: Plot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "v.csv"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    plot.set_columns({"step": [1]})
    plot.save_csv()
    assert path.read_bytes() == b"step\n1\n"


def test_it_is_named_by_its_axes(plot: Plot) -> None:
    assert plot.accessibleName() == "tokens over step"
