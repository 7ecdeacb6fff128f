"""What to show beside a verdict: both models' own confidence, and how sure the target was."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from engine.drafters.base import Draft
from engine.sampling import on_host

_LOWEST = -1e30
"""In place of -inf where it is multiplied with a probability of 0."""


@dataclass(frozen=True)
class Readings:
    """All at temperature 1 and before top-k and top-p, so that they tell about the text and not
    about the settings; entropies in nats."""

    draft_confidences: tuple[float, ...]
    target_confidences: tuple[float, ...]
    target_entropies: tuple[float, ...]
    extra_entropy: float


def read(
    draft: Draft, target_logits: torch.Tensor, *, target_maxima: list[float], n_accepted: int
) -> Readings:
    """Readings of one sequence's step.

    Args:
        target_logits: [n_drafted + 1, n_tokens], finite.
        target_maxima: the largest logit of each of these rows.
    """
    n_drafted = len(draft)
    # The last row's token does not matter: only its entropy is kept.
    token_ids = [*draft.token_ids, 0]
    blocks, maxima = [target_logits], target_maxima
    if draft.logits is not None:
        token_ids += draft.token_ids
        blocks += draft.logits
        maxima = maxima + draft.maxima
    confidences, entropies = raw_readings(blocks, maxima, token_ids, n_entropies=n_drafted + 1)
    return Readings(
        draft_confidences=(
            (1.0,) * n_drafted  # looked up, not guessed
            if draft.logits is None
            else tuple(confidences[n_drafted + 1 :])
        ),
        target_confidences=tuple(confidences[:n_drafted]),
        target_entropies=tuple(entropies[:n_drafted]),
        extra_entropy=entropies[n_accepted],
    )


def raw_readings(
    blocks: Sequence[torch.Tensor], maxima: list[float], token_ids: list[int], *, n_entropies: int
) -> tuple[list[float], list[float]]:
    """What models thought before temperature and filters; to look at, never to decide with.

    With ``w`` the exponentials of a row less its maximum, ``p = w / sum(w)`` and the entropy is
    ``log(sum(w)) - sum(w * (row - maximum)) / sum(w)``: one pass of exponentials, no logarithms.

    Args:
        blocks: [n_rows, n_tokens] each, on one device; their rows count through.
        maxima: the largest logit of each row, finite.
        token_ids: one per row.
        n_entropies: how many rows, from the first, to tell the entropy of.

    Returns:
        The probability at temperature 1 of each row's token, and ``n_entropies`` entropies in nats.
    """
    sums_of = _sums_on_device if blocks[0].is_cuda else _sums_on_cpu
    chosen, sums, weighted = sums_of(blocks, maxima, token_ids, n_entropies)
    return (
        [min(1.0, weight / total) for weight, total in zip(chosen, sums, strict=True)],
        [
            max(0.0, math.log(total) - part / total)
            for total, part in zip(sums, weighted, strict=False)
        ],
    )


def _sums_on_cpu(
    blocks: Sequence[torch.Tensor], maxima: list[float], token_ids: list[int], n_entropies: int
) -> tuple[list[float], list[float], list[float]]:
    """Per row: the weight of its token, the sum of all weights; and of the first ``n_entropies``
    rows the sum of the weighted logits. Plain NumPy, and little of it: behind a forward every
    operator is out of the processor's caches and takes longer to fetch than to run."""
    shifted, weights = _SCRATCH.rows(len(token_ids), blocks[0].shape[-1])
    rows = iter(zip(shifted, maxima, strict=True))
    with np.errstate(invalid="ignore", over="ignore"):
        for block in blocks:
            for logits in block.float().numpy():
                place, maximum = next(rows)
                np.subtract(logits, maximum, out=place)
        np.exp(shifted, out=weights)
        weighted = _products(weights[:n_entropies], shifted)
    if any(map(math.isnan, weighted)):  # 0 * -inf: impossible tokens add nothing
        weighted = _products(weights[:n_entropies], shifted.clip(min=_LOWEST))
    chosen = [weights.item(place) for place in enumerate(token_ids)]
    return chosen, np.add.reduce(weights, 1).tolist(), weighted


def _products(some: np.ndarray, others: np.ndarray) -> list[float]:
    """The inner product of each row of ``some`` with the row of ``others`` at its place."""
    return [float(np.dot(a, b)) for a, b in zip(some, others, strict=False)]


class _Scratch:
    """Memory for some rows of fp32 on the CPU, the same at every call: fresh memory comes in pages
    that are cleared when they are first written. For the decoding thread alone."""

    def __init__(self) -> None:
        self._memory = np.empty((2, 0, 0), dtype=np.float32)

    def rows(self, n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
        """Two of [n_rows, n_columns], of no particular numbers; good until the next call."""
        if self._memory.shape[1] < n_rows or self._memory.shape[2] != n_columns:
            self._memory = np.empty((2, n_rows, n_columns), dtype=np.float32)
        return self._memory[0, :n_rows], self._memory[1, :n_rows]


_SCRATCH = _Scratch()


def _sums_on_device(
    blocks: Sequence[torch.Tensor], maxima: list[float], token_ids: list[int], n_entropies: int
) -> tuple[list[float], list[float], list[float]]:
    """The same on another device, in two transfers."""
    wide = torch.cat([block.float() for block in blocks])
    shifted = wide - torch.tensor(maxima, device=wide.device)[:, None]
    weights = shifted.exp()
    places = torch.tensor(token_ids, device=wide.device)[:, None]
    weighted = torch.linalg.vecdot(weights, shifted.clamp(min=_LOWEST))
    chosen, sums, products = on_host(
        weights.gather(-1, places).squeeze(-1), weights.sum(-1), weighted
    )
    return chosen, sums, products[:n_entropies]
