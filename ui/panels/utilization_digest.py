"""What the panel of utilization over time draws, worked out of a moment: the charts' lines, and the
newest readings."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.theory.workload import GIB, MIB
from sessions.columns import MISSING_INT
from sessions.metrics.forward_work import counted_rates
from sessions.snapshot import Snapshot
from ui.moment import Moment
from ui.panels.base import Empty
from ui.plots.home_plot import ceiling

MAX_ROWS = 3
_MOST_STRETCHES, _FEWEST_STRETCHES = 160, 12
_STEPS_PER_STRETCH = 4
"""At least, on average: what is shorter shows where steps begin, not how much is done."""
_SI = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """Arrays [n]; no point where there was no reading. ``ink`` is a colour of the theme."""

    name: str
    ink: str
    t_s: np.ndarray
    values: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One chart: lines that share a unit."""

    unit: str
    top: float
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A value of the newest sample; "" with the reason where there is none."""

    name: str
    text: str
    reason: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Utilization:
    rows: tuple[Row, ...]
    readings: tuple[Reading, ...]
    first_s: float
    last_s: float
    """What the x axis reaches to."""
    source: str


def utilization(moment: Moment) -> Utilization | Empty | None:
    """What to draw of a moment."""
    snapshot = moment.snapshot
    has_gpu = len(snapshot.gpu_samples) > 0
    last_ns = _last_ns(moment)
    rows = _gpu_rows(snapshot) if has_gpu else ()
    source = "the device's counters" if rows else "counted from shapes"
    if len(rows) < MAX_ROWS:
        counted = _counted_rows(moment, last_ns)
        rows = (*rows, *counted, *_host_rows(snapshot))[:MAX_ROWS]
        if not counted and not has_gpu:
            source = "host samples"
    if not rows:
        if not len(snapshot.steps):
            return None
        return Empty("Nothing of this was recorded: no samples, and no spans with counts.")
    first_s = _first_s(snapshot, rows)
    length_s = max(last_ns / 1e9 - first_s, 1e-3)
    return Utilization(
        rows=rows,
        readings=_gpu_readings(snapshot) if has_gpu else _host_readings(snapshot),
        first_s=first_s,
        last_s=first_s + (ceiling(length_s) if moment.is_live else length_s),
        source=source,
    )


def _first_s(snapshot: Snapshot, rows: tuple[Row, ...]) -> float:
    """The first prompt; before any, the first value. What lies before the prompt is loading."""
    if len(snapshot.sequences):
        return float(snapshot.sequences["t_ns"][0]) / 1e9
    return min(float(line.t_s[0]) for row in rows for line in row.lines)


def _last_ns(moment: Moment) -> int:
    tables = (moment.newest.spans, moment.newest.gpu_samples, moment.newest.host_samples)
    return max((int(table["t_ns"][-1]) for table in tables if len(table)), default=0)


def _line(name: str, ink: str, t_ns: np.ndarray, values: np.ndarray) -> Line | None:
    """Without the samples that are missing; None where all are."""
    is_known = np.isfinite(values)
    return Line(name, ink, t_ns[is_known] / 1e9, values[is_known]) if is_known.any() else None


def _row(unit: str, lines: list[Line | None], *, top: float | None = None) -> tuple[Row, ...]:
    found = tuple(line for line in lines if line is not None)
    if not found:
        return ()
    most = max(float(line.values.max()) for line in found)
    return (Row(unit, top or ceiling(1.05 * most), found),)


def _gpu_rows(snapshot: Snapshot) -> tuple[Row, ...]:
    samples = snapshot.gpu_samples
    is_ours = samples["device_uuid"] == samples["device_uuid"][-1]
    t_ns = samples["t_ns"][is_ours]
    active = [
        _line("memory active", "accent", t_ns, samples["dram_active_pct"][is_ours]),
        _line("SM active", "text", t_ns, samples["sm_active_pct"][is_ours]),
        _line("tensor active", "dim", t_ns, samples["tensor_active_pct"][is_ours]),
    ]
    if not any(active):
        active = [_line("GPU busy", "text", t_ns, samples["utilization_pct"][is_ours])]
    power_mw = samples["power_mw"][is_ours]
    watts = np.where(power_mw == MISSING_INT, np.nan, power_mw / 1e3)
    return (
        *_row("%", active, top=100.0),
        *_row("W", [_line("power", "text", t_ns, watts)]),
    )


def _counted_rows(moment: Moment, last_ns: int) -> tuple[Row, ...]:
    n_steps = len(moment.newest.steps)
    n_stretches = min(max(n_steps // _STEPS_PER_STRETCH, _FEWEST_STRETCHES), _MOST_STRETCHES)
    rates = counted_rates(moment.snapshot, n_stretches=n_stretches, last_ns=last_ns)
    if rates is None or not len(rates.t_ns):
        return ()
    rows: list[Row] = []
    for name, ink, unit, values in (
        ("compute", "text", "FLOP/s", rates.flops_per_s),
        ("memory", "accent", "B/s", rates.bytes_per_s),
    ):
        scale, prefix = _prefix(float(values.max()))
        rows += _row(f"{prefix}{unit}", [_line(name, ink, rates.t_ns, values / scale)])
    return tuple(rows)


def _host_rows(snapshot: Snapshot) -> tuple[Row, ...]:
    samples = snapshot.host_samples
    return _row(
        "CPU, %",
        [
            _line("process", "text", samples["t_ns"], samples["process_cpu_pct"]),
            _line("system", "dim", samples["t_ns"], samples["system_cpu_pct"]),
        ],
    )


def _gpu_readings(snapshot: Snapshot) -> tuple[Reading, ...]:
    samples = snapshot.gpu_samples
    reasons = _reasons(samples.text("missing", len(samples) - 1))

    def reading(name: str, field: str, unit: str, scale: float = 1.0, digits: int = 0) -> Reading:
        value = int(samples[field][-1])
        if value == MISSING_INT:
            return Reading(name, "", reasons.get(field, "the device does not report it"))
        return Reading(name, f"{value / scale:,.{digits}f} {unit}")

    memory = reading("memory", "memory_used_bytes", "GiB", GIB, 1)
    total = int(samples["memory_total_bytes"][-1])
    if memory.text and total != MISSING_INT:
        memory = Reading("memory", f"{memory.text[:-4]} of {total / GIB:.1f} GiB")
    return (
        reading("power", "power_mw", "W", 1e3),
        reading("clock", "sm_clock_mhz", "MHz"),
        memory,
        reading("temperature", "temperature_c", "°C"),
    )


def _host_readings(snapshot: Snapshot) -> tuple[Reading, ...]:
    samples = snapshot.host_samples
    why = "no GPU was sampled in this session, and nothing reads a processor's"
    unknown = Reading("power, clock, temperature", "", why)
    if not len(samples):
        return (Reading("CPU", "", "the host was not sampled"), unknown)
    used = int(samples["process_memory_bytes"][-1])
    system = int(samples["system_memory_used_bytes"][-1]) / GIB
    total = int(samples["system_memory_total_bytes"][-1]) / GIB
    return (
        Reading("CPU", f"{float(samples['process_cpu_pct'][-1]):.0f} % of a core"),
        Reading("memory", f"{used / MIB:,.0f} MiB"),
        Reading("system", f"{system:.1f} of {total:.1f} GiB"),
        unknown,
    )


def _reasons(missing: str) -> Mapping[str, str]:
    """Field to reason, of lines "field: reason"."""
    pairs = (line.partition(": ") for line in missing.split("\n"))
    return {field: reason for field, _, reason in pairs if reason}


def _prefix(value: float) -> tuple[float, str]:
    return next(((scale, prefix) for scale, prefix in _SI if value >= scale), (1.0, ""))
