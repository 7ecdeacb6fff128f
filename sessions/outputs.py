"""What each sequence of a session was asked and gave."""

from dataclasses import dataclass

import numpy as np

from sessions.aligned_outputs import Outputs
from sessions.columns import MISSING_CODE
from sessions.snapshot import Snapshot
from sessions.tables import FINISH_CODES, SequenceChange

_FINISH_NAMES = {code: str(reason) for reason, code in FINISH_CODES.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceOutput:
    """``finish_reason`` is None while the sequence runs; ``text`` is then what was committed."""

    sequence_id: int
    label: str
    prompt: str
    n_prompt_tokens: int
    seed: int
    token_ids: tuple[int, ...]
    token_texts: tuple[str, ...]
    text: str
    finish_reason: str | None
    finish_detail: str
    elapsed_s: float | None


def sequence_outputs(snapshot: Snapshot) -> tuple[SequenceOutput, ...]:
    """Every sequence, in the order first started."""
    sequences = snapshot.sequences
    changes = sequences["change"]
    ids = sequences["sequence_id"]
    finished = {
        int(ids[row]): int(row) for row in np.flatnonzero(changes == SequenceChange.FINISHED)
    }
    told = Outputs(snapshot)
    outputs: dict[int, SequenceOutput] = {}
    for row in np.flatnonzero(changes == SequenceChange.STARTED).tolist():
        sequence_id = int(ids[row])
        if sequence_id not in outputs:  # started again after a set-back
            outputs[sequence_id] = _output(snapshot, told, row, finished.get(sequence_id))
    return tuple(outputs.values())


def _output(
    snapshot: Snapshot, told: Outputs, start_row: int, finish_row: int | None
) -> SequenceOutput:
    sequences = snapshot.sequences
    sequence_id = int(sequences["sequence_id"][start_row])
    token_ids = told.token_ids(sequence_id)
    texts = told.texts(sequence_id, 0, len(token_ids))
    reason = None
    if finish_row is not None and (code := int(sequences["reason"][finish_row])) != MISSING_CODE:
        reason = _FINISH_NAMES[code]
    return SequenceOutput(
        sequence_id=sequence_id,
        label=sequences.text("label", start_row),
        prompt=sequences.text("text", start_row),
        n_prompt_tokens=int(sequences["n_prompt_tokens"][start_row]),
        seed=int(sequences["seed"][start_row]),
        token_ids=tuple(token_ids.tolist()),
        token_texts=tuple(texts),
        text="".join(texts) if finish_row is None else sequences.text("text", finish_row),
        finish_reason=reason,
        finish_detail="" if finish_row is None else sequences.text("detail", finish_row),
        elapsed_s=None if finish_row is None else int(sequences["elapsed_ns"][finish_row]) / 1e9,
    )
