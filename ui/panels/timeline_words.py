"""What the timeline's cross-hair says: the span or the token beneath it, with exact values."""

import math

import numpy as np

from sessions.columns import MISSING_INT
from sessions.metrics.fate_columns import PROPOSED, FateTokens
from sessions.metrics.lanes import Lane
from sessions.tables import ACCEPTED, DISCARDED, REJECTED
from ui.panels.timeline_digest import TimelineDigest, number

FATES = {ACCEPTED: "accepted", REJECTED: "rejected", DISCARDED: "discarded, never tested",
         PROPOSED: "proposed, not judged yet"}  # fmt: skip


def duration(ns: float) -> str:
    """Four digits and a unit."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("\u00b5s", 1e3)):
        if ns >= size:
            return f"{ns / size:.4g} {unit}"
    return f"{ns:.0f} ns"


def since_start(ns: float) -> str:
    """A moment, to the microsecond."""
    return f"{ns / 1e6:,.3f} ms".replace(",", "\u2009")


def lane_words(digest: TimelineDigest, keys: tuple[str, ...], t_ns: float) -> str:
    """The innermost piece of work of the lanes ``keys`` at a moment; "" where there is none."""
    for key in reversed(keys):
        for lane in digest.lanes:
            if lane.key == key:
                words = _piece(digest, lane, t_ns)
                if words:
                    return words
    return ""


def fate_words(digest: TimelineDigest, slot: int, position: int, t_ns: float) -> str:
    """The token at a row (``position`` from 0) and a moment, or how many of them."""
    if digest.counts is not None:
        return _counted(digest, slot, position, t_ns)
    tokens, times = digest.tokens, digest.token_ns
    if tokens is None or times is None:
        return ""
    is_it = (times[0] <= t_ns) & (t_ns < times[1])
    found = np.flatnonzero(is_it & (tokens.slot == slot) & (tokens.draft_index == position))
    return _token(tokens, int(found[-1])) if len(found) else ""


def step_at(digest: TimelineDigest, t_ns: float) -> int | None:
    """The step that a click at a moment means."""
    if digest.counts is not None:
        grid = digest.fate_grid
        column = int((t_ns - grid.first_ns) // grid.column_ns)
        return int(digest.column_steps[column]) if 0 <= column < grid.n else None
    steps = digest.steps
    place = int(np.searchsorted(steps.start_ns, t_ns, side="right")) - 1
    return int(steps.step[place]) if place >= 0 and t_ns <= steps.end_ns[place] else None


def _piece(digest: TimelineDigest, lane: Lane, t_ns: float) -> str:
    name = digest.kernels_name if lane.key == "kernels" else lane.key.replace("_", " ")
    if lane.busy_ns is not None:
        column = int((t_ns - digest.grid.first_ns) // digest.grid.column_ns)
        if not 0 <= column < digest.grid.n:
            return ""
        share = lane.busy_ns[column] / digest.grid.column_ns
        start = digest.grid.first_ns + column * digest.grid.column_ns
        return (
            f"{name}: {share:.1%} of {duration(digest.grid.column_ns)}\nfrom {since_start(start)}"
        )
    bars = lane.bars
    assert bars is not None
    found = np.flatnonzero((bars.start_ns <= t_ns) & (t_ns < bars.end_ns))
    if not len(found):
        return ""
    row = int(found[-1])
    start, end, gpu = (int(v[row]) for v in (bars.start_ns, bars.end_ns, bars.gpu_ns))
    step = int(bars.step[row])
    lines = [bars.names[row] if bars.names else name]
    lines[0] += f" \u00b7 step {number(step)}" if step >= 0 else ""
    lines.append(f"{duration(end - start)} from {since_start(start)}")
    if gpu != MISSING_INT:
        lines.append(f"on the device {duration(gpu)}")
    return "\n".join(lines)


def _token(tokens: FateTokens, row: int) -> str:
    step, position = int(tokens.step[row]), int(tokens.draft_index[row]) + 1
    fate = int(tokens.fate[row])
    draft, target, uniform = (
        float(v[row]) for v in (tokens.draft_prob, tokens.target_prob, tokens.uniform)
    )
    lines = [
        f"{shown(tokens.texts[row])} {FATES[fate]}",
        f"step {number(step)} \u00b7 draft position {position} \u00b7 "
        f"sequence {int(tokens.sequence_id[row])}",
    ]
    if fate == PROPOSED:
        return "\n".join([*lines, f"draft probability {_figure(draft)}"])
    lines.append(f"draft {_figure(draft)} \u00b7 target {_figure(target)}")
    if fate == DISCARDED:
        lines.append("uniform not used: behind a rejection")
    else:
        lines.append(f"uniform {_figure(uniform)}, target / draft {_ratio(target, draft)}")
    return "\n".join(lines)


def _counted(digest: TimelineDigest, slot: int, position: int, t_ns: float) -> str:
    grid, counts = digest.fate_grid, digest.counts
    column = int((t_ns - grid.first_ns) // grid.column_ns)
    assert counts is not None
    if not 0 <= column < grid.n:
        return ""
    accepted, rejected, discarded = counts[slot, position, :, column].tolist()
    whole = accepted + rejected + discarded
    if not whole:
        return ""
    start = since_start(grid.first_ns + column * grid.column_ns)
    return (
        f"draft position {position + 1}: {number(whole)} drafted in {duration(grid.column_ns)}\n"
        f"{number(accepted)} accepted \u00b7 {number(rejected)} rejected \u00b7 "
        f"{number(discarded)} discarded\nfrom {start}"
    )


def shown(text: str) -> str:
    """A token in quotes, its line breaks and blanks to be seen."""
    return "\u201c" + text.replace("\n", "\u21b5").replace("\t", "\u21e5") + "\u201d"


def _figure(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{value:.4g}"


def _ratio(target: float, draft: float) -> str:
    return _figure(target / draft) if draft > 0 else "n/a"
