"""LibraryForm: tags and notes of the session that is selected, kept when the field is left."""

from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QFormLayout, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from ui.library.library_rows import LibraryRow
from ui.plain_text import plain_label
from ui.theme import CAPTION, interface_font

_NOTES_LINES = 3


class LibraryForm(QWidget):
    """What a person writes is told when the field loses the keyboard, and never thrown away by
    the list being read again meanwhile."""

    tags_written = Signal(object, list)
    """The session's path, its tags."""
    notes_written = Signal(object, str)

    def __init__(self) -> None:
        super().__init__()
        self._row: LibraryRow | None = None
        self._facts = plain_label()
        self._facts.setProperty("dim", True)
        self._facts.setFont(interface_font(CAPTION))
        self._facts.setWordWrap(True)
        self.tags = QLineEdit()
        self.tags.setPlaceholderText("with commas between them")
        self.tags.setAccessibleName("Tags")
        self.tags.editingFinished.connect(self._tell_tags)
        self.notes = QPlainTextEdit()
        self.notes.setTabChangesFocus(True)
        self.notes.setAccessibleName("Notes")
        line = self.notes.fontMetrics().lineSpacing()
        self.notes.setFixedHeight(line * _NOTES_LINES + 18)
        self.notes.installEventFilter(self)
        fields = QFormLayout()
        fields.setContentsMargins(0, 0, 0, 0)
        fields.addRow("Tags", self.tags)
        fields.addRow("Notes", self.notes)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._facts)
        layout.addLayout(fields)
        self.show_row(None)

    @property
    def path(self) -> Path | None:
        return None if self._row is None else self._row.path

    @property
    def facts(self) -> str:
        return self._facts.text()

    def show_row(self, row: LibraryRow | None) -> None:
        """Show another session's, or the same one's as they are now."""
        is_other = row is None or self.path != row.path
        if is_other:
            self.keep()
        before, self._row = self._row, row
        self._facts.setText("" if row is None else row.problem or row.facts)
        can_write = row is not None and not row.is_broken and not row.is_recording
        for field in (self.tags, self.notes):
            field.setEnabled(can_write)
        tags, notes = ("", "") if row is None else (", ".join(row.tags), row.notes)
        if is_other or before is None or self.tags.text() == ", ".join(before.tags):
            self.tags.setText(tags)
        written = self.notes.toPlainText()
        is_untouched = is_other or before is None or written == before.notes
        if is_untouched and notes != written:
            self.notes.setPlainText(notes)

    def keep(self) -> None:
        """Tell what was written and not told yet."""
        self._tell_tags()
        self._tell_notes()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.notes and event.type() == QEvent.Type.FocusOut:
            self._tell_notes()
        return super().eventFilter(watched, event)

    def _tell_tags(self) -> None:
        row = self._row
        if row is None or not self.tags.isEnabled():
            return
        tags = [tag.strip() for tag in self.tags.text().split(",") if tag.strip()]
        if tuple(tags) != row.tags:
            self.tags_written.emit(row.path, tags)

    def _tell_notes(self) -> None:
        row = self._row
        if row is not None and self.notes.isEnabled() and self.notes.toPlainText() != row.notes:
            self.notes_written.emit(row.path, self.notes.toPlainText())
