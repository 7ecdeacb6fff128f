"""What the forwards did for their time: FLOPs and bytes, counted from shapes, over what the clock
says they took."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sessions.columns import MISSING_INT, Array
from sessions.metrics.selection import EVERYTHING, Selection, profiled_steps, without_steps
from sessions.metrics.time_split import Clock
from sessions.snapshot import Snapshot
from sessions.tables import TARGET

Forward = Literal["draft", "verify", "prefill"]
_SPAN_NAMES: dict[Forward, str] = {"draft": "draft_forward", "verify": "verify"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ForwardWork:
    """All forwards of one kind that were counted and timed; arrays [n].

    ``clock`` is the device's where it timed any of them, and then those it did not are left out:
    on a device the host's time is that of queueing.
    """

    forward: Forward
    clock: Clock
    n_flops: Array  # int64
    n_bytes: Array  # int64
    ns: Array  # int64

    @property
    def n(self) -> int:
        return len(self.ns)

    @property
    def intensity(self) -> float:
        """FLOP/byte, of all of them together."""
        return float(self.n_flops.sum(dtype=np.float64) / self.n_bytes.sum(dtype=np.float64))

    @property
    def flops_per_s(self) -> float:
        """Of all of them together."""
        return float(self.n_flops.sum(dtype=np.float64) / self.ns.sum() * 1e9)

    @property
    def bytes_per_s(self) -> float:
        """Of all of them together."""
        return float(self.n_bytes.sum(dtype=np.float64) / self.ns.sum() * 1e9)


def forward_work(snapshot: Snapshot, selection: Selection = EVERYTHING) -> tuple[ForwardWork, ...]:
    """Draft forwards, verifications and the target's prefills; a kind without any is left out.

    Steps whose kernels were recorded, or that captured a graph, took longer for it: left out.
    """
    spans = snapshot.spans
    rows = without_steps(selection.span_rows(snapshot), spans["step"], profiled_steps(snapshot))
    names = spans["name"][rows]
    found = [
        _work(forward, *_columns(snapshot, "spans", rows, names == spans.code(name)))
        for forward, name in _SPAN_NAMES.items()
    ]
    prefills = snapshot.prefills
    is_ours = prefills["role"] == TARGET
    if selection.sequence_id is not None:
        is_ours &= prefills["sequence_id"] == selection.sequence_id
    found.append(_work("prefill", *_columns(snapshot, "prefills", slice(None), is_ours)))
    return tuple(work for work in found if work is not None)


def _columns(
    snapshot: Snapshot, table: str, rows: slice | Array, mask: Array
) -> tuple[Array, Array, Array, Array]:
    """FLOPs, bytes, device's and host's ns of the rows."""
    places = np.flatnonzero(mask)
    columns = snapshot.table(table)
    flops, n_bytes, gpu_ns, host_ns = (
        columns[name][rows][places] for name in ("n_flops", "n_bytes", "gpu_ns", "host_ns")
    )
    return flops, n_bytes, gpu_ns, host_ns


def _work(
    forward: Forward, n_flops: Array, n_bytes: Array, gpu_ns: Array, host_ns: Array
) -> ForwardWork | None:
    is_counted = (n_flops != MISSING_INT) & (n_bytes != MISSING_INT) & (n_bytes > 0) & (n_flops > 0)
    clock: Clock = "device" if np.any(gpu_ns[is_counted] != MISSING_INT) else "host"
    ns = gpu_ns if clock == "device" else host_ns
    is_counted &= ns > 0  # missing is far below
    if not is_counted.any():
        return None
    return ForwardWork(
        forward=forward,
        clock=clock,
        n_flops=n_flops[is_counted],
        n_bytes=n_bytes[is_counted],
        ns=ns[is_counted],
    )


@dataclass(frozen=True, slots=True, eq=False)
class CountedRates:
    """Work per second of wall time in equal stretches of it; arrays [n_stretches].

    What lies between two forwards counts as time without work, so these are lower than a
    forward's own rates.
    """

    t_ns: Array  # int64, the stretches' middles
    flops_per_s: Array
    bytes_per_s: Array


def counted_rates(
    snapshot: Snapshot, *, n_stretches: int, last_ns: int | None = None
) -> CountedRates | None:
    """All counted forwards, prefills of both models among them, by when they began. Stretches
    without any have zeros. None where nothing was counted.

    ``n_stretches`` reach from the first forward to ``last_ns`` (the snapshot's moment by default);
    those that the snapshot's moment has not passed are left out.
    """
    spans, prefills = snapshot.spans, snapshot.prefills
    is_forward = np.isin(spans["name"], [spans.code(name) for name in _SPAN_NAMES.values()])
    is_forward &= spans["n_flops"] != MISSING_INT
    rows, others = np.flatnonzero(is_forward), np.flatnonzero(prefills["n_flops"] != MISSING_INT)
    starts, n_flops, n_bytes = (
        np.concatenate((spans[name][rows], prefills[name][others]))
        for name in ("start_ns", "n_flops", "n_bytes")
    )
    if not len(starts):
        return None
    first, now = int(starts.min()), max(int(snapshot.t_ns), int(starts.max()) + 1)
    width = max(1.0, ((now if last_ns is None else last_ns) - first) / n_stretches)
    n_past = min(n_stretches, int((now - first) / width + 1e-9))
    places = ((starts - first) / width).astype(np.int64)
    seconds = width / 1e9

    def rates(work: Array) -> Array:
        return np.bincount(places, weights=work, minlength=n_past)[:n_past] / seconds

    return CountedRates(
        t_ns=(first + (np.arange(n_past) + 0.5) * width).astype(np.int64),
        flops_per_s=rates(n_flops),
        bytes_per_s=rates(n_bytes),
    )
