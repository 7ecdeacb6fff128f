"""TransportBar: which moment is shown - follow, pause, scrub, step by step, at a speed - for live
and stored sessions alike. It moves the picture; the engine goes on behind it."""

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSlider,
    QStyle,
    QStyleOptionSlider,
    QToolButton,
    QWidget,
)

from sessions.metrics.landmarks import next_rejection, step_moment, worst_step
from sessions.playhead import Mode, resting_points, step_ends
from sessions.snapshot import Snapshot
from ui.bars.speed_box import SpeedBox
from ui.icons import icon
from ui.look import Look
from ui.moment import Moment
from ui.open_session import OpenSession
from ui.painting import guarded, painting
from ui.session_controller import SessionController
from ui.step.in_sight import window_up_to
from ui.step.looked_at import newest_step
from ui.view_state import ViewState

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0)
_POSITIONS = 100_000  # of the slider
_NEAR_NS = 1_000_000  # a bookmark so near is the one that is meant
_FRAMES_PER_TEXT = 6  # numbers change at 5 Hz


class ScrubBar(QSlider):
    """A slider that goes to where it is clicked, with marks at the bookmarks."""

    def __init__(self, look: Look) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._look = look
        self.marks: tuple[float, ...] = ()  # shares of the way
        self.setRange(0, _POSITIONS)
        self.setTracking(True)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self.width() > 14:
            share = (event.position().x() - 7) / (self.width() - 14)
            self.setSliderPosition(round(share * _POSITIONS))
        super().mousePressEvent(event)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.marks:
            return
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        groove = self.style().subControlRect(
            QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderGroove, self
        )
        with painting(self) as painter:
            painter.setPen(QPen(QColor(self._look.theme.warning), 2))
            for share in self.marks:
                x = round(groove.left() + 7 + share * (groove.width() - 14))
                painter.drawLine(QPoint(x, 2), QPoint(x, self.height() - 3))


class TransportBar(QWidget):
    """The bar under the picture. ``say`` is told what could not be done ("no rejection behind
    here")."""

    said = Signal(str)
    bookmarked = Signal()
    """A bookmark of the session that is shown was set or lifted."""

    def __init__(self, controller: SessionController, state: ViewState, look: Look) -> None:
        super().__init__()
        self._controller = controller
        self._state = state
        self._look = look
        self._moment: Moment | None = None
        self._frame = 0
        self._is_scrubbing = False
        self._buttons: dict[str, QToolButton] = {}
        self._icons: dict[str, str] = {}  # what each button shows
        line = QHBoxLayout(self)
        line.setContentsMargins(8, 2, 8, 8)
        line.setSpacing(6)
        for name, tip, act in (
            ("first", "To the beginning (Home)", self.go_first),
            ("back", "One step back (Left)", self.step_back),
            ("play", "Play from here, or pause the picture (Space)", self.toggle_play),
            ("forward", "One step on (Right)", self.step_forward),
            ("half-step", "To the next draft or commit (Shift+Right)", self.half_step),
            ("last", "To the newest moment (End)", self.go_last),
        ):
            line.addWidget(self._button(name, tip, act))
        for text, tip, act in (
            ("Next rejection", "To the next step with a rejection (N)", self.to_rejection),
            ("Worst step", "To the step that took longest per token (W)", self.to_worst),
        ):
            button = QPushButton(text)
            button.setToolTip(tip)
            button.clicked.connect(act)
            line.addWidget(button)
        tip = "Bookmark this moment, or lift it (B)"
        line.addWidget(self._button("bookmark", tip, self.bookmark))
        self.slider = ScrubBar(look)
        self.slider.setAccessibleName("Moment shown")
        self.slider.setToolTip("Which moment is shown: drag to scrub")
        self.slider.valueChanged.connect(self._slid)
        self.slider.sliderPressed.connect(lambda: self._scrub(True))
        self.slider.sliderReleased.connect(lambda: self._scrub(False))
        line.addWidget(self.slider, 1)
        self.step_chip, self.time_chip = QLabel("no steps"), QLabel("0:00.00")
        self.step_chip.setToolTip(
            "The newest step at the moment shown, counted from 0, and how many there are"
        )
        self.time_chip.setToolTip("Time since the session began, loading included")
        for chip in (self.step_chip, self.time_chip):
            chip.setObjectName("chip")
            line.addWidget(chip)
        self.speed = SpeedBox(SPEEDS)
        self.speed.list_closed.connect(self._buttons["play"].setFocus)  # so that Space plays
        self.speed.currentIndexChanged.connect(self._speed_chosen)
        line.addWidget(self.speed)
        self.follow = QPushButton("follow")
        self.follow.setCheckable(True)
        self.follow.setToolTip("Keep to the newest moment as it comes (F)")
        self.follow.clicked.connect(self.toggle_follow)
        line.addWidget(self.follow)
        state.token_wanted.connect(self._go_to_token)
        look.changed.connect(self._dress)
        self._dress()
        self.show_moment(None)

    # --- acts, for keys and buttons --------------------------------------------------------------

    def toggle_play(self) -> None:
        """Play from here at the speed chosen, or rest here."""
        playhead = self._controller.playhead
        if playhead is None:
            return
        shown = self._controller.shown
        if shown is not None and _is_moving(shown):
            playhead.pause()
            return
        if shown is not None and not shown.is_live and playhead.t_ns >= shown.end_ns:
            playhead.scrub(shown.begin_ns)  # at the end of a recording: once more
        playhead.play(speed=self.speed.currentData())

    def toggle_follow(self) -> None:
        playhead = self._controller.playhead
        if playhead is None:
            return
        if playhead.mode is Mode.FOLLOWING:
            playhead.pause()
        else:
            playhead.follow()
            self._state.look_at(None)
            self._state.select_step(None)

    def go_first(self) -> None:
        shown = self._controller.shown
        if shown is not None:
            self._scrub_to(shown, shown.begin_ns)

    def go_last(self) -> None:
        shown = self._controller.shown
        if shown is not None:
            shown.playhead.follow()
            self._keep_in_sight(shown.end_ns)

    def step_forward(self) -> None:
        self._step(1)

    def step_back(self) -> None:
        self._step(-1)

    def half_step(self) -> None:
        """To the next moment an engine that is paused would rest at."""
        shown = self._controller.shown
        if shown is None:
            return
        if not shown.playhead.step(resting_points(shown.newest())):
            self.said.emit("There is nothing behind this moment yet.")
        self._keep_in_sight(shown.playhead.t_ns)

    def to_rejection(self) -> None:
        self._go_to(next_rejection, "No rejection after this moment.")

    def to_worst(self) -> None:
        if self._go_to(_worst_moment, "There is no step yet.") and self._controller.shown:
            self.said.emit(_worst_words(self._controller.shown.newest()))

    def bookmark(self) -> None:
        """Keep this moment, or let it go."""
        shown = self._controller.shown
        if shown is None:
            return
        t_ns = shown.playhead.t_ns
        near = [mark for mark in shown.bookmarks if abs(mark - t_ns) < _NEAR_NS]
        shown.bookmarks = sorted(set(shown.bookmarks) ^ set(near or [t_ns]))
        self.bookmarked.emit()
        self.said.emit("Bookmark lifted." if near else "Bookmarked.")

    def to_bookmark(self, n: int = 1) -> None:
        """To the next bookmark, or with -1 to the one before."""
        shown = self._controller.shown
        if shown is None:
            return
        if not shown.playhead.step(np.array(shown.bookmarks, np.int64), n=n):
            self.said.emit("No bookmark there: B sets one.")
        self._keep_in_sight(shown.playhead.t_ns)

    def change_speed(self, n: int) -> None:
        """``n`` speeds faster or slower."""
        index = self.speed.currentIndex() + n
        self.speed.setCurrentIndex(min(max(index, 0), self.speed.count() - 1))

    # --- the clock's -----------------------------------------------------------------------------

    def show_moment(self, moment: Moment | None) -> None:
        """Follow what is shown; numbers change at 5 Hz."""
        self._moment = moment
        shown = self._controller.shown
        self.setEnabled(shown is not None)
        if shown is None or moment is None:
            self.step_chip.setText("no steps")
            self.time_chip.setText(clock_time(0))
            return
        begin, end = shown.begin_ns, max(shown.end_ns, shown.begin_ns + 1)
        self._frame += 1
        is_told = self._frame % _FRAMES_PER_TEXT == 0 or shown.playhead.mode is not Mode.FOLLOWING
        if not self._is_scrubbing and is_told:
            share = (shown.playhead.t_ns - begin) / (end - begin)
            self.slider.blockSignals(True)
            self.slider.setValue(round(min(max(share, 0.0), 1.0) * _POSITIONS))
            self.slider.blockSignals(False)
        marks = tuple(
            (mark - begin) / (end - begin) for mark in shown.bookmarks if begin <= mark <= end
        )
        if marks != self.slider.marks:
            self.slider.marks = marks
            self.slider.update()
        is_marked = any(abs(mark - shown.playhead.t_ns) < _NEAR_NS for mark in shown.bookmarks)
        self._set_icon("bookmark", "bookmark-set" if is_marked else "bookmark")
        mode = shown.playhead.mode
        self.follow.setChecked(mode is Mode.FOLLOWING)
        self._set_icon("play", "pause" if _is_moving(shown) else "play")
        if is_told:
            self._say_numbers(moment)

    # --- inside ----------------------------------------------------------------------------------

    def _say_numbers(self, moment: Moment) -> None:
        shown = self._controller.shown
        assert shown is not None
        here, last = newest_step(moment.snapshot), newest_step(moment.newest)
        n_steps = 0 if last is None else last + 1
        if here is not None:  # numbered from 0, as everywhere
            text = f"step {grouped(here)} ({grouped(n_steps)} step{'s' * (n_steps != 1)})"
        else:
            text = f"before the first of {grouped(n_steps)}" if n_steps else "no steps"
        self.step_chip.setText(text)
        self.time_chip.setText(clock_time(shown.playhead.t_ns))

    def _button(self, name: str, tip: str, act: Callable[[], None]) -> QToolButton:
        button = QToolButton()
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setObjectName(name)
        button.clicked.connect(act)
        self._buttons[name] = button
        return button

    def _set_icon(self, button: str, name: str) -> None:
        """Only where it is another: each change is painted."""
        if self._icons.get(button) != name:
            self._icons[button] = name
            self._buttons[button].setIcon(icon(name, self._look.theme))

    def _dress(self) -> None:
        self._icons.clear()
        for name in self._buttons:
            self._set_icon(name, name)

    def _scrub(self, is_scrubbing: bool) -> None:
        self._is_scrubbing = is_scrubbing

    def _slid(self, value: int) -> None:
        shown = self._controller.shown
        if shown is None:
            return
        begin, end = shown.begin_ns, shown.end_ns
        self._scrub_to(shown, begin + round((end - begin) * value / _POSITIONS))

    def _scrub_to(self, shown: OpenSession, t_ns: int) -> None:
        shown.playhead.scrub(t_ns)
        self._keep_in_sight(t_ns)

    def _keep_in_sight(self, t_ns: int) -> None:
        """A jump takes along a timeline that was zoomed: left behind, it would be empty."""
        window = window_up_to(t_ns, self._state.now.window_ns)
        if window is not None:
            self._state.look_at(window)

    def _speed_chosen(self, _index: int) -> None:
        playhead = self._controller.playhead
        if playhead is not None and playhead.mode is Mode.PLAYING:
            playhead.play(speed=self.speed.currentData())

    def _step(self, n: int) -> None:
        shown = self._controller.shown
        if shown is None:
            return
        if not shown.playhead.step(step_ends(shown.newest()), n=n):
            self.said.emit("There is no step after this." if n > 0 else "This is the first step.")
            return
        self._state.select_step(None)  # the step shown is the newest at the playhead
        self._keep_in_sight(shown.playhead.t_ns)

    def _go_to_token(self) -> None:
        """Show the moment at which the selected token's step was complete."""
        shown, token = self._controller.shown, self._state.now.token
        if shown is None or token is None:
            return
        t_ns = step_moment(shown.newest(), token.step)
        if t_ns is not None:
            self._scrub_to(shown, t_ns)

    def _go_to(self, find: Callable[[Snapshot, int], int | None], sentence: str) -> bool:
        """Whether there was such a moment; ``sentence`` is said where not."""
        shown = self._controller.shown
        if shown is None:
            return False
        t_ns = find(shown.newest(), shown.playhead.t_ns)
        if t_ns is None:
            self.said.emit(sentence)
            return False
        self._scrub_to(shown, t_ns)
        self._state.select_step(None)
        return True


def _is_moving(shown: OpenSession) -> bool:
    """Whether the picture changes by itself: it plays, or follows what still comes."""
    mode = shown.playhead.mode
    return mode is Mode.PLAYING or (mode is Mode.FOLLOWING and shown.is_live)


def _worst_moment(newest: Snapshot, _t_ns: int) -> int | None:
    worst = worst_step(newest)
    return None if worst is None else step_moment(newest, worst.step)


def _worst_words(newest: Snapshot) -> str:
    """By what it is the worst, and how bad."""
    worst = worst_step(newest)
    if worst is None:
        return ""
    took, n = grouped_ms(worst.ns), worst.n_committed
    tokens = f"{grouped(n)} token{'s' * (n != 1)}"
    return f"Step {grouped(worst.step)}: {took} for {tokens}, the most per token."


def grouped_ms(ns: int) -> str:
    """Milliseconds with a tenth, thousands apart."""
    return f"{ns / 1e6:,.1f} ms".replace(",", "\u202f")


def grouped(number: int) -> str:
    """Thousands apart by a thin space."""
    return f"{number:,}".replace(",", "\u202f")


def clock_time(ns: int) -> str:
    """Minutes, seconds and hundredths."""
    minutes, hundredths = divmod(round(ns / 1e7), 6000)
    return f"{minutes}:{hundredths / 100:05.2f}"
