"""RunDialog: builds the order of a run. What cannot work is said beside the fields, at once."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
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

from engine.wire.config import ConfigError, RunConfig
from ui.dialogs.draft_list import DraftList
from ui.dialogs.nsight_box import NsightBox
from ui.dialogs.prompt_box import PromptBox
from ui.dialogs.settings_box import SettingsBox
from ui.dialogs.target_box import TargetBox
from ui.key_sharing import share_keys
from ui.look import Look
from ui.plain_text import plain_label
from ui.run_order import RunOrder
from ui.theme import CAPTION, interface_font
from ui.workshop import Workshop

MAX_DRAFTS = 4

_WIDE_PX = 890
"""Less than this is too narrow for two columns."""
_DRAFTS_PX = 210
"""Of the drafts above the others: four of them are seen."""
_FRAME_PX = 72
"""Of a screen's height: what a window's frame takes, and some room."""
_TWO = ((0, 0, 1, 1), (1, 0, 2, 1), (0, 1, 2, 1), (2, 1, 1, 1), (3, 0, 1, 2))
_ONE = ((0, 0, 1, 1), (1, 0, 1, 1), (2, 0, 1, 1), (3, 0, 1, 1), (4, 0, 1, 1))
"""Row, column, rows and columns of each section."""


class RunDialog(QDialog):
    """Target, drafts, prompts and settings; ``ordered`` gives the order, and the fields to be
    remembered for the next time."""

    ordered = Signal(RunOrder, dict)

    def __init__(
        self,
        workshop: Workshop,
        look: Look,
        remembered: Mapping[str, Any],
        *,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Run")
        self._is_wide: bool | None = None
        self._workshop = workshop
        self.rejected.connect(workshop.let_go)
        self.target = TargetBox(workshop.targets())
        self.drafts = DraftList(workshop.drafts, look)
        self.prompts = PromptBox(workshop.prompts())
        self.settings = SettingsBox(has_gpu=workshop.has_gpu())
        self.nsight = NsightBox(self.order)
        self.name = QLineEdit()
        self.name.setAccessibleName("Name of the recording")
        self.name.setPlaceholderText("a name for the recording (optional)")
        self.recording = QCheckBox("Record the session")
        self.recording.setChecked(True)
        self.recording.setToolTip("Keep every event in the library, to look at again and compare")
        self.problem = plain_label()
        self.problem.setWordWrap(True)
        self.problem.setStyleSheet(f"color: {look.theme.rejected};")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.run_button = QPushButton("Run")
        self.run_button.setProperty("primary", True)
        buttons.addButton(self.run_button, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        self._lay_out(buttons)
        self._let_return_run()
        self.target.settled.connect(self._target_settled)
        for part in (self.target, self.drafts, self.prompts, self.settings, self.nsight):
            part.changed.connect(self._check)
        self._target_settled(self.target.value)
        self._fill(remembered)
        self._check()

    def order(self) -> RunOrder:
        """What the fields say. Raises ConfigError, with a sentence."""
        drafts = self.drafts.chosen
        if problem := self.target.problem or self.drafts.problem:
            raise ConfigError(problem)
        if not drafts:
            raise ConfigError("No draft is chosen: tick one, or none for plain decoding.")
        if len(drafts) > MAX_DRAFTS:
            raise ConfigError(f"{len(drafts)} drafts are chosen: compare at most {MAX_DRAFTS}.")
        if problem := self.settings.problem:
            raise ConfigError(problem)
        prompts = self.prompts.chosen()
        common = {"target": self.target.value, **self.settings.values()}
        configs = tuple(RunConfig(draft=draft, **common) for draft in drafts)
        return RunOrder(
            configs=configs,
            prompts=prompts,
            is_recorded=self.recording.isChecked(),
            name=self.name.text().strip(),
            nsys_report=self.nsight.chosen(drafts),
        )

    def accept(self) -> None:
        """Order, unless something cannot work."""
        self._target_settled(self.target.value)  # Return runs while it is still being typed
        try:
            order = self.order()
        except ConfigError as error:
            self.problem.setText(str(error))
            return
        super().accept()
        self.ordered.emit(order, self.fields())

    def fields(self) -> dict[str, Any]:
        """The fields, to be remembered: plain values only."""
        return {
            "target": self.target.value,
            "drafts": list(self.drafts.chosen),
            "is_recorded": self.recording.isChecked(),
            "prompts": self.prompts.fields(),
            "settings": self.settings.values(),
            "nsight": self.nsight.fields(),
        }

    # --- inside ----------------------------------------------------------------------------------

    def _fill(self, remembered: Mapping[str, Any]) -> None:
        """As the last time; a field that does not fit any more is left as it is."""
        if isinstance(target := remembered.get("target"), str) and target:
            self.target.choose(target)
        drafts = remembered.get("drafts")
        if isinstance(drafts, list) and drafts:
            self.drafts.choose([str(draft) for draft in drafts])
        self.recording.setChecked(remembered.get("is_recorded") is not False)
        for part, name in (
            (self.prompts, "prompts"), (self.settings, "settings"), (self.nsight, "nsight"),
        ):  # fmt: skip
            if isinstance(values := remembered.get(name), dict):
                part.fill(values)

    def _target_settled(self, target: str) -> None:
        self.drafts.offer_for(target)
        self.settings.set_context_length(self.target.context_length)

    def _check(self) -> None:
        """Say what cannot work, and bar the button, while it cannot."""
        sentence = ""
        try:
            order = self.order()
        except ConfigError as error:
            sentence = str(error)
        else:
            n_runs, n_prompts = len(order.configs), len(order.prompts)
            self.run_button.setText(
                "Run" if n_runs == 1 else f"Run {n_runs} drafts, one after the other"
            )
            self.run_button.setToolTip(f"{n_prompts} prompts under {n_runs} settings")
        self.problem.setText(sentence)
        self.run_button.setEnabled(not sentence)

    def _let_return_run(self) -> None:
        """In any field; on another button Return presses that one. What a dialog's default is, it
        hears from buttons that are in it already."""
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)
        self.run_button.setDefault(True)
        share_keys(self)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._workshop.prepare()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(is_wide=self.width() >= _WIDE_PX)

    def _arrange(self, *, is_wide: bool) -> None:
        """In two columns, or one above the other where two would have to scroll sideways."""
        if is_wide == self._is_wide:
            return
        self._is_wide = is_wide
        for section, place in zip(self._sections, _TWO if is_wide else _ONE, strict=True):
            self._grid.removeWidget(section)
            self._grid.addWidget(section, *place)
        self._grid.setColumnStretch(0, 4)
        self._grid.setColumnStretch(1, 5 if is_wide else 0)
        self._grid.setRowStretch(1, 1 if is_wide else 0)
        self._grid.setRowMinimumHeight(1, 0 if is_wide else _DRAFTS_PX)

    def _lay_out(self, buttons: QDialogButtonBox) -> None:
        page = QWidget()
        page.setObjectName("page")
        self._grid = QGridLayout(page)
        self._grid.setContentsMargins(0, 0, 6, 0)
        self._grid.setSpacing(10)
        self._sections = [
            _section("Target", self.target),
            _section("Drafts — several are compared", self.drafts),
            _section("Prompts", self.prompts),
            _section("Settings", self.settings),
            _section("Nsight", self.nsight),
        ]
        self._arrange(is_wide=True)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is in it comes into sight by itself
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidget(page)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(14, 14, 14, 14)
        outer.setSpacing(10)
        outer.addWidget(scroll, 1)
        line = QHBoxLayout()
        line.addWidget(self.recording)
        line.addWidget(self.name, 1)
        line.addWidget(buttons)
        outer.addWidget(self.problem)
        outer.addLayout(line)
        screen = self.screen().availableGeometry()
        self.resize(min(1040, screen.width() - 40), min(780, screen.height() - _FRAME_PX))


def _section(title: str, content: QWidget) -> QFrame:
    card = QFrame()
    card.setObjectName("card")
    layout = QVBoxLayout(card)
    layout.setContentsMargins(12, 9, 12, 12)
    name = QLabel(title.upper())
    name.setObjectName("title")
    name.setFont(interface_font(CAPTION, is_bold=True))
    layout.addWidget(name)
    layout.addWidget(content, 1)
    return card
