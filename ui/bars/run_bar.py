"""RunBar: what runs and how, in chips; and the engine's own buttons - run, pause, step, stop. Gamma
and sampling can be changed while it runs."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QToolButton,
    QWidget,
)

from engine.wire.commands import (
    Command,
    Pause,
    RecordKernels,
    Resume,
    SetGamma,
    SetSampling,
    StepOnce,
)
from engine.wire.config import MAX_GAMMA
from engine.wire.events import EngineState
from sessions.recorder_status import RecorderState
from sessions.run_facts import RunFacts, run_facts
from ui.bars.chips import fill_menu, menu_chip, set_chip, text_chip
from ui.icons import icon
from ui.look import Look
from ui.moment import Moment
from ui.number_fields import NumberField, decimal_field, whole_field
from ui.session_controller import SessionController

_STATE_WORDS = {
    EngineState.LOADING: "loading",
    EngineState.READY: "ready",
    EngineState.RUNNING: "running",
    EngineState.PAUSED: "engine paused",
    EngineState.STOPPING: "stopping",
}


class RunBar(QWidget):
    """The bar over the tiles."""

    said = Signal(str)
    run_wanted = Signal()
    """The run dialog is to open."""

    def __init__(self, controller: SessionController, look: Look) -> None:
        super().__init__()
        self._controller = controller
        self._look = look
        self._facts: RunFacts | None = None
        self._seen: object = None
        self._is_reading = False
        self._awaited: dict[QToolButton, str] = {}  # sent, and not yet taken
        self._n_changes = 0  # of the settings when it was sent
        line = QHBoxLayout(self)
        line.setContentsMargins(8, 6, 8, 2)
        line.setSpacing(6)
        self.target, self.draft = (
            text_chip("The model whose text it is"),
            text_chip("What proposes"),
        )
        self.seed, self.batch = (
            text_chip("The seed of the draws"),
            text_chip("Sequences decoded together"),
        )
        self.gamma = menu_chip("Tokens drafted a step; click to change it while it runs")
        self.sampling = menu_chip("Temperature, top-k and top-p; click to change them")
        for chip in (self.target, self.draft, self.gamma, self.sampling, self.seed, self.batch):
            line.addWidget(chip)
        line.addStretch(1)
        self.state = QLabel()
        self.state.setProperty("dim", True)
        self.progress = QProgressBar()
        self.progress.setFixedWidth(110)
        self.progress.setTextVisible(False)
        self.recording = text_chip("")
        self.device = text_chip("What decodes, and in which numbers")
        for widget in (self.state, self.progress, self.recording, self.device):
            line.addWidget(widget)
        self._spare = (self.batch, self.seed, self.device)  # what matters least first
        self.step_button = QPushButton("Step")
        self.step_button.setToolTip(
            "Let the paused engine go to its next resting point: after a draft, after a commit "
            "(Shift+F10)"
        )
        self.pause_button = QPushButton("Pause engine")
        self.pause_button.setToolTip("Rest the engine itself; the picture has its own pause (F8)")
        self.run_button = QPushButton("Run…")
        self.run_button.setProperty("primary", True)
        self.step_button.clicked.connect(self.step_engine)
        self.pause_button.clicked.connect(self.toggle_engine)
        self.run_button.clicked.connect(self._run_or_stop)
        for button in (self.step_button, self.pause_button, self.run_button):
            line.addWidget(button)
        self._make_menus()
        self._say_facts(None)
        controller.engine_changed.connect(self.refresh)
        controller.sessions_changed.connect(self.refresh)
        look.changed.connect(self.refresh)
        self.refresh()

    # --- acts ------------------------------------------------------------------------------------

    def toggle_engine(self) -> None:
        """Pause the engine, or let it go on."""
        state = self._controller.engine_state()[0]
        self._tell(Resume() if state is EngineState.PAUSED else Pause())

    def step_engine(self) -> None:
        if self._controller.engine_state()[0] is not EngineState.PAUSED:
            self.said.emit("Only a paused engine steps: F8 pauses it.")
            return
        self._tell(StepOnce())

    def record_kernels(self) -> None:
        """Record the kernels of the next step; on a CPU, the operators."""
        self._tell(RecordKernels(n_steps=1))

    def stop(self) -> None:
        self._controller.stop()

    # --- the clock's -----------------------------------------------------------------------------

    def show_moment(self, moment: Moment | None) -> None:
        """Take what is in force from what is shown; cheap while nothing changed."""
        snapshot = None if moment is None else moment.snapshot
        seen = None
        if snapshot is not None:
            seen = (id(self._controller.shown), len(snapshot.starts), len(snapshot.models),
                    len(snapshot.settings))  # fmt: skip
        if seen != self._seen:
            self._seen = seen
            self._facts = None if snapshot is None else run_facts(snapshot)
            self._say_facts(moment)
        self._note_answer(moment)
        self._say_recording()
        self._say_reading()

    def refresh(self) -> None:
        """The engine's state and the buttons."""
        state, detail, progress = self._controller.engine_state()
        is_running = self._controller.is_running
        is_loading = self._controller.is_starting or state is EngineState.LOADING
        words = "starting the engine" if self._controller.is_starting else ""
        if state is not None:
            words = detail if state is EngineState.LOADING and detail else _STATE_WORDS[state]
        self.state.setText(words)
        number = self._controller.engine_process_id
        self.state.setToolTip("" if number is None else f"The engine is process {number}.")
        self.progress.setVisible(is_loading)
        self.progress.setRange(0, 0 if progress is None else 1000)
        if progress is not None:
            self.progress.setValue(round(progress * 1000))
        is_paused = state is EngineState.PAUSED
        self.pause_button.setText("Resume engine" if is_paused else "Pause engine")
        self.pause_button.setVisible(is_running)
        self.pause_button.setEnabled(state in (EngineState.RUNNING, EngineState.PAUSED))
        self.step_button.setVisible(is_running)
        self.step_button.setEnabled(is_paused)
        self.run_button.setText(("Cancel" if is_loading else "Stop") if is_running else "Run…")
        self.run_button.setProperty("primary", not is_running)
        self.run_button.setToolTip(
            "End the run; what was decoded is kept (Shift+F5)" if is_running
            else "Choose models, prompts and settings, and run (Ctrl+R)"
        )  # fmt: skip
        self.run_button.style().unpolish(self.run_button)
        self.run_button.style().polish(self.run_button)
        theme = self._look.theme
        self.pause_button.setIcon(icon("play" if is_paused else "pause", theme))
        self.step_button.setIcon(icon("half-step", theme))
        ink = theme.text if is_running else theme.on_colour
        self.run_button.setIcon(icon("stop" if is_running else "play", theme, colour=ink))
        for chip in (self.gamma, self.sampling):
            chip.setEnabled(state in (EngineState.RUNNING, EngineState.PAUSED, EngineState.READY))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    # --- inside ----------------------------------------------------------------------------------

    def _tell(self, command: Command) -> None:
        if self._controller.live is None:
            self.said.emit("No engine is at work: Ctrl+R starts one.")
            return
        self._controller.send(command)

    def _run_or_stop(self) -> None:
        if self._controller.is_running:
            self.stop()
        else:
            self.run_wanted.emit()

    @property
    def _has_facts(self) -> bool:
        return self._facts is not None and bool(self._facts.settings)

    def _fit(self) -> None:
        """Leave out what matters least while there is no room: no chip is cut."""
        for chip in self._spare:
            chip.setVisible(self._has_facts)
        for chip in self._spare:
            if self.sizeHint().width() <= self.width():
                break
            chip.hide()

    def _say_facts(self, moment: Moment | None) -> None:
        facts = self._facts
        for chip in (self.target, self.draft, self.gamma, self.sampling, *self._spare):
            chip.setVisible(self._has_facts)
        if facts is None or moment is None:
            return
        settings = facts.settings
        target = facts.target.name if facts.target else str(settings.get("target", ""))
        set_chip(self.target, "target", target)
        draft = facts.draft.name if facts.draft else facts.drafter
        if facts.drafter == "composite":  # n-grams first, then that model
            draft = f"composite ({draft})"
        set_chip(self.draft, "draft", draft)
        gamma, temperature, top_k, top_p = _in_force(moment, facts)
        self.gamma.setText(f"γ {self._with_awaited(self.gamma, gamma)}")  # noqa: RUF001
        sampling = _sampling_words(temperature, top_k, top_p)
        self.sampling.setText(f"temperature {self._with_awaited(self.sampling, sampling)}")
        set_chip(self.seed, "seed", str(settings.get("seed", 0)))
        set_chip(self.batch, "batch", str(settings.get("batch", 1)))
        dtype = f" · {facts.target.dtype}" if facts.target else ""
        set_chip(self.device, "", f"{facts.device_name}{dtype}")
        self._fit()

    def _say_reading(self) -> None:
        """A long recording says how far it is; closing its session (Ctrl+W) ends the reading."""
        shown = self._controller.shown
        share = None if shown is None else shown.share_read
        if share is None:
            if self._is_reading:
                self._is_reading = False
                self.refresh()
            return
        self._is_reading = True
        self.state.setText(f"reading the recording: {share:.0%}")
        self.progress.setVisible(True)
        self.progress.setRange(0, 1000)
        self.progress.setValue(round(share * 1000))

    def _say_recording(self) -> None:
        live = self._controller.live
        status = None if live is None else live.recording
        self.recording.setVisible(live is not None)
        if live is None:
            return
        theme = self._look.theme
        if live.path is None:
            text, ink, tip = "not recorded", theme.warning, "This run is not kept."
        elif status is None or status.state is RecorderState.OK:
            text, ink, tip = "● recording", theme.rejected, status.message if status else ""
        elif status.state is RecorderState.WAITING:
            text, ink, tip = "● recording waits", theme.warning, status.message
        else:
            text, ink, tip = "✕ not recorded", theme.rejected, status.error
        if self.recording.text() != text:
            self.recording.setText(text)
            self.recording.setStyleSheet(f"color: {ink};")
            self._fit()
        self.recording.setToolTip(tip)

    def _make_menus(self) -> None:
        self.gamma.menu().aboutToShow.connect(self._fill_boxes)  # before all is selected
        self.sampling.menu().aboutToShow.connect(self._fill_boxes)
        self.gamma_box = whole_field(-1, MAX_GAMMA, word="auto")
        self.gamma_box.setToolTip("0 is plain decoding; one below 0 is auto")
        fill_menu(self.gamma, [("γ", self.gamma_box)], self._send_gamma)  # noqa: RUF001
        self.temperature_box = decimal_field(0.0, 10.0, step=0.1)
        self.top_k_box = whole_field(0, 1_000_000, word="off")
        self.top_p_box = decimal_field(0.01, 1.0, step=0.05)
        fields: list[tuple[str, NumberField]] = [
            ("temperature", self.temperature_box), ("top-k", self.top_k_box),
            ("top-p", self.top_p_box),
        ]  # fmt: skip
        fill_menu(self.sampling, fields, self._send_sampling)

    def _fill_boxes(self) -> None:
        moment = self._controller.moment()
        if moment is None or self._facts is None:
            return
        gamma, temperature, top_k, top_p = _in_force(moment, self._facts)
        self.gamma_box.setValue(-1 if gamma == "auto" else int(gamma or 0))
        self.temperature_box.setValue(temperature)
        self.top_k_box.setValue(top_k)
        self.top_p_box.setValue(top_p)

    def _send_gamma(self) -> None:
        value = self.gamma_box.value()
        gamma: int | str = "auto" if value < 0 else value
        self._controller.send(SetGamma(gamma=gamma))
        self._await(self.gamma, str(gamma))

    def _send_sampling(self) -> None:
        self._controller.send(
            SetSampling(
                temperature=self.temperature_box.value(),
                top_k=self.top_k_box.value(),
                top_p=self.top_p_box.value(),
            )
        )
        words = _sampling_words(
            self.temperature_box.value(), self.top_k_box.value(), self.top_p_box.value()
        )
        self._await(self.sampling, words)

    def _await(self, chip: QToolButton, value: str) -> None:
        """Show with what is in force what was sent, until the engine says that it took it."""
        live = self._controller.live
        if live is None:
            return
        self._awaited[chip] = value
        self._n_changes = len(live.newest().settings)
        self._say_facts(self._controller.moment())

    def _note_answer(self, moment: Moment | None) -> None:
        """Drop what was awaited when it is shown, or nobody is there to take it."""
        if not self._awaited:
            return
        live, shown = self._controller.live, self._controller.shown
        is_taken = moment is not None and len(moment.snapshot.settings) > self._n_changes
        if live is None or shown is not live or is_taken:
            self._awaited.clear()
            self._say_facts(moment)

    def _with_awaited(self, chip: QToolButton, value: str) -> str:
        awaited = self._awaited.get(chip, value)
        return value if awaited == value else f"{value} → {awaited}"


def _in_force(moment: Moment, facts: RunFacts) -> tuple[str, float, int, float]:
    """Gamma and sampling at the playhead: the run's own, or as they were changed since."""
    changes, settings = moment.snapshot.settings, facts.settings
    if len(changes):
        return (
            changes.text("gamma", len(changes) - 1),
            float(changes["temperature"][-1]),
            int(changes["top_k"][-1]),
            float(changes["top_p"][-1]),
        )
    return (
        facts.gamma,
        float(settings.get("temperature", 0.0)),
        int(settings.get("top_k", 0)),
        float(settings.get("top_p", 1.0)),
    )


def _sampling_words(temperature: float, top_k: int, top_p: float) -> str:
    """Behind the word temperature."""
    extra = (f" · top-k {top_k}" if top_k else "") + (f" · top-p {top_p:g}" if top_p < 1 else "")
    return f"{temperature:g}{extra}"
