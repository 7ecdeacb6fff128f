"""The timeline's values as columns, for whoever copies them."""

from typing import Any

import numpy as np

from sessions.columns import Array
from sessions.tables import ACCEPTED, DISCARDED, REJECTED
from ui.panels.timeline_digest import TimelineDigest
from ui.panels.timeline_words import FATES

_COUNTED = {"accepted": ACCEPTED, "rejected": REJECTED, "discarded": DISCARDED}


def lane_columns(digest: TimelineDigest) -> dict[str, Any]:
    """A line per bar, or per lane and column that is busy."""
    names: list[str] = []
    parts: list[tuple[Array, Array, Array, Array]] = []
    for lane in digest.lanes:
        if lane.bars is not None:
            bars = lane.bars
            part = (bars.step, bars.start_ns, bars.end_ns, bars.end_ns - bars.start_ns)
        else:
            assert lane.busy_ns is not None
            busy = np.flatnonzero(lane.busy_ns)
            edges = digest.grid.edges_ns
            part = (np.full(len(busy), -1), edges[busy], edges[busy + 1], lane.busy_ns[busy])
        parts.append(part)
        names += [lane.key] * len(part[0])
    step, start, end, busy_ns = (np.concatenate(column) for column in zip(*parts, strict=True))
    return {"lane": names, "step": step, "start_ns": start, "end_ns": end, "busy_ns": busy_ns}


def fate_columns(digest: TimelineDigest) -> dict[str, Any]:
    """A line per token, or per sequence row, position and column where something was drafted."""
    tokens, times, counts = digest.tokens, digest.token_ns, digest.counts
    if tokens is not None and times is not None:
        return {
            "step": tokens.step, "sequence_id": tokens.sequence_id, "start_ns": times[0],
            "end_ns": times[1], "draft_position": tokens.draft_index + 1, "text": tokens.texts,
            "fate": [FATES[fate] for fate in tokens.fate.tolist()],
            "draft_prob": tokens.draft_prob, "target_prob": tokens.target_prob,
            "uniform": tokens.uniform,
        }  # fmt: skip
    assert counts is not None
    row, position, column = np.nonzero(counts.sum(axis=2))
    edges = digest.fate_grid.edges_ns
    return {
        "row": row, "draft_position": position + 1, "start_ns": edges[column],
        "end_ns": edges[column + 1],
        **{name: counts[row, position, fate, column] for name, fate in _COUNTED.items()},
    }  # fmt: skip
