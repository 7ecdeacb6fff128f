"""ExportDialog: a session as a file for other programs, all of it or a part."""

from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QCloseEvent, QDesktopServices
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from sessions.export import EXPORTERS
from sessions.library import Library
from sessions.session_errors import SessionFileError
from ui.dialogs.export_choice import FormatChoice, PartChoice
from ui.export_job import ExportJob, ExportState
from ui.key_sharing import share_keys
from ui.look import Look
from ui.plain_text import plain_label
from ui.theme import CAPTION, interface_font
from ui.typed_path import PathError, path_problem, typed_path

_MB = 1e6


class ExportDialog(QDialog):
    """``tick`` has to be called once a frame while it is open."""

    def __init__(
        self,
        path: Path,
        look: Look,
        *,
        window_ns: tuple[int, int] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"Export {path.stem}")
        self.setMinimumWidth(460)
        self._path, self._look = path, look
        self._job: ExportJob | None = None
        self._n_events = _count_events(path)
        self._written: Path | None = None
        self.formats = FormatChoice()
        self.part = PartChoice(window_ns)
        self.file = QLineEdit()
        self.file.setAccessibleName("File to write")
        self.choose = QPushButton("Choose…")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.words = plain_label()
        self.words.setWordWrap(True)
        self.start = QPushButton("Export")
        self.start.setProperty("primary", True)
        self.leave = QPushButton("Close")
        self.reveal = QPushButton("Show in its folder")
        self._lay_out()
        for button in (self.choose, self.leave, self.reveal):
            button.setAutoDefault(False)
        self.start.setDefault(True)  # once it is in the dialog
        share_keys(self)
        self.file.setText(str(Path.home() / f"{path.stem}{self.formats.extension}"))
        self.formats.chosen.connect(self._format_chosen)
        self.part.changed.connect(self._check)
        self.file.textChanged.connect(self._check)
        self.choose.clicked.connect(self._choose_file)
        self.start.clicked.connect(self.begin)
        self.leave.clicked.connect(self.reject)
        self.reveal.clicked.connect(self._reveal)
        self._show_idle()
        self._format_chosen()

    # --- what is done ----------------------------------------------------------------------------

    @property
    def out(self) -> Path:
        """The file to write, as it was typed where that is no path."""
        text = self.file.text().strip()
        try:
            return typed_path(text)
        except PathError:
            return Path(text)

    @property
    def is_running(self) -> bool:
        return self._job is not None

    def begin(self) -> None:
        """Write the file, on a thread."""
        if self._job is not None or not self.start.isEnabled():
            return
        options = self.part.options(is_timeline=self.formats.exporter.is_timeline)
        self._job = ExportJob(self._path, self.out, name=self.formats.name, options=options)
        self._written = None
        self.bar.setRange(0, max(1, self._n_events))
        self.bar.setValue(0)
        self._say("Writing…")
        self._show_running(True)

    def tick(self) -> None:
        """Show how far it is."""
        if self._job is None:
            return
        state = self._job.poll()
        self.bar.setValue(min(state.n_events, self.bar.maximum()))
        if state.is_over:
            self._end(state)
        elif state.is_stopping:
            self._say("Cancelling…")
        else:
            self._say(f"{state.n_events:,} of {self._n_events:,} events")

    def reject(self) -> None:
        """Cancel what runs; otherwise close."""
        if self._job is not None:
            self._job.cancel()
            return
        super().reject()

    def done(self, result: int) -> None:
        if self._job is not None:
            self._job.close()
            self._job = None
        super().done(result)

    def closeEvent(self, event: QCloseEvent) -> None:
        """The window's own cross ends the export, too."""
        if self._job is not None:
            self._job.close()
            self._job = None
        super().closeEvent(event)

    # --- inside ----------------------------------------------------------------------------------

    def _end(self, state: ExportState) -> None:
        job = self._job
        assert job is not None
        job.close()
        self._job = None
        self._show_running(False)
        if state.is_written:
            self._written = job.out
            size = f"{state.n_bytes / _MB:,.1f} MB" if state.n_bytes >= _MB else (
                f"{state.n_bytes:,} bytes"
            )  # fmt: skip
            self._say(f"Written: {job.out} ({size}).")
        elif state.is_cancelled:
            self._say("Cancelled: nothing was written.")
        else:
            self._say(state.problem, is_error=True)
        self.reveal.setVisible(state.is_written)
        self._check(keeps_words=True)

    def _check(self, *_: object, keeps_words: bool = False) -> None:
        """Whether it can begin; if not, why."""
        if self._job is not None:
            return
        out, problem = self.out, self.part.problem
        if not self.formats.exporter.is_available:
            problem = f"{self.formats.name} needs the package {self.formats.exporter.needs}."
        elif not self.file.text().strip():
            problem = "Name a file to write."
        elif wrong := path_problem(self.file.text().strip()):
            problem = wrong
        elif out.is_dir():
            problem = f"{out} is a folder: name a file."
        elif not out.parent.is_dir():
            problem = f"There is no folder {out.parent}."
        self.start.setEnabled(not problem)
        is_there = not problem and out.exists()
        self.start.setText("Replace" if is_there else "Export")
        if not keeps_words:
            self.reveal.hide()
            self._say(problem or (f"{out.name} exists already." if is_there else ""))

    def _format_chosen(self) -> None:
        out, ending = self.out, self.formats.extension
        known = next((e for e in _ENDINGS if out.name.endswith(e)), out.suffix)
        if out.name:
            stem = out.name[: len(out.name) - len(known)] if known else out.name
            self.file.setText(str(out.with_name(f"{stem}{ending}")))
        self.part.set_timeline(self.formats.exporter.is_timeline)
        self._check()

    def _choose_file(self) -> None:
        ending = self.formats.extension
        name, _ = QFileDialog.getSaveFileName(
            self, "Export to", self.file.text(), f"{self.formats.name} (*{ending});;All files (*)"
        )
        if name:
            self.file.setText(name if Path(name).suffix else name + ending)

    def _reveal(self) -> None:
        if self._written is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._written.parent)))

    def _say(self, text: str, *, is_error: bool = False) -> None:
        theme = self._look.theme
        self.words.setText(f"⚠ {text}" if is_error else text)
        self.words.setStyleSheet(f"color: {theme.rejected if is_error else theme.text};")

    def _show_idle(self) -> None:
        self._show_running(False)
        self.reveal.hide()

    def _show_running(self, is_running: bool) -> None:
        self.bar.setVisible(is_running)
        for widget in (self.formats, self.part, self.file, self.choose, self.start):
            widget.setEnabled(not is_running)
        self.leave.setText("Cancel" if is_running else "Close")
        if is_running:
            self.reveal.hide()

    def _lay_out(self) -> None:
        page = QVBoxLayout(self)
        page.setContentsMargins(18, 16, 18, 16)
        page.setSpacing(8)
        for title, widget in (("FORMAT", self.formats), ("WHAT", self.part)):
            page.addWidget(_heading(title))
            page.addWidget(_carded(widget))
        page.addWidget(_heading("FILE"))
        line = QHBoxLayout()
        line.addWidget(self.file, 1)
        line.addWidget(self.choose)
        page.addLayout(line)
        page.addWidget(self.words)
        page.addWidget(self.bar)
        page.addStretch(1)
        buttons = QHBoxLayout()
        buttons.addWidget(self.reveal)
        buttons.addStretch(1)
        buttons.addWidget(self.leave)
        buttons.addWidget(self.start)
        page.addLayout(buttons)


_ENDINGS = sorted({exporter.extension for exporter in EXPORTERS.values()} | {".json.gz"},
                  key=len, reverse=True)  # fmt: skip


def _count_events(path: Path) -> int:
    """How many events there are to write; 0 where that cannot be told."""
    try:
        with Library().open(path) as file:
            return file.summary().counts.n_events
    except SessionFileError:  # told when it is exported
        return 0


def _heading(text: str) -> QLabel:
    label = QLabel(text)
    label.setObjectName("title")
    label.setFont(interface_font(CAPTION, is_bold=True))
    return label


def _carded(widget: QWidget) -> QFrame:
    card = QFrame()
    card.setObjectName("card")
    layout = QVBoxLayout(card)
    layout.setContentsMargins(11, 8, 11, 8)
    layout.addWidget(widget)
    return card
