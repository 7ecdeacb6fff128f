"""Stage: where a session is looked at - the open sessions' tabs, the tiles, the cards in their
layout, and the transport bar."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QMainWindow,
    QPushButton,
    QScrollArea,
    QTabBar,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from ui.bars.tile_row import TileRow
from ui.bars.transport_bar import TransportBar
from ui.card import CardDock
from ui.layouts import BY_KEY, arrange, keys_of, restore_arrangement, save_arrangement
from ui.look import Look
from ui.moment import Moment
from ui.open_session import OpenSession
from ui.panel_table import PANELS
from ui.panels.base import Panel
from ui.plain_text import plain_tip, without_mnemonic
from ui.preferences import Preferences
from ui.session_controller import SessionController
from ui.step.in_sight import window_with
from ui.step.looked_at import sequence_of
from ui.tab_order import tab_through
from ui.view_state import ViewState

if TYPE_CHECKING:
    from ui.panels.library import LibraryPanel

_NOT_OF_ONE = ("compare", "sessions")  # layouts that are not about one session

_FRAMES_TO_SHOW = 3
"""A card that is empty for so long, of a session that is not, has nothing to show."""

_FRAMES_TO_ORDER = 3
"""The window's widgets are hundreds to go through: first comes the picture, and cards that are made
one a frame are ordered once."""


class Stage(QWidget):
    """Cards lie as the preset in force has them, or as they were left."""

    layout_changed = Signal(str)
    library_made = Signal(object)  # LibraryPanel
    planner_made = Signal(object)  # PlannerPanel
    tab_chosen = Signal(int)
    tab_closed = Signal(int)

    def __init__(
        self,
        controller: SessionController,
        state: ViewState,
        look: Look,
        preferences: Preferences,
    ) -> None:
        super().__init__()
        self.setObjectName("stage")
        self._controller = controller
        self._preferences = preferences
        self._laid_out = ""  # the preset in force; "" before the first
        self._frames_to_order = 0  # until Tab's order is laid anew; 0: it lies
        self._library: LibraryPanel | None = None  # once it is made
        self._moment: Moment | None = None
        self._n_waited = 0  # frames, for the first card to show something
        self.tiles = TileRow(state, look)
        self.transport = TransportBar(controller, state, look)
        self.tabs = QTabBar()
        self.tabs.setAccessibleName("Open sessions")
        self.tabs.setExpanding(False)
        self.tabs.setTabsClosable(True)
        self.tabs.setElideMode(Qt.TextElideMode.ElideMiddle)
        self.tabs.currentChanged.connect(self.tab_chosen)
        self.tabs.tabCloseRequested.connect(self.tab_closed)
        self.tabs.hide()
        self.narrowed = QPushButton()
        self.narrowed.setToolTip("Let figures be of the whole session again (O)")
        self.narrowed.clicked.connect(lambda: state.narrow(None))
        self.narrowed.hide()
        self._state = state
        state.changed.connect(self._say_narrowed)
        state.changed.connect(self._bring_into_sight)
        self._step: int | None = None  # that was last brought into sight
        self.host = QMainWindow()
        self.host.setObjectName("stage")
        self.host.setWindowFlags(Qt.WindowType.Widget)
        self.host.setDockNestingEnabled(True)
        self.host.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.docks = {listed.key: CardDock(listed, state, look) for listed in PANELS}
        self.docks["sessions"].made.connect(self._library_made)
        self.docks["planner"].made.connect(lambda made: self.planner_made.emit(made))
        for dock in self.docks.values():
            dock.made.connect(self._order_soon)
            dock.reset_wanted.connect(self.reset_layout)
            self.host.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
            dock.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        open_sessions = QHBoxLayout()
        open_sessions.setContentsMargins(8, 0, 8, 0)
        open_sessions.addWidget(self.tabs)
        column.addLayout(open_sessions)
        column.addWidget(self.narrowed, 0, Qt.AlignmentFlag.AlignHCenter)
        self.area = _scrolled(self.host)
        for widget, stretch in ((self.tiles, 0), (self.area, 1)):
            line = QHBoxLayout()
            line.setContentsMargins(8, 4, 8, 4)
            line.addWidget(widget)
            column.addLayout(line, stretch)
        column.addWidget(self.transport)

    @property
    def layout_key(self) -> str:
        """The preset in force."""
        return self._laid_out

    @property
    def layout_of_one(self) -> str:
        """The preset one session is looked at in: the last one that was, else Watch."""
        kept = self._laid_out or self._preferences.values.layout
        return kept if kept in BY_KEY and kept not in _NOT_OF_ONE else "watch"

    @property
    def picked_session(self) -> Path | None:
        """The one session that is selected in the library, where that is seen."""
        if self._library is None or not self.docks["sessions"].is_seen:
            return None
        return self._library.picked

    def visible_panels(self) -> Sequence[Panel]:
        """Those of which something can be seen. A panel takes a frame to make: one is made at a
        time, so that a change of layout does not stop the picture. The first card of a session is
        seen before any other is made: with the first plot comes a whole library."""
        seen: list[Panel] = [self.tiles] if self.tiles.isVisible() else []
        made = [dock for dock in self.docks.values() if dock.is_made and dock.is_seen]
        may_make = not made or self._has_shown(made)
        for dock in self.docks.values():
            if dock.is_seen and (dock.is_made or may_make):
                may_make = may_make and dock.is_made
                seen.append(dock.panel)
        return seen

    def _has_shown(self, made: Sequence[CardDock]) -> bool:
        """Whether one of the cards that are made shows something, or had the time to."""
        shown = self._controller.shown
        if shown is None or any(not dock.panel.is_empty for dock in made):
            self._n_waited = _FRAMES_TO_SHOW
        elif not shown.is_blank:
            self._n_waited += 1
        else:
            self._n_waited = 0
        return self._n_waited >= _FRAMES_TO_SHOW

    def show_moment(self, moment: Moment | None) -> None:
        """What is no panel follows: once a frame."""
        self._moment = moment
        self.transport.show_moment(moment)
        if self._frames_to_order:
            self._frames_to_order -= 1
            if not self._frames_to_order:
                self._order_tabs()
        if self._library is not None:
            self._library.tick()
        if self._controller.shown is None:  # nothing is looked at: there is time
            self._load_one()

    def _load_one(self) -> None:
        """So that the first session opens without loading anything."""
        waiting = (dock for dock in self.docks.values() if not dock.is_loaded)
        dock = next(waiting, None)
        if dock is not None:
            dock.load()

    def close_tasks(self) -> None:
        """End what the library does beside the picture."""
        if self._library is not None:
            self._library.close_tasks()

    def toggle_narrow(self) -> None:
        """Figures of the sequence that is looked at alone, or of all again."""
        view, moment = self._state.now, self._moment
        if view.only_sequence_id is not None or moment is None:
            self._state.narrow(None)
        else:
            self._state.narrow(sequence_of(moment.snapshot, view))

    def _bring_into_sight(self) -> None:
        """A step that was selected is looked at in the timeline, too."""
        view = self._state.now
        if view.step == self._step:
            return
        self._step = view.step
        if view.step is not None and self._moment is not None:
            window = window_with(self._moment.newest, view.step, view.window_ns)
            if window is not None:
                self._state.look_at(window)

    def _say_narrowed(self) -> None:
        only = self._state.now.only_sequence_id
        self.narrowed.setVisible(only is not None)
        self.narrowed.setText(f"Figures are of sequence {only} alone: show all")

    def _library_made(self, library: "LibraryPanel") -> None:
        self._library = library
        self.library_made.emit(library)

    def lay_out(self, key: str, *, is_fresh: bool = False) -> None:
        """Lay the cards out as preset ``key`` was left, or as it is meant if ``is_fresh``."""
        self.keep_layout()
        layouts = self._preferences.values.layouts
        kept = "" if is_fresh else layouts.get(key, "")
        if not kept or not restore_arrangement(self.host, kept):
            arrange(self.host, self.docks, BY_KEY[key])
        self._laid_out = self._preferences.values.layout = key
        self._order_soon()
        self.layout_changed.emit(key)

    def _order_soon(self, _made: object = None) -> None:
        self._frames_to_order = _FRAMES_TO_ORDER

    def _order_tabs(self) -> None:
        """Tab goes through the cards as they are read, whichever was made first."""
        if self._laid_out:
            cards = [self.docks[key] for key in keys_of(BY_KEY[self._laid_out].tree)]
            tab_through(self.tabs, self.tiles, *cards, self.transport)

    def reset_layout(self) -> None:
        """The preset in force as it is meant."""
        key = self._laid_out or "watch"
        self._laid_out = ""  # so that how it was left is not kept
        self._preferences.values.layouts.pop(key, None)
        self.lay_out(key, is_fresh=True)

    def keep_layout(self) -> None:
        """Remember how the cards lie."""
        if self._laid_out and self.isVisible():
            self._preferences.values.layouts[self._laid_out] = save_arrangement(self.host)

    def show_panel(self, key: str) -> None:
        """Bring a card to the front and into sight, wherever it is."""
        dock = self.docks.get(key)
        if dock is None:
            return
        if dock.isHidden():  # in front of the largest card: there is room for it
            seen = [each for each in self.docks.values() if each.is_seen and not each.isFloating()]
            if seen:
                largest = max(seen, key=lambda each: each.width() * each.height())
                self.host.tabifyDockWidget(largest, dock)
        dock.show()
        dock.raise_()
        if not dock.isFloating():
            self.area.ensureWidgetVisible(dock)

    def show_tabs(self, sessions: Sequence[OpenSession], shown: OpenSession | None) -> None:
        """A tab for each open session; none for one alone."""
        self.tabs.blockSignals(True)
        while self.tabs.count():
            self.tabs.removeTab(0)
        for each in sessions:
            index = self.tabs.addTab(without_mnemonic(each.name))
            self.tabs.setTabToolTip(index, plain_tip(str(each.path or each.name)))
        places = [place for place, each in enumerate(sessions) if each is shown]
        if places:
            self.tabs.setCurrentIndex(places[0])
        self.tabs.setVisible(len(sessions) > 1)
        self.tabs.blockSignals(False)


def _scrolled(host: QMainWindow) -> QScrollArea:
    """The cards, to be scrolled where there is less room than they need: else they would lie over
    one another, or press the bars out of the window."""
    area = QScrollArea()
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidgetResizable(True)
    area.setWidget(host)
    return area
