"""How busy the hardware was in each phase: by its own counters where a phase lasts long enough for
them, else by the work that was counted."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from engine.theory.devices import DevicePeaks, Precision, find_device
from sessions.columns import MISSING_INT, Array
from sessions.metrics.forward_work import Forward, ForwardWork, forward_work
from sessions.metrics.selection import EVERYTHING, Selection
from sessions.run_facts import run_facts
from sessions.snapshot import Snapshot
from sessions.tables import TARGET

Source = Literal["counters", "counted"]

COUNTERS_REACH_NS = 350_000_000
"""How far back a sample's counters look at most: a pair of readings lies 120 ms apart or more, and
is said again until the next one. A phase that lasted so long before a sample is all it tells of."""

PRECISIONS = {
    "bfloat16": Precision.BF16, "float16": Precision.FP16, "float32": Precision.FP32,
}  # fmt: skip
"""What a model's dtype is called by, to the peak it is held against."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseUtilization:
    """One phase, in percent; None: not known.

    "counters": the hardware's own, means over ``n`` samples. "counted": FLOPs and bytes from the
    models' shapes over the time of ``n`` forwards, against the device's dense peak and bandwidth.
    """

    phase: Forward
    source: Source
    n: int
    tensor_pct: float | None
    bandwidth_pct: float | None


def phase_utilization(
    snapshot: Snapshot, selection: Selection = EVERYTHING
) -> tuple[PhaseUtilization, ...]:
    """Of drafting, verifying and prefilling; phases that were not measured are left out."""
    facts = run_facts(snapshot)
    peaks = find_device(facts.device_name)
    dtype = facts.target.dtype.removeprefix("torch.") if facts.target is not None else ""
    found = []
    for work in forward_work(snapshot, selection):
        told = _by_counters(snapshot, work.forward)
        found.append(told or _by_counting(work, peaks, PRECISIONS.get(dtype)))
    return tuple(found)


def _by_counting(
    work: ForwardWork, peaks: DevicePeaks | None, precision: Precision | None
) -> PhaseUtilization:
    most = getattr(peaks, precision) if peaks is not None and precision is not None else None
    return PhaseUtilization(
        phase=work.forward,
        source="counted",
        n=work.n,
        tensor_pct=None if most is None else 100 * work.flops_per_s / most,
        bandwidth_pct=None if peaks is None else 100 * work.bytes_per_s / peaks.bytes_per_s,
    )


def _by_counters(snapshot: Snapshot, phase: Forward) -> PhaseUtilization | None:
    """Means of the samples that look back on nothing but this phase; None without any."""
    samples = snapshot.gpu_samples
    tensor, dram = samples["tensor_active_pct"], samples["dram_active_pct"]
    is_told = np.isfinite(tensor) | np.isfinite(dram)
    if not is_told.any():
        return None
    starts, ends = _stretches(snapshot, phase)
    is_long = ends - starts >= COUNTERS_REACH_NS
    starts, ends = starts[is_long], ends[is_long]
    at = samples["t_ns"][is_told]
    places = np.searchsorted(starts, at - COUNTERS_REACH_NS, side="right") - 1
    is_within = places >= 0
    is_within[is_within] = at[is_within] <= ends[places[is_within]]
    if not is_within.any():
        return None
    return PhaseUtilization(
        phase=phase,
        source="counters",
        n=int(is_within.sum()),
        tensor_pct=_mean(tensor[is_told][is_within]),
        bandwidth_pct=_mean(dram[is_told][is_within]),
    )


def _stretches(snapshot: Snapshot, phase: Forward) -> tuple[Array, Array]:
    """When each run of the phase began and ended on the host's clock, ascending."""
    if phase == "prefill":
        rows = np.flatnonzero(snapshot.prefills["role"] == TARGET)
        table = snapshot.prefills
    else:
        spans = table = snapshot.spans
        rows = np.flatnonzero(spans["name"] == spans.code(phase))
    starts, host_ns, gpu_ns = (table[name][rows] for name in ("start_ns", "host_ns", "gpu_ns"))
    # On a device the host's time is that of queueing, where the device's is not known.
    lasted = np.where(gpu_ns != MISSING_INT, np.maximum(gpu_ns, host_ns), host_ns)
    order = np.argsort(starts, kind="stable")
    return starts[order], (starts + lasted)[order]


def _mean(values: Array) -> float | None:
    told = values[np.isfinite(values)]
    return float(told.mean()) if len(told) else None
