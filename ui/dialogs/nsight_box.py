"""NsightBox: the run under Nsight Systems, and lines to copy for a terminal and Nsight Compute."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from engine.wire.config import ConfigError
from engine.wire.nsight import NSYS_MISSING, PHASES, REPORT_SUFFIX
from ui.command_line import ncu_line, report_problem, run_line
from ui.plain_text import plain_label
from ui.run_order import RunOrder
from ui.theme import CAPTION, interface_font
from ui.typed_path import PathError, typed_path


class NsightBox(QWidget):
    """A report to be written, where ``nsys`` is there to write it; and what to copy."""

    changed = Signal()

    def __init__(self, order: Callable[[], RunOrder]) -> None:
        super().__init__()
        self._order = order
        self.capture = QCheckBox("Capture decoding with Nsight Systems into")
        self.report = QLineEdit()
        self.report.setPlaceholderText(f"report{REPORT_SUFFIX}")
        self.browse = QPushButton("File…")
        self.browse.setAutoDefault(False)
        self.browse.clicked.connect(self._browse)
        self.words = plain_label()
        self.words.setProperty("dim", True)
        self.words.setFont(interface_font(CAPTION))
        self.words.setWordWrap(True)
        self.copy = QToolButton()
        self.copy.setText("Copy as command ▾")
        self.copy.setToolTip("The command line of this run, for a terminal or for Nsight Compute")
        self.copy.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.copy.setMenu(self._menu())
        line = QHBoxLayout()
        for widget, stretch in ((self.capture, 0), (self.report, 1), (self.browse, 0),
                                (self.copy, 0)):  # fmt: skip
            line.addWidget(widget, stretch)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(line)
        layout.addWidget(self.words)
        is_here = shutil.which("nsys") is not None
        self.words.setText("" if is_here else NSYS_MISSING)
        self.words.setVisible(not is_here)
        for widget in (self.capture, self.report, self.browse):
            widget.setEnabled(is_here)
        self.capture.toggled.connect(self.changed)
        self.report.textChanged.connect(self.changed)

    def chosen(self, drafts: Sequence[str]) -> Path | None:
        """The report to write, None for none. Raises ConfigError where it cannot be written."""
        if not self.capture.isChecked():
            return None
        text = self.report.text().strip() or f"report{REPORT_SUFFIX}"
        try:
            path = typed_path(text).absolute()
            if path.suffix != REPORT_SUFFIX and path.name:
                path = typed_path(f"{path}{REPORT_SUFFIX}")
        except PathError as error:
            raise ConfigError(str(error)) from None
        report = path
        if problem := report_problem(report, drafts):
            raise ConfigError(problem)
        return report

    def fields(self) -> dict[str, Any]:
        return {"report": self.report.text()}

    def fill(self, fields: Mapping[str, Any]) -> None:
        """As remembered; capturing is asked for anew each time."""
        if isinstance(report := fields.get("report"), str):
            self.report.setText(report)

    def _menu(self) -> QMenu:
        menu = QMenu(self)
        menu.addAction("specscope run …").triggered.connect(lambda: self._copy(run_line))
        menu.addSeparator()
        for phase in PHASES:
            action = menu.addAction(f"under Nsight Compute: {phase}")
            action.triggered.connect(
                lambda _=False, phase=phase: self._copy(lambda order: ncu_line(order, phase))
            )
        return menu

    def _copy(self, line: Callable[[RunOrder], str]) -> None:
        try:
            text = line(self._order())
        except ConfigError as error:
            self.words.setText(str(error))
        else:
            QGuiApplication.clipboard().setText(text)
            self.words.setText("Copied, with the first prompt.")
        self.words.setVisible(True)

    def _browse(self) -> None:
        path, _ = QFileDialog.getSaveFileName(
            self, "The report", f"report{REPORT_SUFFIX}", f"Reports (*{REPORT_SUFFIX})"
        )
        if path:
            self.report.setText(path)
