"""RooflinePanel: whether the forwards wait for memory or for arithmetic, and how near the device's
limits they come."""

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QPushButton

from engine.theory.devices import DevicePeaks, Precision, find_device
from engine.theory.host_peaks import measure_host_peaks, processor_name
from sessions.metrics.forward_work import Forward, ForwardWork, forward_work
from sessions.metrics.phase_utilization import PRECISIONS, PhaseUtilization, phase_utilization
from sessions.metrics.selection import Selection
from sessions.run_facts import run_facts
from ui.background_task import BackgroundTask
from ui.moment import Moment, View
from ui.panels.base import Empty, Panel
from ui.plots.roofline_chart import Mark, Roof, RooflineChart, si
from ui.theme import CAPTION, interface_font

SHAPES: dict[Forward, str] = {"draft": "o", "verify": "s", "prefill": "t1"}
_CLOUD = 250
"""Single forwards shown of each kind, spread evenly over the session."""


@dataclass(frozen=True, slots=True, eq=False)
class ForwardPoint:
    """One kind of forward, summed; ``cloud_x`` and ``cloud_y`` are single ones, [n]."""

    forward: Forward
    n: int
    clock: str
    intensity: float  # FLOP/byte
    flops_per_s: float
    bytes_per_s: float
    cloud_x: np.ndarray
    cloud_y: np.ndarray
    most_flops_per_s: float  # of any single one
    most_bytes_per_s: float


@dataclass(frozen=True, slots=True, eq=False)
class Roofline:
    points: tuple[ForwardPoint, ...]
    device_name: str
    precision: Precision
    peaks: DevicePeaks | None  # of the device the session ran on, where a table knows it
    utilization: tuple[PhaseUtilization, ...]  # one for each point
    is_live: bool


class RooflinePanel(Panel):
    key = "roofline"
    title = "Utilization · roofline"
    reads = ("spans", "prefills", "starts", "models", "gpu_samples")
    hint = "Whether forwards wait for memory or for arithmetic. Start a run, or open a session."
    explanation = (
        "FLOP/byte: floating-point operations over bytes moved, both counted from the models' "
        "shapes. FLOP/s: the same operations over the time the forwards took, on the device's "
        "clock where it has one.\n"
        "Roof: the lower of the device's dense peak and its memory bandwidth times FLOP/byte. Left "
        "of the ridge a forward waits for memory, right of it for arithmetic.\n"
        "Share of bandwidth: bytes/s / the device's peak. Large marks: all forwards of the kind "
        "together; small ones: single forwards.\n"
        "Where no table knows the device, the dashed lines are the highest rates reached here.\n"
        "By the GPU's own counters (GPM) a prefill is told that lasts longer than what they look "
        "back on, a third of a second; else shares are counted: FLOPs and bytes over the time, "
        "against the device's peaks."
    )
    frames_per_draw = 15

    def build(self) -> None:
        self.host_peaks: DevicePeaks | None = None
        """Of this machine, once somebody asked for them."""
        self._task: BackgroundTask[DevicePeaks] | None = None
        self.chart = RooflineChart(self.theme)
        self.chart.setMinimumSize(80, 60)
        self.measure = QPushButton("Measure its peaks")
        self.measure.setToolTip(
            "No table knows this processor. Copies and multiplies for a second with all cores; "
            "do it while the machine is idle."
        )
        self.measure.clicked.connect(self._measure)
        self.measure.setFont(interface_font(CAPTION))
        self.measure.setStyleSheet("padding: 0 6px;")
        self.measure.setFixedHeight(int(QFontMetricsF(self.measure.font()).height()) + 6)
        self.measure.setVisible(False)
        self.body.addWidget(self.chart, 1)
        self.body.addWidget(self.measure, 0, Qt.AlignmentFlag.AlignRight)

    @staticmethod
    def digest(moment: Moment, view: View) -> Roofline | Empty | None:
        snapshot = moment.snapshot
        if not len(snapshot.spans) and not len(snapshot.prefills):
            return None
        selection = Selection(view.only_sequence_id)
        work = forward_work(snapshot, selection)
        if not work:
            return Empty(
                "No FLOPs and bytes are in this session: the models' structure was not known, or "
                "the spans were not recorded."
            )
        facts = run_facts(snapshot)
        dtype = facts.target.dtype if facts.target is not None else ""
        return Roofline(
            points=tuple(_point(each) for each in work),
            device_name=facts.device_name,
            precision=PRECISIONS.get(dtype.removeprefix("torch."), Precision.FP32),
            peaks=find_device(facts.device_name),
            utilization=phase_utilization(snapshot, selection, works=work),
            is_live=moment.is_live,
        )

    def draw(self, digest: Roofline) -> None:
        theme, roof = self.theme, self._roof(digest)
        colours = {"draft": theme.draft, "verify": theme.verify, "prefill": theme.prefill}
        self.chart.show_marks(
            [
                Mark(
                    name=point.forward,
                    intensity=point.intensity,
                    flops_per_s=point.flops_per_s,
                    shape=SHAPES[point.forward],
                    colour=colours[point.forward],
                    cloud_x=point.cloud_x,
                    cloud_y=point.cloud_y,
                )
                for point in digest.points
            ],
            roof,
        )
        self.chart.set_columns(
            {
                "forward": [point.forward for point in digest.points],
                "n": [point.n for point in digest.points],
                "clock": [point.clock for point in digest.points],
                "flop_per_byte": [point.intensity for point in digest.points],
                "flops_per_s": [point.flops_per_s for point in digest.points],
                "bytes_per_s": [point.bytes_per_s for point in digest.points],
                "compute_pct": [each.compute_pct for each in digest.utilization],
                "bandwidth_pct": [each.bandwidth_pct for each in digest.utilization],
                "utilization_is": [each.source for each in digest.utilization],
            }
        )
        self.measure.setVisible(self._may_measure(digest))
        self.measure.setEnabled(self._task is None and not digest.is_live)
        self.noted.emit(note(digest.points, roof, digest.utilization))

    def restyle(self) -> None:
        self.chart.restyle(self.theme)

    def has_moved(self) -> bool:
        """Looks whether the measurement is over; the clock asks once a frame."""
        if self._task is None:
            return False
        state = self._task.poll()
        if not state.is_over:
            return False
        self._task = None
        self.host_peaks = state.result
        return True

    def _measure(self) -> None:
        if self._task is None:
            self.measure.setEnabled(False)
            self._task = BackgroundTask(lambda _tell, _stop: measure_host_peaks(), name="peaks")

    def _peaks(self, digest: Roofline) -> DevicePeaks | None:
        if digest.peaks is not None or digest.device_name != processor_name():
            return digest.peaks
        return self.host_peaks

    def _may_measure(self, digest: Roofline) -> bool:
        """Never for a session of another kind of machine, and not beside an engine at work."""
        is_ours = digest.device_name == processor_name()
        return self._peaks(digest) is None and is_ours and not digest.is_live

    def _roof(self, digest: Roofline) -> Roof:
        peaks = self._peaks(digest)
        flops_per_s = getattr(peaks, digest.precision) if peaks is not None else None
        if peaks is not None and flops_per_s is not None:
            name = peaks.name.removeprefix("NVIDIA ").removesuffix(" (measured)")
            return Roof(flops_per_s, peaks.bytes_per_s, f"{name}, {digest.precision}", True)
        return Roof(
            max(point.most_flops_per_s for point in digest.points),
            max(point.most_bytes_per_s for point in digest.points),
            "highest reached here",
            False,
        )


def _point(work: ForwardWork) -> ForwardPoint:
    flops, n_bytes = work.n_flops.astype(np.float64), work.n_bytes.astype(np.float64)
    rows = np.unique(np.linspace(0, work.n - 1, min(work.n, _CLOUD)).astype(np.int64))
    seconds = work.ns / 1e9
    return ForwardPoint(
        forward=work.forward,
        n=work.n,
        clock=work.clock,
        intensity=work.intensity,
        flops_per_s=work.flops_per_s,
        bytes_per_s=work.bytes_per_s,
        cloud_x=flops[rows] / n_bytes[rows],
        cloud_y=flops[rows] / seconds[rows],
        most_flops_per_s=float((flops / seconds).max()),
        most_bytes_per_s=float((n_bytes / seconds).max()),
    )


def note(
    points: tuple[ForwardPoint, ...],
    roof: Roof,
    utilization: tuple[PhaseUtilization, ...] = (),
) -> str:
    """How much of the bandwidth the two decoding forwards use, and what counters tell."""
    shown = [point for point in points if point.forward != "prefill"] or list(points)
    if roof.is_known:
        shares = [
            f"{each.forward} {100 * each.bytes_per_s / roof.bytes_per_s:.0f} %" for each in shown
        ]
        words = f"{' · '.join(shares)} of bandwidth, counted"
    else:
        rates = [f"{each.forward} {si(each.bytes_per_s)}B/s" for each in shown]
        words = f"{' · '.join(rates)} · peaks unknown"
    told = [f"{e.phase} by counters: {e.words}" for e in utilization if e.source == "counters"]
    return " · ".join((words, *told))
