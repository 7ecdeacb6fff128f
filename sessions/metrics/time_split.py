"""Where the time went: of the steps, phase by phase; of the session, steps and what lies between.

On a device the host only queues work, so that the time of a forward shows wherever the host next
waits: there the device's own clock tells the phases apart, where every span has it.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from engine.wire.events import EngineState
from sessions.columns import MISSING_INT, Array
from sessions.metrics.interval import ratio
from sessions.metrics.over_time import engine_steps
from sessions.metrics.selection import EVERYTHING, Selection, profiled_steps, without_steps
from sessions.snapshot import Snapshot
from sessions.tables import STATE_CODES

Clock = Literal["host", "device"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSplit:
    """Nanoseconds of ``n_steps`` engine steps, pauses left out. The six parts make the whole,
    exactly: ``other_ns`` is what no span covers."""

    clock: Clock
    n_steps: int
    n_draft_forwards: int
    draft_forward_ns: int
    draft_rest_ns: int  # drafting, its forwards apart: drawing tokens, looking n-grams up
    verify_ns: int
    sample_ns: int
    commit_ns: int
    other_ns: int

    @property
    def draft_ns(self) -> int:
        return self.draft_forward_ns + self.draft_rest_ns

    @property
    def forward_ns(self) -> int:
        return self.draft_forward_ns + self.verify_ns

    @property
    def whole_ns(self) -> int:
        rest_ns = self.sample_ns + self.commit_ns + self.other_ns
        return self.draft_ns + self.verify_ns + rest_ns

    @property
    def overhead_share(self) -> float | None:
        """The part of the steps outside the two models' forwards."""
        return ratio(self.whole_ns - self.forward_ns, self.whole_ns)

    def share(self, part_ns: int) -> float | None:
        return ratio(part_ns, self.whole_ns)


def time_split(
    snapshot: Snapshot, selection: Selection = EVERYTHING, *, clock: Clock | None = None
) -> TimeSplit | None:
    """Added up over the selected steps, those whose kernels were recorded apart; None where no step
    was measured, or not by ``clock``.

    ``clock`` None is the device's where every span has it, else the host's.
    """
    spans = snapshot.spans
    rows = without_steps(selection.span_rows(snapshot), spans["step"], profiled_steps(snapshot))
    names, start_ns = spans["name"][rows], spans["start_ns"][rows]
    step_rows = np.flatnonzero(names == spans.code("step"))
    if not len(step_rows):
        return None
    host_ns, gpu_ns = spans["host_ns"][rows], spans["gpu_ns"][rows]
    has_device = not bool(np.any(gpu_ns == MISSING_INT))
    if clock == "device" and not has_device:
        return None
    clock = clock or ("device" if has_device else "host")
    lengths = gpu_ns if clock == "device" else host_ns
    # All names at once. Sums are floats: whole numbers of ns are exact for a hundred days.
    totals_ns = np.bincount(names, weights=lengths)

    def total(name: str) -> int:
        code = spans.code(name)
        return int(totals_ns[code]) if 0 <= code < len(totals_ns) else 0

    starts, ends = start_ns[step_rows], start_ns[step_rows] + host_ns[step_rows]
    paused_ns = paused_until(snapshot, ends) - paused_until(snapshot, starts)
    whole_ns = total("step") - int(paused_ns.sum())
    draft_ns, verify_ns = total("draft"), total("verify")
    sample_ns, commit_ns = total("sample"), total("commit")
    return TimeSplit(
        clock=clock,
        n_steps=len(step_rows),
        n_draft_forwards=int(spans["n_forwards"][rows][names == spans.code("draft_forward")].sum()),
        draft_forward_ns=total("draft_forward"),
        draft_rest_ns=draft_ns - total("draft_forward"),
        verify_ns=verify_ns,
        sample_ns=sample_ns,
        commit_ns=commit_ns,
        other_ns=whole_ns - draft_ns - verify_ns - sample_ns - commit_ns,
    )


def paused_until(snapshot: Snapshot, moments: Array) -> Array:
    """How long the engine had been paused in all at each of ``moments`` (ns), in ns."""
    states = snapshot.states
    t_ns = states["t_ns"]
    is_paused = states["state"] == STATE_CODES[EngineState.PAUSED]
    lengths = np.where(is_paused, np.diff(t_ns, append=max(snapshot.t_ns, 0)), 0)
    before = np.concatenate(([0], np.cumsum(lengths)))  # [n_states + 1] paused before each state
    if not is_paused.any():
        return np.zeros(len(moments), np.int64)
    state = np.searchsorted(t_ns, moments, side="right") - 1
    within = np.where(is_paused[state], np.minimum(moments - t_ns[state], lengths[state]), 0)
    return np.where(state < 0, 0, before[np.maximum(state, 0)] + within)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTime:
    """Nanoseconds from the first sequence's start to the last commit or finish. The parts make
    the whole; ``other_ns`` is waiting for prompts, and whatever nobody measured."""

    whole_ns: int
    step_ns: int
    prefill_ns: int
    calibration_ns: int
    paused_ns: int

    @property
    def other_ns(self) -> int:
        parts_ns = self.step_ns + self.prefill_ns + self.calibration_ns + self.paused_ns
        return self.whole_ns - parts_ns


def session_time(snapshot: Snapshot) -> SessionTime:
    """All of the session; zeros where no sequence has started."""
    sequences, steps = snapshot.sequences, snapshot.steps
    if not len(sequences):
        return SessionTime(whole_ns=0, step_ns=0, prefill_ns=0, calibration_ns=0, paused_ns=0)
    first = int(sequences["t_ns"][0])
    last = max(int(table["t_ns"][-1]) for table in (sequences, steps) if len(table))
    calibrations = snapshot.calibrations
    _, rows = np.unique(calibrations["ordinal"], return_index=True)
    is_within = calibrations["t_ns"][rows] >= first
    paused_ns = paused_until(snapshot, np.array([first, last]))
    return SessionTime(
        whole_ns=last - first,
        step_ns=engine_steps(snapshot, with_profiled=True).total_ns,
        prefill_ns=int(snapshot.prefills["host_ns"].sum()),
        calibration_ns=int(calibrations["elapsed_ns"][rows][is_within].sum()),
        paused_ns=int(paused_ns[1] - paused_ns[0]),
    )
