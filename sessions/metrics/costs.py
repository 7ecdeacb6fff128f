"""What a forward cost in this session: one draft token, and a verification of each width.

Measured where the session has enough verifications one token wide to compare with; else as the
engine's calibration found it. ``MeasuredCosts.source`` says which. A width that was run a few times
only, as n-grams of all lengths are, costs so many times a plain forward as the calibration found.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sessions.columns import MISSING_INT, Array
from sessions.metrics.selection import EVERYTHING, Selection, profiled_steps, without_steps
from sessions.snapshot import Snapshot
from sessions.tables import DRAFT, TARGET

MIN_PLAIN_SPANS = 20
"""Verifications one token wide below which their median is not trusted."""
MIN_WIDE_SPANS = 8
"""The same of those of another width, which are told as multiples of the plain ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCosts:
    """Medians in ns. ``target_ns[i]`` is a target forward ``widths[i]`` tokens wide; widths
    ascend from 1. ``draft_ns`` is one draft forward, 0 where proposals cost none."""

    source: Literal["spans", "calibration"]
    draft_ns: float
    widths: tuple[int, ...]
    target_ns: tuple[float, ...]

    @property
    def plain_ns(self) -> float:
        """A target forward one token wide."""
        return self.target_ns[0]

    @property
    def c(self) -> float:
        """Draft forward / target forward, both one token wide."""
        return self.draft_ns / self.plain_ns

    def is_measured(self, width: int) -> bool:
        return width in self.widths

    def verify_ns(self, width: float) -> float:
        """Between two measured widths on the line through them; beyond the widest on the line
        through the last two, never below the last."""
        if width <= self.widths[-1]:
            return float(np.interp(width, self.widths, self.target_ns))
        last_ns = self.target_ns[-1]
        if len(self.widths) < 2:
            return last_ns
        slope = (last_ns - self.target_ns[-2]) / (self.widths[-1] - self.widths[-2])
        return last_ns + max(0.0, slope) * (width - self.widths[-1])

    def v(self, width: float) -> float:
        """The verify-width cost T(width) / T(1)."""
        return self.verify_ns(width) / self.plain_ns


def measured_costs(snapshot: Snapshot, selection: Selection = EVERYTHING) -> MeasuredCosts | None:
    """From the spans of the selected steps, else from the newest calibration, else None."""
    return _from_spans(snapshot, selection) or _from_calibration(snapshot)


def _from_spans(snapshot: Snapshot, selection: Selection) -> MeasuredCosts | None:
    """Steps of the commonest number of sequences only: forwards of a batch cost otherwise."""
    spans, drafts = snapshot.spans, snapshot.drafts
    if not len(spans) or not len(drafts):
        return None
    firsts = np.flatnonzero(np.diff(drafts["step"], prepend=-1))  # steps never fall
    steps = drafts["step"][firsts]
    widths = np.maximum.reduceat(drafts["n_drafted"], firsts) + 1
    n_sequences = np.diff(firsts, append=len(drafts))
    is_alike = n_sequences == np.bincount(n_sequences).argmax()
    if (widths[is_alike] == 1).sum() < MIN_PLAIN_SPANS:
        return None
    selected = without_steps(selection.span_rows(snapshot), spans["step"], profiled_steps(snapshot))
    names, span_steps = spans["name"][selected], spans["step"][selected]
    gpu_ns, host_ns = spans["gpu_ns"][selected], spans["host_ns"][selected]
    n_forwards = spans["n_forwards"][selected]  # a captured draft is one span of several

    def of_alike(name: str) -> tuple[Array, Array]:
        """Width, and ns of a forward, of each span of that name in a step of the commonest kind."""
        rows = np.flatnonzero(names == spans.code(name))
        place = np.searchsorted(steps, span_steps[rows]).clip(max=len(steps) - 1)
        is_one = (steps[place] == span_steps[rows]) & is_alike[place]
        rows, place = rows[is_one], place[is_one]
        ns = np.where(gpu_ns[rows] == MISSING_INT, host_ns[rows], gpu_ns[rows])
        return widths[place], ns / n_forwards[rows]

    verify_widths, verify_ns = of_alike("verify")
    n_spans = np.bincount(verify_widths, minlength=2)
    if n_spans[1] < MIN_PLAIN_SPANS:
        return None
    found = {
        width: _median(verify_ns[verify_widths == width])
        for width in np.flatnonzero(n_spans).tolist()
    }
    plain_ns, calibrated = found[1], _from_calibration(snapshot)
    if plain_ns <= 0:
        return None
    if calibrated is not None:
        for width in {*found, *calibrated.widths}:
            if width > 1 and (width >= len(n_spans) or n_spans[width] < MIN_WIDE_SPANS):
                found[width] = plain_ns * calibrated.v(width)
    _, draft_ns = of_alike("draft_forward")
    ascending = sorted(found.items())
    return MeasuredCosts(
        source="spans",
        draft_ns=_median(draft_ns) if len(draft_ns) else 0.0,
        widths=tuple(width for width, _ in ascending),
        target_ns=tuple(ns for _, ns in ascending),
    )


def _from_calibration(snapshot: Snapshot) -> MeasuredCosts | None:
    calibrations = snapshot.calibrations
    if not len(calibrations):
        return None
    newest = calibrations["ordinal"] == calibrations["ordinal"][-1]
    roles, forward_ns = calibrations["role"][newest], calibrations["forward_ns"][newest]
    widths = calibrations["width"][newest][roles == TARGET]
    target_ns = forward_ns[roles == TARGET]
    if not len(widths) or widths[0] != 1 or target_ns[0] <= 0:
        return None
    draft_ns = forward_ns[roles == DRAFT]
    return MeasuredCosts(
        source="calibration",
        draft_ns=float(draft_ns[0]) if len(draft_ns) else 0.0,
        widths=tuple(widths.tolist()),
        target_ns=tuple(map(float, target_ns.tolist())),
    )


def _median(values: Array) -> float:
    return float(np.median(values))
