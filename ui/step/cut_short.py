"""Which sequences ended before they were done, in sentences."""

from collections.abc import Mapping

import numpy as np

from engine.wire.events import FinishReason
from sessions.snapshot import Snapshot
from sessions.tables import FINISH_CODES, SequenceChange

WORDS = {
    FinishReason.CONTEXT: "the target's context is full",
    FinishReason.CACHE_FULL: "the KV cache cannot hold more of it",
    FinishReason.FAILED: "it failed",
}
_BY_CODE = {FINISH_CODES[reason]: words for reason, words in WORDS.items()}


def cut_short(snapshot: Snapshot) -> Mapping[int, str]:
    """Why, by the sequence's id; empty where all ended as they were to."""
    sequences = snapshot.sequences
    found = {}
    for row in np.flatnonzero(sequences["change"] == SequenceChange.FINISHED).tolist():
        words = _BY_CODE.get(int(sequences["reason"][row]))
        if words:
            detail = sequences.text("detail", row)
            n = int(sequences["n_output_tokens"][row])
            found[int(sequences["sequence_id"][row])] = (
                f"Ended after {n:,} tokens: {words}{f' ({detail})' if detail else ''}."
            )
    return found


def notice(snapshot: Snapshot) -> str:
    """One sentence for all of a run; "" where none was cut short."""
    found = cut_short(snapshot)
    parts = [f"Sequence {number}: {words}" for number, words in list(found.items())[:3]]
    more = len(found) - len(parts)
    return " ".join(parts) + (f" {more} more ended early." if more else "")
