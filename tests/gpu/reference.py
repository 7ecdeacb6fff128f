"""What greedy decoding must say: transformers' own forward over the text that came out.

Every token of a text is looked at, given the tokens before it, so a tie early in a text hides
nothing behind it. A token that is not the reference's best is a doubt; how far its logit lies below
the best tells whether rounding explains it.
"""

from typing import NamedTuple

import torch

from engine.benchmark.transformers_side import load

SINGLE_TIE = 1e-3
"""Two logits of single precision this close are a tie: near 20 its step is 2e-6, and what layers
sum in another order moves a logit by some hundreds of them."""


class Doubt(NamedTuple):
    """A token that is not the reference's first choice."""

    position: int  # in the output
    token_id: int
    best_id: int
    gap: float  # the best logit less that of the token
    margin: float  # the best logit less the second: top-2


class Reference:
    """The bundled target as transformers runs it on ``device``."""

    def __init__(self, dtype: torch.dtype, device: torch.device) -> None:
        self._module = load("bundled-target", dtype=dtype, device=device)
        self._device = device

    def logits(self, prompt_ids: list[int], output_ids: list[int]) -> torch.Tensor:
        """[n_output, vocab_size] in single precision: row j says what may stand at output j."""
        known = torch.tensor([[*prompt_ids, *output_ids]], device=self._device)
        with torch.inference_mode():
            every = self._module(known).logits[0].float()
        return every[len(prompt_ids) - 1 : -1]


def doubts(logits: torch.Tensor, output_ids: list[int]) -> list[Doubt]:
    """Where ``output_ids`` leave the first choice of the reference's ``logits``."""
    best, best_ids = logits.topk(2, dim=-1)
    taken = logits.gather(-1, torch.tensor(output_ids, device=logits.device)[:, None])
    gaps = (best[:, :1] - taken)[:, 0].tolist()
    margins = (best[:, 0] - best[:, 1]).tolist()
    rows = zip(output_ids, best_ids[:, 0].tolist(), gaps, margins, strict=True)
    return [
        Doubt(position, token_id, best_id, gap, margin)
        for position, (token_id, best_id, gap, margin) in enumerate(rows)
        if token_id != best_id
    ]


def margin_error(logits: torch.Tensor, rounded: torch.Tensor) -> float:
    """How far a narrower dtype moves the distance of the two best tokens, at the most: both are
    logits of the same text, ``rounded`` those of transformers in that dtype."""
    best_ids = logits.topk(2, dim=-1).indices
    first, second = (logits - rounded).gather(-1, best_ids).unbind(-1)
    return float((first - second).abs().max())
