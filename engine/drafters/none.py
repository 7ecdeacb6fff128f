"""No drafter: every step is plain decoding. The baseline."""

from collections.abc import Sequence as Items

from engine.drafters.base import Draft, DraftRequest
from engine.sampling import SamplingParams
from engine.sequence import Sequence


def empty_draft(*, drafter: str, note: str = "") -> Draft:
    """A draft of no tokens."""
    return Draft([], None, None, drafter, note)


class NoDrafter:
    """Proposes nothing and holds nothing."""

    def __init__(self) -> None:
        self._empty = empty_draft(drafter="none")

    def open(self, sequence: Sequence) -> None:
        """Nothing to prepare."""

    def fits(self, n_positions: int) -> bool:
        return True

    def gamma_room(self, sequence: Sequence, gamma: int) -> tuple[int, str]:
        return 0, ""

    def propose(self, requests: Items[DraftRequest], params: SamplingParams) -> list[Draft]:
        return [self._empty] * len(requests)

    def settle(self, sequence: Sequence, *, step: int) -> None:
        """No cache."""

    def close(self, sequence_id: int) -> None:
        """No cache."""
