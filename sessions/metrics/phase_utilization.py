"""How busy the hardware was in each phase: by its own counters where a phase lasts long enough for
them, else by the work that was counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from engine.theory.devices import DevicePeaks, Precision, find_device
from sessions.columns import Array
from sessions.metrics.forward_work import ForwardWork, forward_work
from sessions.metrics.selection import EVERYTHING, Selection
from sessions.run_facts import run_facts
from sessions.snapshot import Snapshot
from sessions.tables import TARGET

Source = Literal["counters", "counted"]

COUNTERS_REACH_NS = 350_000_000
"""How far back a sample's counters look, by and large: a pair of readings lies 120 ms apart or a
little more, and is said again until the next one. Of a phase that lasted so long before a sample,
that sample tells."""

PRECISIONS = {
    "bfloat16": Precision.BF16, "float16": Precision.FP16, "float32": Precision.FP32,
}  # fmt: skip
"""What a model's dtype is called by, to the peak it is held against."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseUtilization:
    """One phase, in percent; None: not known.

    "counters": the hardware's own, means over ``n`` samples; compute is how busy tensor cores were.
    "counted": FLOPs and bytes from the models' shapes over the time of ``n`` forwards, against the
    device's dense peak and bandwidth.
    """

    phase: str
    source: Source
    n: int
    compute_pct: float | None
    bandwidth_pct: float | None

    @property
    def is_known(self) -> bool:
        return self.compute_pct is not None or self.bandwidth_pct is not None

    @property
    def words(self) -> str:
        """The shares, each by its name."""
        name = "tensor cores" if self.source == "counters" else "arithmetic"
        shares = (("bandwidth", self.bandwidth_pct), (name, self.compute_pct))
        return ", ".join(f"{name} {value:.0f} %" for name, value in shares if value is not None)


def phase_utilization(
    snapshot: Snapshot,
    selection: Selection = EVERYTHING,
    *,
    works: Sequence[ForwardWork] | None = None,
) -> tuple[PhaseUtilization, ...]:
    """Of drafting, verifying and prefilling; phases that were not measured are left out. Counters
    tell of prefills alone: a draft and its verification are over in milliseconds.

    Args:
        works: ``forward_work`` of the same, where it is at hand.
    """
    facts = run_facts(snapshot)
    peaks = find_device(facts.device_name)
    dtype = facts.target.dtype.removeprefix("torch.") if facts.target is not None else ""
    found = []
    for work in forward_work(snapshot, selection) if works is None else works:
        told = _by_counters(snapshot, selection) if work.forward == "prefill" else None
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
        compute_pct=None if most is None else 100 * work.flops_per_s / most,
        bandwidth_pct=None if peaks is None else 100 * work.bytes_per_s / peaks.bytes_per_s,
    )


def _by_counters(snapshot: Snapshot, selection: Selection) -> PhaseUtilization | None:
    """Means of the samples that look back on nothing but one of the target's prefills, for each of
    which the host waits; None without any."""
    samples, prefills = snapshot.gpu_samples, snapshot.prefills
    tensor, dram = samples["tensor_active_pct"], samples["dram_active_pct"]
    is_ours = prefills["role"] == TARGET
    if selection.sequence_id is not None:
        is_ours &= prefills["sequence_id"] == selection.sequence_id
    starts = prefills["start_ns"][is_ours]
    ends = starts + prefills["host_ns"][is_ours]
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], ends[order]
    at = samples["t_ns"]
    places = np.searchsorted(starts, at - COUNTERS_REACH_NS, side="right") - 1
    is_within = (places >= 0) & (np.isfinite(tensor) | np.isfinite(dram))
    is_within[is_within] = at[is_within] <= ends[places[is_within]]
    if not is_within.any():
        return None
    return PhaseUtilization(
        phase="prefill",
        source="counters",
        n=int(is_within.sum()),
        compute_pct=_mean(tensor[is_within]),
        bandwidth_pct=_mean(dram[is_within]),
    )


def _mean(values: Array) -> float | None:
    told = values[np.isfinite(values)]
    return float(told.mean()) if len(told) else None
