"""What the decode loop asks of whatever proposes tokens."""

from collections.abc import Sequence as Items
from typing import Protocol

import msgspec
import torch

from engine.sampling import SamplingParams
from engine.sequence import Sequence


class DraftRequest(msgspec.Struct, frozen=True, eq=False, gc=False):
    sequence: Sequence
    gamma: int
    uniforms: list[float]  # gamma numbers in [0, 1) to draw with


class Draft(msgspec.Struct, frozen=True, eq=False, gc=False):
    """Proposed tokens and the distributions they were drawn from."""

    token_ids: list[int]
    probs: torch.Tensor | None  # [n_drafted, n_tokens] float32; None: one-hot on the tokens
    logits: list[torch.Tensor] | None  # per token [1, n_tokens]; None where no model spoke
    drafter: str  # "model", "ngram" or "none"
    note: str = ""  # why it is shorter than asked
    n_non_finite: int = 0
    n_on_device: int = 0  # tokens that were queued there and are not known yet
    drawn_with: list[float] | None = None  # per token its probability, where ``probs`` stayed there

    def __len__(self) -> int:
        return len(self.token_ids)

    def token_probs(self) -> list[float]:
        """Per token, the probability it was drawn with."""
        if self.drawn_with is not None:
            return self.drawn_with
        if self.probs is None:
            return [1.0] * len(self.token_ids)
        probs: list[float] = self.probs[range(len(self.token_ids)), self.token_ids].tolist()
        return probs


class Drafter(Protocol):
    """Proposes for all sequences of a step at once."""

    def open(self, sequence: Sequence) -> None:
        """The sequence enters the batch; its blocks are there (see ``fits``)."""
        ...

    def fits(self, n_positions: int) -> bool: ...

    def gamma_room(self, sequence: Sequence, gamma: int) -> tuple[int, str]:
        """How much of ``gamma`` can be drafted now, and why not all of it. Takes the blocks."""
        ...

    def propose(self, requests: Items[DraftRequest], params: SamplingParams) -> list[Draft]:
        """One draft per request, in order; shorter than asked, or empty, where there is less to
        say."""
        ...

    def settle(self, sequence: Sequence, *, step: int) -> None:
        """The step is committed: roll the cache back to what the sequence still holds."""
        ...

    def close(self, sequence_id: int) -> None: ...
