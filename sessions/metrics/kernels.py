"""What the recorded kernels show: how long the device waited between them, and how much of its
time went into kernels that use tensor cores."""

import re
from dataclasses import dataclass

import numpy as np

from sessions.columns import MISSING_INT, Array
from sessions.metrics.interval import ratio
from sessions.metrics.over_time import engine_steps
from sessions.metrics.selection import EVERYTHING, Selection, profiled_steps
from sessions.snapshot import Snapshot

_TENSOR_CORE_NAMES = re.compile(
    r"s1688|s16816|h1688|h16816|i16832|hmma|imma|wgmma|gmma|xmma|tensorop|nvjet|flash_fwd|flash_attn"
    r"|fmha|mma_sm\d+|_tc_|cutlass_\d+_tensor",
    re.IGNORECASE,
)
"""Parts of names under which cuBLAS, CUTLASS, cuDNN and FlashAttention publish kernels that issue
matrix instructions. Only the hardware's counters know for certain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchGaps:
    """``busy_ns``: at least one kernel ran; ``gap_ns``: none did, between the first and the last
    kernel of the same stretch. A stretch is a step, or one span of the name asked for."""

    n_stretches: int
    n_kernels: int
    n_gaps: int
    busy_ns: int
    gap_ns: int
    median_gap_ns: float | None

    @property
    def gap_share(self) -> float | None:
        """The part of the stretches in which the device waited for work."""
        return ratio(self.gap_ns, self.busy_ns + self.gap_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingCost:
    """What recording kernels took. ``slowdown`` is the median time of recorded steps over that of
    usual ones, what was done outside the step apart; None without either."""

    n_steps: int
    n_kernels: int
    recording_ns: int
    slowdown: float | None
    clock_error_ns: int | None  # the largest

    @property
    def ns_per_step(self) -> float:
        return self.recording_ns / self.n_steps


def recording_cost(snapshot: Snapshot) -> RecordingCost | None:
    """None where no kernels were recorded."""
    recordings = snapshot.recordings
    if not len(recordings):
        return None
    steps = engine_steps(snapshot, with_profiled=True)
    is_recorded = np.isin(steps.step, recordings["step"])
    is_usual = ~np.isin(steps.step, profiled_steps(snapshot))  # nor did it capture a graph
    slowdown = None
    if is_recorded.any() and is_usual.any():
        others_ns = float(np.median(steps.ns[is_usual]))
        slowdown = ratio(float(np.median(steps.ns[is_recorded])), others_ns)
    errors = recordings["clock_error_ns"]
    known = errors[errors != MISSING_INT]
    return RecordingCost(
        n_steps=len(recordings),
        n_kernels=int(recordings["n_kernels"].sum()),
        recording_ns=int(recordings["recording_ns"].sum()),
        slowdown=slowdown,
        clock_error_ns=int(known.max()) if len(known) else None,
    )


def launch_gaps(
    snapshot: Snapshot, selection: Selection = EVERYTHING, *, span_name: str | None = None
) -> LaunchGaps | None:
    """Over the recorded steps, or over the kernels that spans of ``span_name`` launched, each span
    by itself. None where no kernels of a device were recorded there."""
    rows, spans = _kernels_with_spans(snapshot, selection, span_name)
    if not len(rows):
        return None
    kernels = snapshot.kernels
    starts = kernels["start_ns"][rows]
    ends = starts + kernels["duration_ns"][rows]
    stretches = kernels["step"][rows] if span_name is None else spans
    busy_ns, gaps = 0, []
    for stretch in np.unique(stretches):
        is_here = stretches == stretch
        order = np.argsort(starts[is_here], kind="stable")
        begun, reached = starts[is_here][order], np.maximum.accumulate(ends[is_here][order])
        waits = begun[1:] - reached[:-1]
        waits = waits[waits > 0]
        gaps.append(waits)
        busy_ns += int(reached[-1] - begun[0] - waits.sum())
    all_gaps = np.concatenate(gaps)
    return LaunchGaps(
        n_stretches=len(gaps),
        n_kernels=len(rows),
        n_gaps=len(all_gaps),
        busy_ns=busy_ns,
        gap_ns=int(all_gaps.sum()),
        median_gap_ns=float(np.median(all_gaps)) if len(all_gaps) else None,
    )


def tensor_core_share(
    snapshot: Snapshot, selection: Selection = EVERYTHING, *, span_name: str | None = None
) -> float | None:
    """Time of kernels named as tensor-core kernels / time of all kernels; None as for the gaps."""
    rows, _ = _kernels_with_spans(snapshot, selection, span_name)
    durations = snapshot.kernels["duration_ns"][rows]
    texts = snapshot.kernels.texts("name", rows)
    uses = np.fromiter((uses_tensor_cores(text) for text in texts), np.bool_, len(rows))
    return ratio(float(durations[uses].sum()), float(durations.sum()))


def uses_tensor_cores(name: str) -> bool:
    """Whether a kernel's name is that of one which issues matrix instructions."""
    return _TENSOR_CORE_NAMES.search(name) is not None


def is_on_device(snapshot: Snapshot) -> bool:
    """Whether what was recorded are kernels of a device; else they are a CPU's operators."""
    models = snapshot.models
    devices = models.texts("device", np.arange(len(models)))
    return any(not str(device).startswith("cpu") for device in devices)


def _kernels_with_spans(
    snapshot: Snapshot, selection: Selection, span_name: str | None
) -> tuple[Array, Array]:
    """Rows of the kernels of a device, and for each the row of ``spans`` it belongs to or -1; with
    ``span_name`` those of spans of that name alone."""
    kernels, spans = snapshot.kernels, snapshot.spans
    none: Array = np.zeros(0, np.int64)
    if not len(kernels) or not is_on_device(snapshot):
        return none, none
    steps = kernels["step"]
    mask = steps >= selection.first_step
    if selection.last_step is not None:
        mask &= steps <= selection.last_step
    if not selection.is_everything:
        mask &= np.isin(steps, snapshot.drafts["step"][selection.rows(snapshot.drafts)])
    rows = np.flatnonzero(mask)
    firsts = np.searchsorted(spans["step"], steps[rows])
    ends = np.searchsorted(spans["step"], steps[rows], side="right")
    indexes = kernels["span_index"][rows].astype(np.int64)
    places = firsts + indexes
    places = np.where((indexes >= 0) & (places < ends), places, -1)
    if span_name is not None:
        names = spans["name"]
        is_named = places >= 0
        is_named[is_named] = names[places[is_named]] == spans.code(span_name)
        rows, places = rows[is_named], places[is_named]
    return rows, places
