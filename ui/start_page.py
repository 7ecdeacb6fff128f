"""StartPage: what the window shows before any session is open - run the bundled pair, open the
example, go on with a recent session, and what this machine has."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from sessions.library import LibraryEntry
from ui.background_task import BackgroundTask
from ui.icons import application_icon, icon
from ui.look import Look
from ui.plain_text import escaped, plain_label, plain_tip
from ui.session_title import session_title
from ui.tab_order import tab_through
from ui.theme import CAPTION, FIGURE, interface_font
from ui.workshop import Surroundings

KINDS = (
    ("json", "JSON", "records: the surest to guess"),
    ("code", "Code", "Python: mostly sure, with surprises"),
    ("prose", "Prose", "English: the hardest to guess"),
)
N_RECENT = 6


class StartPage(QScrollArea):
    """Cards in two columns, in the middle of the window."""

    example_wanted = Signal()
    kind_wanted = Signal(str)
    prompt_wanted = Signal(str)
    dialog_wanted = Signal()
    open_wanted = Signal()
    session_wanted = Signal(Path)
    library_wanted = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._task: BackgroundTask[Surroundings] | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is in it comes into sight by itself
        page = QWidget()
        page.setObjectName("page")
        outer = QHBoxLayout(page)
        outer.addStretch(1)
        column = QWidget()
        column.setMaximumWidth(980)
        outer.addWidget(column, 20)
        outer.addStretch(1)
        layout = QVBoxLayout(column)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(12)
        layout.addStretch(1)
        layout.addLayout(self._masthead())
        grid = QGridLayout()
        grid.setSpacing(10)
        grid.addWidget(self._run_card(), 0, 0)
        grid.addWidget(self._example_card(), 1, 0)
        grid.addWidget(self._recent_card(), 0, 1)
        grid.addWidget(self._machine_card(), 1, 1)
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 1)
        layout.addLayout(grid)
        layout.addStretch(2)
        self.setWidget(page)
        look.changed.connect(self._dress)
        self._dress()

    def look_around(self, look: Callable[[], Surroundings]) -> None:
        """Find out what there is, beside the picture: ``tick`` shows it."""
        if self._task is None:
            self._task = BackgroundTask(lambda *_: look(), name="surroundings")

    def tick(self) -> None:
        """Show what was found since; the clock's."""
        state = None if self._task is None else self._task.poll()
        if state is None or not state.is_over:
            return
        self._task = None
        if state.result is not None:
            self.show_recent(state.result.recent)
            self.show_machine(state.result.machine)

    def close_tasks(self) -> None:
        """Wait for the look around that is under way."""
        if self._task is not None:
            self._task.close()

    def show_recent(self, entries: Sequence[LibraryEntry]) -> None:
        """The newest sessions of the library; broken ones are left to the Sessions panel."""
        while (item := self._recent.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        readable = [entry for entry in entries if entry.summary is not None][:N_RECENT]
        lines = [self._recent_line(entry) for entry in readable]
        for line in lines:
            self._recent.addWidget(line)
        tab_through(self.open_button, *lines, self.library_button)
        if not readable:
            self._recent.addWidget(_dim("Nothing was recorded yet: runs appear here."))
        self._recent.addStretch(1)

    def show_machine(self, lines: Sequence[tuple[str, str]]) -> None:
        """What this machine has: names and words."""
        self._machine.setText(
            "<table cellspacing='0' cellpadding='2'>"
            + "".join(
                f"<tr><td style='padding-right:14px'><b>{escaped(name)}</b></td>"
                f"<td>{escaped(words)}</td></tr>"
                for name, words in lines
            )
            + "</table>"
        )

    # --- cards -----------------------------------------------------------------------------------

    def _masthead(self) -> QHBoxLayout:
        line = QHBoxLayout()
        picture = QLabel()
        picture.setPixmap(application_icon().pixmap(48, 48))
        title = QLabel("SpecScope")
        title.setFont(interface_font(FIGURE * 1.15, is_bold=True))
        words = _dim(
            "Decode with a draft and a target model, and see why it is fast or slow:\n"
            "every drafted token's fate, where a step's time goes, what it costs in memory."
        )
        text = QVBoxLayout()
        text.setSpacing(0)
        text.addWidget(title)
        text.addWidget(words)
        line.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        line.addSpacing(8)
        line.addLayout(text, 1)
        return line

    def _run_card(self) -> QFrame:
        card, layout = _card("Run the bundled pair")
        layout.addWidget(_dim("Two small models that ship with the program; nothing is fetched."))
        self.kind_buttons: dict[str, QPushButton] = {}
        for kind, name, words in KINDS:
            button = QPushButton(f"{name} — {words}")
            button.setStyleSheet("text-align: left;")
            button.clicked.connect(lambda _=False, kind=kind: self.kind_wanted.emit(kind))
            self.kind_buttons[kind] = button
            layout.addWidget(button)
        self.prompt = QLineEdit()
        self.prompt.setPlaceholderText("or a prompt of your own: def quicksort(items):")
        self.prompt.setAccessibleName("A prompt of your own")
        self.prompt.returnPressed.connect(self._own_prompt)
        layout.addWidget(self.prompt)
        self.dialog_button = QPushButton("Other models and settings…  Ctrl+R")
        self.dialog_button.clicked.connect(self.dialog_wanted)
        layout.addWidget(self.dialog_button)
        return card

    def _example_card(self) -> QFrame:
        card, layout = _card("Look at a recording")
        layout.addWidget(
            _dim("A session of the bundled pair on JSON, code and prose, recorded by the engine.")
        )
        line = QHBoxLayout()
        self.example_button = QPushButton("Open the example session")
        self.example_button.clicked.connect(self.example_wanted)
        self.open_button = QPushButton("Open a file…  Ctrl+O")
        self.open_button.clicked.connect(self.open_wanted)
        line.addWidget(self.example_button, 1)
        line.addWidget(self.open_button, 1)
        layout.addLayout(line)
        layout.addStretch(1)
        return card

    def _recent_card(self) -> QFrame:
        card, layout = _card("Recent sessions")
        self._recent = QVBoxLayout()
        self._recent.setSpacing(2)
        layout.addLayout(self._recent, 1)
        self.library_button = QPushButton("All sessions…  Ctrl+L")
        self.library_button.clicked.connect(self.library_wanted)
        layout.addWidget(self.library_button)
        return card

    def _machine_card(self) -> QFrame:
        card, layout = _card("This machine")
        self._machine = QLabel("looking…")
        self._machine.setTextFormat(Qt.TextFormat.RichText)
        self._machine.setWordWrap(True)
        self._machine.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout.addWidget(self._machine)
        layout.addStretch(1)
        return card

    def _recent_line(self, entry: LibraryEntry) -> "_Line":
        summary = entry.summary
        assert summary is not None
        when = datetime.fromtimestamp(entry.started_unix_ns / 1e9).strftime("%d %b %H:%M")
        line = _Line(session_title(summary), when)
        line.chosen.connect(lambda path=entry.path: self.session_wanted.emit(path))
        line.setToolTip(plain_tip(str(entry.path)))
        return line

    def _own_prompt(self) -> None:
        if self.prompt.text().strip():
            self.prompt_wanted.emit(self.prompt.text())

    def _dress(self) -> None:
        theme = self._look.theme
        for kind, button in self.kind_buttons.items():
            button.setIcon(icon(kind, theme))
        self.example_button.setIcon(icon("play", theme))
        self.open_button.setIcon(icon("open", theme))
        self.library_button.setIcon(icon("search", theme))
        self.dialog_button.setIcon(icon("settings", theme))


class _Line(QPushButton):
    """A session's name at the left, its time at the right; a name that is too long is cut."""

    chosen = Signal()

    def __init__(self, name: str, when: str) -> None:
        super().__init__()
        self._name = plain_label()
        self._whole = name
        time = _dim(when)
        time.setWordWrap(False)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(10, 4, 10, 4)
        layout.addWidget(self._name, 1)
        layout.addWidget(time)
        self.setMinimumHeight(time.sizeHint().height() + 12)
        self.setAccessibleName(f"{name}, {when}")
        self.clicked.connect(self.chosen)
        self._name.installEventFilter(self)
        self._name.setMinimumWidth(40)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._name.setText(
                self._name.fontMetrics().elidedText(
                    self._whole, Qt.TextElideMode.ElideMiddle, self._name.width()
                )
            )
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.chosen.emit()
            return
        super().keyPressEvent(event)


def _card(title: str) -> tuple[QFrame, QVBoxLayout]:
    card = QFrame()
    card.setObjectName("card")
    layout = QVBoxLayout(card)
    layout.setContentsMargins(14, 10, 14, 14)
    layout.setSpacing(7)
    name = QLabel(title.upper())
    name.setObjectName("title")
    name.setFont(interface_font(CAPTION, is_bold=True))
    layout.addWidget(name)
    return card, layout


def _dim(text: str) -> QLabel:
    label = plain_label(text)
    label.setProperty("dim", True)
    label.setWordWrap(True)
    return label
