"""LibraryPanel: all recorded sessions, to be found, named, opened, compared and let go."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QUrl, Signal
from PySide6.QtGui import (
    QDesktopServices,
    QDragEnterEvent,
    QDropEvent,
    QHideEvent,
    QKeySequence,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QFileDialog,
    QMenu,
    QWidget,
)

from sessions.library import Library
from sessions.session_schema import SUFFIX
from ui.bars.note_line import NoteLine
from ui.library.library_bar import LibraryBar
from ui.library.library_desk import LibraryDesk, Listing, Outcome
from ui.library.library_form import LibraryForm
from ui.library.library_rows import Column, LibraryRow
from ui.library.library_table import LibraryTable
from ui.look import Look
from ui.menus import pop_up
from ui.moment import Moment, View
from ui.panels.base import Panel
from ui.plain_text import plain_label
from ui.view_state import ViewState

MAX_COMPARED = 4
NO_SESSIONS = "No sessions yet. Run something with recording on, or drop session files here."
NO_MATCH = (
    "No session matches \u201c{}\u201d in its name, tags, notes or models. The cross "
    "in the search field shows all again."
)
_FORM_FROM_PX = 300
"""Lower than this there is room for the table alone."""


class LibraryPanel(Panel):
    key = "sessions"
    title = "Sessions"
    reads = ()
    hint = "All recorded sessions will be listed here. The library is being read."
    explanation = (
        "The files of the library, as they are on the disk.\n"
        "tokens/s: committed / time in steps. acceptance: accepted / (accepted + rejected).\n"
        "Enter opens, F2 renames, Shift+F2 tags, Delete deletes (Undo brings back), Ctrl+F "
        "searches."
    )

    opened = Signal(object)
    """The path of a session to be shown."""
    compare_wanted = Signal(list)
    """The paths of two to four sessions to be shown side by side."""
    export_wanted = Signal(object)

    def __init__(
        self,
        state: ViewState,
        look: Look,
        parent: QWidget | None = None,
        *,
        library: Library | None = None,
    ) -> None:
        self.desk = LibraryDesk(library or Library())
        super().__init__(state, look, parent)
        self.setAcceptDrops(True)

    # --- the two halves --------------------------------------------------------------------------

    def digest(  # type: ignore[override]  # of a library, not of a moment
        self, moment: Moment | None = None, view: View | None = None
    ) -> Listing | None:
        """What was last read of the library; whatever the moment is."""
        return self.desk.listing

    def draw(self, digest: Listing) -> None:
        if not self.table.is_editing:
            self.table.show_rows(digest.rows)
            self._show_picked()
        if digest.problem:
            self.note.say(digest.problem, is_error=True)
        self._count()

    # --- the clock's -----------------------------------------------------------------------------

    def tick(self) -> None:
        """Called once a frame: collect what was read and done."""
        for outcome in self.desk.tick(is_seen=self.isVisible()):
            self._tell(outcome)
        if self.desk.listing is not self.digested and not self.table.is_editing:
            self.show_digest(self.desk.listing)

    def close_tasks(self) -> None:
        """Keep what was written, finish what was asked, delete for good what was deleted."""
        self.form.keep()
        self.desk.close()

    # --- building --------------------------------------------------------------------------------

    def build(self) -> None:
        self.bar = LibraryBar(n_compared=MAX_COMPARED)
        self.note = NoteLine(self.look)
        self.table = LibraryTable(self.look)
        self.table.setAccessibleName("Recorded sessions")
        self._empty = plain_label(NO_SESSIONS)
        self._empty.setProperty("dim", True)
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.form = LibraryForm()
        self.body.addWidget(self.bar)
        self.body.addWidget(self.note)
        self.body.addWidget(self._empty, 1)
        self.body.addWidget(self.table, 1)
        self.body.addWidget(self.form)
        self._wire()
        self.restyle()

    def restyle(self) -> None:
        self.bar.restyle(self.theme)

    def _wire(self) -> None:
        bar = self.bar
        bar.search.textChanged.connect(self._search)
        bar.open.clicked.connect(self._open)
        bar.compare.clicked.connect(self._compare)
        bar.tags.clicked.connect(self.table.edit_tags)
        bar.more.clicked.connect(lambda: self._menu_at(bar.more.rect().bottomLeft(), bar.more))
        self.table.picked.connect(self._show_picked)
        self.table.doubleClicked.connect(lambda _: self._open())
        self.table.model_.edited.connect(self._edited)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(
            lambda place: self._menu_at(place, self.table.viewport())
        )
        self.form.tags_written.connect(self.desk.set_tags)
        self.form.notes_written.connect(self.desk.set_notes)
        self.form.setVisible(False)
        for keys, act in (
            ("Return", self._open),
            ("Enter", self._open),
            ("Del", self._delete),
            ("F2", self.table.edit_name),
            ("Shift+F2", self.table.edit_tags),
        ):
            shortcut = QShortcut(QKeySequence(keys), self.table)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(act)
        find = QShortcut(QKeySequence("Ctrl+F"), self)
        find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.activated.connect(bar.to_search)

    # --- what is done ----------------------------------------------------------------------------

    def _open(self) -> None:
        picked = self.table.selected()
        if len(picked) == 1:
            self.opened.emit(picked[0].path)
        elif picked:
            self._compare()

    def _compare(self) -> None:
        picked = [row for row in self.table.selected() if not row.is_broken]
        if 2 <= len(picked) <= MAX_COMPARED:
            self.compare_wanted.emit([row.path for row in picked])

    def _delete(self) -> None:
        picked = self.table.selected()
        if picked:
            self.form.keep()
            self.desk.delete([row.path for row in picked])

    @property
    def picked(self) -> Path | None:
        """The one session that is selected."""
        picked = self.table.selected()
        return picked[0].path if len(picked) == 1 else None

    def _export(self) -> None:
        if self.picked is not None:
            self.export_wanted.emit(self.picked)

    def _reveal(self) -> None:
        picked = self.table.selected()
        folder = picked[0].path.parent if picked else self.desk.library.folder
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

    def _import(self) -> None:
        names, _ = QFileDialog.getOpenFileNames(
            self, "Import sessions", "", f"Sessions (*{SUFFIX});;All files (*)"
        )
        self.import_files([Path(name) for name in names])

    def import_files(self, paths: Sequence[Path]) -> None:
        """Copy these into the library, one after the other."""
        for path in paths:
            self.desk.import_file(path)
        if paths:
            self.note.say(f"Importing {paths[0].name}…" if len(paths) == 1 else "Importing…")

    def _edited(self, path: Path, column: int, text: str) -> None:
        if column == Column.NAME:
            self.desk.rename(path, text)
        else:
            self.desk.set_tags(path, text.split(","))

    def _tell(self, outcome: Outcome) -> None:
        if outcome.sentence:
            self.note.say(
                outcome.sentence,
                is_error=outcome.is_error,
                action="Undo" if outcome.deleted else "",
                act=lambda: self.desk.restore(outcome.deleted),
            )

    # --- what is shown ---------------------------------------------------------------------------

    def _search(self, text: str) -> None:
        self.table.sieve.search(text)
        self._count()

    def _count(self) -> None:
        n, n_shown = len(self.table.model_.rows), self.table.sieve.rowCount()
        words = f"{n:,} session{'' if n == 1 else 's'}"
        self.noted.emit(words if n_shown == n else f"{n_shown:,} of {words}")
        searched = self.bar.search.text().strip()
        self._empty.setText(NO_MATCH.format(searched) if n else NO_SESSIONS)
        self._empty.setVisible(not n_shown)
        self.table.setVisible(bool(n_shown))

    def _show_picked(self) -> None:
        picked = self.table.selected()
        sound = [row for row in picked if not row.is_broken]
        self.bar.open.setEnabled(len(picked) == 1)
        can_write = len(picked) == 1 and not picked[0].is_broken and not picked[0].is_recording
        self.bar.tags.setEnabled(can_write)
        self.bar.compare.setEnabled(2 <= len(sound) <= MAX_COMPARED)
        row: LibraryRow | None = picked[0] if len(picked) == 1 else None
        self.form.show_row(row)
        self.form.setVisible(row is not None and self.height() >= _FORM_FROM_PX)

    def menu(self) -> QMenu:
        """What can be done with what is selected."""
        picked = self.table.selected()
        n = len(picked)
        is_sound = n == 1 and not picked[0].is_broken
        is_kept = not any(row.is_recording for row in picked)
        menu = QMenu(self)
        for text, act, is_possible in (
            ("Open\tEnter", self._open, n == 1),
            ("Compare", self._compare, self.bar.compare.isEnabled()),
            ("Rename\tF2", self.table.edit_name, is_sound and is_kept),
            ("Tags…\tShift+F2", self.table.edit_tags, is_sound and is_kept),
            ("Export…", self._export, is_sound),
            ("Show in its folder", self._reveal, n <= 1),
            ("Delete\tDel", self._delete, n > 0 and is_kept),
            ("Import…", self._import, True),
        ):
            action = menu.addAction(text)
            action.triggered.connect(lambda _=False, act=act: act())
            action.setEnabled(is_possible)
        return menu

    def _menu_at(self, place: QPoint, widget: QWidget) -> None:
        pop_up(self.menu(), widget.mapToGlobal(place))

    # --- Qt --------------------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        self.desk.look()
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        self.form.keep()
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.bar.fit(self.width())
        self._show_picked()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _dropped(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self.import_files(_dropped(event))


def _dropped(event: QDropEvent) -> list[Path]:
    urls = event.mimeData().urls()
    return [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]
