"""MainWindow: the bars, the docks, the menus, and what is wired to what. No logic of its own."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QMainWindow,
    QStackedWidget,
    QVBoxLayout,
)

from engine.wire.config import RunConfig
from sessions.session_schema import SUFFIX
from ui.actions import install, sheet
from ui.bars.banner import Banner
from ui.bars.run_bar import RunBar
from ui.bars.toast import Toast
from ui.dialogs.run_dialog import RunDialog
from ui.dialogs.shortcut_sheet import ShortcutSheet
from ui.frame_clock import FrameClock
from ui.icons import application_icon
from ui.key_sharing import share_keys
from ui.layouts import PRESETS
from ui.look import CHOICES, Look
from ui.menu_table import add_cards, menu_table
from ui.moment import Moment
from ui.panels.base import Panel
from ui.preferences import Preferences
from ui.run_order import OrderedPrompt, RunOrder
from ui.session_controller import SessionController
from ui.start_page import StartPage
from ui.view_state import ViewState
from ui.window_fit import FRAMED_S, keep_in_sight, restore
from ui.window_paint import WindowPaint
from ui.workshop import Workshop

if TYPE_CHECKING:
    from ui.bars.transport_bar import TransportBar
    from ui.panels.library import LibraryPanel
    from ui.panels.planner import PlannerPanel
    from ui.stage import Stage

_FRAMES_BEFORE_STAGE = 10
"""A third of a second: then the start page has been painted, and nobody has clicked yet."""

PROMPTS_PER_KIND = 2
KIND_TOKENS = 160
"""What a start page's button decodes per prompt: a few seconds of watching."""


class MainWindow(QMainWindow):
    """One window; the sessions in it are the controller's."""

    closed = Signal()

    def __init__(self, workshop: Workshop, preferences: Preferences, look: Look) -> None:
        super().__init__()
        self.setWindowTitle("SpecScope")
        self.setWindowIcon(application_icon())
        self.setAcceptDrops(True)
        self.look = look
        self.preferences = preferences
        self._workshop = workshop
        self.state = ViewState()
        self.state.show_refused(preferences.values.shows_refused)
        self.controller = SessionController(workshop)
        self.clock = FrameClock(self, self.state, parent=self)
        self._paint = WindowPaint(self)
        self._stage: Stage | None = None
        self._compares_when_done = False  # several drafts are run one after the other
        self._n_frames = 0  # shown without a stage
        self._told_warning = ""
        self._build()
        self.acts = menu_table(self)
        self.actions_by_text = install(self, self.acts)
        share_keys(self)
        self._connect()
        restore(self, preferences.values.geometry)
        self.statusBar().setSizeGripEnabled(False)
        self.statusBar().hide()

    # --- the clock's scene -----------------------------------------------------------------------

    def advance(self, budget_ms: float) -> bool:
        return self.controller.advance(budget_ms)

    def moment(self) -> Moment | None:
        return self.controller.moment()

    def visible_panels(self) -> Sequence[Panel]:
        return () if self._stage is None else self._stage.visible_panels()

    def paint(self) -> None:
        self._paint.paint()

    # --- acts: what menus, keys and buttons call -------------------------------------------------

    def run_dialog(self) -> None:
        """Ask what to run."""
        dialog = RunDialog(self._workshop, self.look, self.preferences.values.order, parent=self)
        dialog.ordered.connect(self._run_dialog_done)
        dialog.open()

    def run(self, order: RunOrder) -> None:
        """Start a run and show it."""
        self.banner.hide()
        self.state.reset()
        self.controller.run(order)
        self._compares_when_done = len(order.configs) > 1
        self.lay_out(self.stage.layout_of_one)

    def run_again(self) -> None:
        """The last order once more."""
        if self.controller.order is not None:
            self.run(self.controller.order)

    def run_kind(self, kind: str) -> None:
        """The bundled pair on example prompts of a kind."""
        texts = self._workshop.prompts()[kind][:PROMPTS_PER_KIND]
        self._run_bundled([OrderedPrompt(text, label=kind) for text in texts])

    def run_prompt(self, text: str) -> None:
        self._run_bundled([OrderedPrompt(text)])

    def open_example(self) -> None:
        self.open_sessions([self._workshop.example()])

    def open_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(
            self, "Open a session", "", f"Sessions (*{SUFFIX});;All files (*)"
        )
        if path:
            self.open_sessions([Path(path)])

    def open_sessions(self, paths: Sequence[Path]) -> None:
        """Show stored sessions; several are compared."""
        self.banner.hide()
        if not self.controller.open(list(paths)):
            return
        self.state.reset()
        for session in self.controller.sessions:
            if session.path is not None and not session.bookmarks:
                session.bookmarks = list(self._kept_bookmarks(session.path))
        self.lay_out("compare" if len(paths) > 1 else self.stage.layout_of_one)

    def close_session(self) -> None:
        if self.controller.shown is not None:
            self.controller.close_session(self.controller.shown)

    def export(self, path: Path | None = None) -> None:
        """Export the session at ``path``, or that selected in the library, or that shown."""
        shown = self.controller.shown
        own = None if shown is None else shown.path
        path = path or (None if self._stage is None else self._stage.picked_session) or own
        if path is None:
            self.say("Only a recorded session can be exported: run with recording on.")
            return
        from ui.dialogs.export_dialog import ExportDialog  # with all exporters

        window_ns = self.state.now.window_ns if path == own else None
        dialog = ExportDialog(path, self.look, window_ns=window_ns, parent=self)
        self.clock.ticked.connect(dialog.tick)
        dialog.finished.connect(lambda _: self.clock.ticked.disconnect(dialog.tick))
        dialog.open()

    def show_start(self) -> None:
        self.pages.setCurrentWidget(self.start)
        self.start.look_around(self._workshop.look_around)

    def show_library(self) -> None:
        self.lay_out("sessions")

    def lay_out(self, key: str, *, is_fresh: bool = False) -> None:
        """Show the cards, in the preset ``key``."""
        self.stage.show_tabs(self.controller.sessions, self.controller.shown)
        self.pages.setCurrentWidget(self.stage)
        self.stage.lay_out(key, is_fresh=is_fresh)

    def reset_layout(self) -> None:
        """The preset in force as it is meant."""
        self.stage.reset_layout()

    def show_panel(self, key: str) -> None:
        """Bring a card to the front, wherever it is."""
        self.pages.setCurrentWidget(self.stage)
        self.stage.show_panel(key)

    def _laid_out(self, key: str) -> None:
        for preset in PRESETS:
            self.actions_by_text[preset.name].setChecked(preset.key == key)
        self.clock.forget()

    def choose_theme(self) -> None:
        """The next of system, dark, light."""
        place = (CHOICES.index(self.look.choice) + 1) % len(CHOICES)
        self.look.choose(CHOICES[place])
        self.preferences.values.theme = self.look.choice
        self.say(f"Theme: {self.look.choice}.")

    def toggle_refused(self) -> None:
        """Rejected and discarded tokens in the text, or not."""
        is_shown = not self.state.now.shows_refused
        self.state.show_refused(is_shown)
        self.preferences.values.shows_refused = is_shown

    def toggle_narrow(self) -> None:
        """Figures of the sequence that is looked at alone, or of all again."""
        self.stage.toggle_narrow()

    def shortcut_sheet(self) -> None:
        ShortcutSheet(sheet(self.acts), self).open()

    def say(self, sentence: str) -> None:
        """A word at the bottom that goes away by itself."""
        self.toast.say(sentence)

    def escape(self) -> None:
        """Let go: of the banner, of what is selected."""
        if self.banner.isVisible():
            self.banner.hide()
        else:
            self.state.select_step(None)

    # --- building --------------------------------------------------------------------------------

    def _build(self) -> None:
        self.run_bar = RunBar(self.controller, self.look)
        self.banner = Banner(self.look)
        self.start = StartPage(self.look)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.start)
        page = QFrame()
        outer = QVBoxLayout(page)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(self.run_bar)
        banner = QHBoxLayout()
        banner.setContentsMargins(8, 0, 8, 0)
        banner.addWidget(self.banner)
        outer.addLayout(banner)
        outer.addWidget(self.pages, 1)
        self.toast = Toast(page, self.clock.after)
        self.setCentralWidget(page)

    def _connect(self) -> None:
        controller, start = self.controller, self.start
        controller.problem_told.connect(self.banner.say)
        controller.noted.connect(partial(self.banner.say, kind="note"))
        controller.sessions_changed.connect(self._sessions_changed)
        self.clock.ticked.connect(self._ticked)
        self.state.evidence_wanted.connect(self.show_panel)
        self.run_bar.run_wanted.connect(self.run_dialog)
        self.run_bar.said.connect(self.say)
        start.example_wanted.connect(self.open_example)
        start.kind_wanted.connect(self.run_kind)
        start.prompt_wanted.connect(self.run_prompt)
        start.dialog_wanted.connect(self.run_dialog)
        start.open_wanted.connect(self.open_file)
        start.session_wanted.connect(lambda path: self.open_sessions([path]))
        start.library_wanted.connect(self.show_library)

    @property
    def stage(self) -> "Stage":
        """Made when it is first needed: the start page is painted before, and quickly."""
        if self._stage is None:
            self._stage = self._make_stage()
        return self._stage

    @property
    def transport(self) -> "TransportBar":
        return self.stage.transport

    def _make_stage(self) -> "Stage":
        from ui.stage import Stage  # with all panels and pyqtgraph: half a second

        stage = Stage(self.controller, self.state, self.look, self.preferences)
        self.pages.addWidget(stage)
        stage.transport.said.connect(self.say)
        stage.transport.bookmarked.connect(self._keep_bookmarks)
        stage.tab_chosen.connect(self._tab_chosen)
        stage.tab_closed.connect(self._tab_closed)
        stage.layout_changed.connect(self._laid_out)
        stage.library_made.connect(self._library_made)
        stage.planner_made.connect(self._planner_made)
        add_cards(self, stage.docks.values())
        return stage

    def _library_made(self, library: "LibraryPanel") -> None:
        library.opened.connect(lambda path: self.open_sessions([path]))
        library.compare_wanted.connect(self.open_sessions)
        library.export_wanted.connect(self.export)

    def _planner_made(self, planner: "PlannerPanel") -> None:
        planner.offer(self._workshop.model_folders())

    # --- what comes in ---------------------------------------------------------------------------

    def _ticked(self, moment: Moment | None) -> None:
        self.run_bar.show_moment(moment)
        if self._stage is not None:
            self._stage.show_moment(moment)
        elif self.isVisible():
            self._n_frames += 1
            if self._n_frames == _FRAMES_BEFORE_STAGE:
                self._stage = self._make_stage()
        self.start.tick()
        live = self.controller.live
        warning = "" if live is None or live.recording is None else live.recording.error
        if warning and warning != self._told_warning:
            self._told_warning = warning
            self.banner.say(f"The run goes on, but is not recorded: {warning}")

    def _sessions_changed(self) -> None:
        """Tabs for the open sessions; the page that fits."""
        sessions = self.controller.sessions
        self.clock.forget()
        if self._stage is not None:
            self._stage.show_tabs(sessions, self.controller.shown)
        if self._compares_when_done and not self.controller.is_running:
            self._compares_when_done = False
            if len(sessions) > 1:
                self.lay_out("compare")
        if not sessions and not self.controller.is_running:
            self.show_start()

    def _tab_chosen(self, index: int) -> None:
        sessions = self.controller.sessions
        if 0 <= index < len(sessions):
            self.state.reset()
            self.controller.show(sessions[index])

    def _tab_closed(self, index: int) -> None:
        sessions = self.controller.sessions
        if 0 <= index < len(sessions):
            self.controller.close_session(sessions[index])

    def _run_dialog_done(self, order: RunOrder, fields: dict[str, object]) -> None:
        self.preferences.values.order = fields
        self.run(order)

    def _run_bundled(self, prompts: Sequence[OrderedPrompt]) -> None:
        config = RunConfig(max_new_tokens=KIND_TOKENS)
        self.run(RunOrder(configs=(config,), prompts=tuple(prompts)))

    # --- remembering -----------------------------------------------------------------------------

    def _keep_bookmarks(self) -> None:
        """Those of the session that is shown, as soon as one is set or lifted."""
        shown, kept = self.controller.shown, self.preferences.values.bookmarks
        if shown is None or shown.path is None:
            return
        kept.pop(str(shown.path.absolute()), None)
        if shown.bookmarks:
            kept[str(shown.path.absolute())] = list(shown.bookmarks)

    def _kept_bookmarks(self, path: Path) -> Sequence[int]:
        return self.preferences.values.bookmarks.get(str(path.absolute()), ())

    # --- Qt --------------------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.clock.after(FRAMED_S, partial(keep_in_sight, self))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.toLocalFile().endswith(SUFFIX) for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls()]
        self.open_sessions([path for path in paths if path.suffix == SUFFIX])

    def closeEvent(self, event: QCloseEvent) -> None:
        """End everything; what was decoded is saved as it is."""
        for dialog in self.findChildren(QDialog):  # an export under way is cancelled
            dialog.done(0)
        if self._stage is not None:
            self._stage.keep_layout()
            self._stage.close_tasks()
        geometry = self.saveGeometry().toBase64().data()
        self.preferences.values.geometry = bytes(geometry).decode("ascii")
        try:
            self.preferences.save()
        finally:
            self.hide()
            self.clock.stop()
            self.start.close_tasks()
            self.controller.close()
        event.accept()
        self.closed.emit()
