"""Plot: what all plots have in common - calm axes, zoom and pan, a cross-hair with exact values,
and copying as an image or as CSV."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QAction, QColor, QContextMenuEvent, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QFileDialog, QMenu, QToolTip, QWidget

from ui.menus import pop_up
from ui.plain_text import plain_tip
from ui.theme import CAPTION, Theme, interface_font

pg.setConfigOptions(antialias=True)

Columns = Mapping[str, Sequence[Any] | np.ndarray[Any, Any]]


class Plot(pg.PlotWidget):
    """A plot that knows arrays, not sessions.

    Drag pans, the wheel zooms (over an axis: that axis alone), a double click or Home shows all.
    Whoever sets data calls ``set_columns`` with what is drawn, which is what is copied as CSV.
    Lines are one pixel wide: wider ones cost some fifty times as much to paint.
    """

    own_keys: ClassVar[frozenset[Qt.Key]] = frozenset({Qt.Key.Key_Home})
    """Not the window's while the plot has the keyboard."""
    clicked = Signal(float, float)
    """A click at (x, y), in the plot's coordinates."""
    moved = Signal()
    """The user has zoomed or panned."""

    def __init__(
        self,
        theme: Theme,
        *,
        x_label: str = "",
        y_label: str = "",
        pans_x: bool = True,
        pans_y: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, enableMenu=False)
        self.theme = theme
        self._columns: Callable[[], Columns] = dict
        self._read_out: Callable[[float, float], str] | None = None
        self.setAccessibleName(" over ".join(filter(None, (y_label, x_label))))
        self.setFrameShape(self.Shape.NoFrame)
        self.setBackground(None)
        self.setMinimumSize(80, 60)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        item = self.getPlotItem()
        item.hideButtons()
        item.setContentsMargins(0, 4, 4, 0)
        view = item.getViewBox()
        view.setMouseEnabled(pans_x, pans_y)
        view.setDefaultPadding(0.02)
        view.sigRangeChangedManually.connect(lambda *_: self.moved.emit())
        # Else the new range is taken over while painting, and all is painted a second time.
        view.sigRangeChanged.connect(lambda *_: view.prepareForPaint())
        # A cached background that is transparent is one more picture to lay beneath each painting.
        self.setCacheMode(self.CacheModeFlag.CacheNone)
        font = interface_font(CAPTION)
        for name, label in (("bottom", x_label), ("left", y_label)):
            axis = item.getAxis(name)
            axis.setStyle(tickFont=font, tickLength=-4, autoExpandTextSpace=True)
            axis.enableAutoSIPrefix(False)
            if label:
                axis.setLabel(label)
                axis.label.setFont(font)
        self._lines = [pg.InfiniteLine(angle=angle, movable=False) for angle in (90, 0)]
        self._words = pg.TextItem(anchor=(0, 1))
        self._words.setFont(font)
        for part in (*self._lines, self._words):
            part.setZValue(1000)
            part.setVisible(False)
            self.addItem(part, ignoreBounds=True)
        scene = self.scene()
        scene.sigMouseMoved.connect(self._point)
        scene.sigMouseClicked.connect(self._click)
        self.restyle(theme)

    # --- for panels ------------------------------------------------------------------------------

    def restyle(self, theme: Theme) -> None:
        """Take a theme's colours for axes, cross-hair and read-out."""
        self.theme = theme
        for name in ("bottom", "left"):
            axis = self.getPlotItem().getAxis(name)
            axis.setPen(pg.mkPen(theme.line))
            axis.setTextPen(pg.mkPen(theme.dim))
            if axis.labelText:
                is_shown = axis.label.isVisible()
                axis.setLabel(axis.labelText, color=theme.dim)  # which shows it
                axis.showLabel(is_shown)
        for line in self._lines:
            line.setPen(pg.mkPen(theme.dim, width=1, style=Qt.PenStyle.DotLine))
        self._words.setColor(QColor(theme.text))
        ground = QColor(theme.raised)
        ground.setAlpha(235)
        self._words.fill = pg.mkBrush(ground)
        self._words.border = pg.mkPen(theme.line)

    def set_columns(self, columns: Columns | Callable[[], Columns]) -> None:
        """What the plot shows, as equally long columns by their names; a function is asked when
        somebody copies."""
        self._columns = columns if callable(columns) else (lambda: columns)

    def set_read_out(self, read: Callable[[float, float], str] | None) -> None:
        """What the cross-hair says at (x, y); "" hides it. Without one it says x and y."""
        self._read_out = read

    # --- copying ---------------------------------------------------------------------------------

    def csv(self) -> str:
        """The columns with a line of names."""
        columns = self._columns()
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*[np.asarray(values).tolist() for values in columns.values()],
                             strict=True))  # fmt: skip
        return text.getvalue()

    def copy_csv(self) -> None:
        QGuiApplication.clipboard().setText(self.csv())

    def copy_image(self) -> None:
        """As it is seen, at the screen's resolution."""
        QGuiApplication.clipboard().setPixmap(self.grab())

    def save_image(self) -> None:
        path, _ = QFileDialog.getSaveFileName(self, "Save the plot", "plot.png", "PNG (*.png)")
        if path:
            self._write(path, lambda: self.grab().save(path))

    def save_csv(self) -> None:
        path, _ = QFileDialog.getSaveFileName(self, "Save the values", "plot.csv", "CSV (*.csv)")
        if path:
            text = self.csv()
            self._write(
                path, lambda: bool(Path(path).write_text(text, encoding="utf-8", newline=""))
            )

    def show_all(self) -> None:
        """Zoom to all there is."""
        self.getPlotItem().getViewBox().autoRange()
        self.moved.emit()

    def context_menu(self) -> QMenu:
        menu = QMenu(self)
        for text, keys, act in (
            ("Copy as image", "", self.copy_image),
            ("Copy as CSV", "Ctrl+C", self.copy_csv),
            ("Save image…", "", self.save_image),
            ("Save CSV…", "", self.save_csv),
            ("Show all", "Home", self.show_all),
        ):
            action = QAction(text, menu)
            if keys:
                action.setShortcut(QKeySequence(keys))
            action.triggered.connect(act)
            menu.addAction(action)
        return menu

    # --- Qt --------------------------------------------------------------------------------------

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        pop_up(self.context_menu(), event.globalPos())

    def keyPressEvent(self, event: Any) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_csv()
        elif event.key() == Qt.Key.Key_Home:
            self.show_all()
        else:
            super().keyPressEvent(event)

    def leaveEvent(self, event: Any) -> None:
        self._hide_cross()
        super().leaveEvent(event)

    # --- inside ----------------------------------------------------------------------------------

    def _write(self, path: str, write: Callable[[], bool]) -> None:
        """Say so where ``write`` cannot."""
        try:
            why = "" if write() else "the file could not be written"
        except OSError as error:
            why = error.strerror or str(error)
        if why:
            sentence = plain_tip(f"{path} was not saved: {why}.")
            QToolTip.showText(self.mapToGlobal(self.rect().center()), sentence, self)

    def _hide_cross(self) -> None:
        for part in (*self._lines, self._words):
            part.setVisible(False)

    def _point(self, position: QPointF) -> None:
        view = self.getPlotItem().getViewBox()
        if not view.sceneBoundingRect().contains(position):
            self._hide_cross()
            return
        point = view.mapSceneToView(position)
        x, y = point.x(), point.y()
        words = f"{x:.6g}, {y:.6g}" if self._read_out is None else self._read_out(x, y)
        if not words:
            self._hide_cross()
            return
        for line, value in zip(self._lines, (x, y), strict=True):
            line.setPos(value)
            line.setVisible(True)
        (x0, x1), (y0, y1) = view.viewRange()
        self._words.setText(words)
        self._words.setAnchor((1 if x > (x0 + x1) / 2 else 0, 0 if y > (y0 + y1) / 2 else 1))
        self._words.setPos(x, y)
        self._words.setVisible(True)

    def _click(self, event: Any) -> None:
        view = self.getPlotItem().getViewBox()
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        if not view.sceneBoundingRect().contains(event.scenePos()):
            return
        if event.double():
            self.show_all()
            return
        point = view.mapSceneToView(event.scenePos())
        self.clicked.emit(point.x(), point.y())
