"""The prompt and the output so far propose: what followed the last tokens when they stood before.

Prompt lookup decoding: the longest suffix of the sequence that occurs earlier is found, and the
tokens that followed its latest earlier occurrence are the draft. Each is proposed with probability
1.
"""

from collections.abc import Sequence as Items

from engine.drafters.base import Draft, DraftRequest
from engine.drafters.none import empty_draft
from engine.sampling import SamplingParams
from engine.sequence import Sequence

NO_MATCH = "no earlier occurrence of the last tokens"


class NgramIndex:
    """Where each n-gram of a growing token list ended last, for every length in ``sizes``."""

    def __init__(self, shortest: int, longest: int) -> None:
        self._sizes = range(longest, shortest - 1, -1)
        self._ends: dict[tuple[int, ...], int] = {}
        self._n_indexed = 0

    def continuation(self, token_ids: list[int], n_wanted: int) -> list[int]:
        """Up to ``n_wanted`` tokens that followed the longest suffix seen before; [] without a
        match."""
        # The n-grams that end at the newest token are left out: they would match themselves.
        for end in range(self._n_indexed + 1, len(token_ids)):
            for size in self._sizes:
                if size <= end:
                    self._ends[tuple(token_ids[end - size : end])] = end
        self._n_indexed = max(self._n_indexed, len(token_ids) - 1)
        for size in self._sizes:
            if size < len(token_ids):
                found = self._ends.get(tuple(token_ids[-size:]))
                if found is not None:
                    return token_ids[found : found + n_wanted]
        return []


class NgramDrafter:
    """No model, no cache: an index per sequence."""

    def __init__(self, *, shortest: int, longest: int) -> None:
        self._sizes = (shortest, longest)
        self._indexes: dict[int, NgramIndex] = {}

    def open(self, sequence: Sequence) -> None:
        self._indexes[sequence.sequence_id] = NgramIndex(*self._sizes)

    def fits(self, n_positions: int) -> bool:
        return True

    def gamma_room(self, sequence: Sequence, gamma: int) -> tuple[int, str]:
        return gamma, ""

    def propose(self, requests: Items[DraftRequest], params: SamplingParams) -> list[Draft]:
        return [self._propose_one(request) for request in requests]

    def _propose_one(self, request: DraftRequest) -> Draft:
        sequence = request.sequence
        index = self._indexes[sequence.sequence_id]
        token_ids = index.continuation(sequence.token_ids, request.gamma) if request.gamma else []
        if not token_ids:
            note = NO_MATCH if request.gamma else ""
            return empty_draft(drafter="ngram", note=note)
        note = "" if len(token_ids) == request.gamma else "the match is followed by fewer tokens"
        return Draft(token_ids, None, None, "ngram", note)

    def settle(self, sequence: Sequence, *, step: int) -> None:
        """No cache."""

    def close(self, sequence_id: int) -> None:
        del self._indexes[sequence_id]
