"""What to show beside a verdict: both models' own confidence, and how sure the target was."""

import math
from collections.abc import Sequence

import msgspec
import numpy as np
import torch

from engine.drafters.base import Draft
from engine.sampling import Peaks, on_host

_LOWEST = -1e30
"""In place of -inf where it is multiplied with a probability of 0."""


class Readings(msgspec.Struct, frozen=True, gc=False):
    """All at temperature 1 and before top-k and top-p, so that they tell about the text and not
    about the settings; entropies in nats."""

    draft_confidences: tuple[float, ...]
    target_confidences: tuple[float, ...]
    target_entropies: tuple[float, ...]
    extra_entropy: float


def read(
    draft: Draft, target_logits: torch.Tensor, *, target_peaks: Peaks, n_accepted: int
) -> Readings:
    """Readings of one sequence's step.

    Args:
        target_logits: [n_drafted + 1, n_tokens], finite.
        target_peaks: the largest logit of each of these rows.
    """
    n_drafted = len(draft)
    # The last row's token does not matter: only its entropy is kept.
    confidences, entropies = raw_readings(target_logits, target_peaks, [*draft.token_ids, 0])
    return Readings(
        draft_confidences=(
            (1.0,) * n_drafted  # looked up, not guessed
            if draft.logits is None
            else tuple(raw_confidences(draft.logits, draft.token_ids))
        ),
        target_confidences=tuple(confidences[:n_drafted]),
        target_entropies=tuple(entropies[:n_drafted]),
        extra_entropy=entropies[n_accepted],
    )


def raw_confidences(rows: Sequence[torch.Tensor], token_ids: list[int]) -> list[float]:
    """The probability at temperature 1 of one token in each of some [1, n_tokens] of logits."""
    if not rows:
        return []
    if rows[0].is_cuda:
        probs = torch.cat(tuple(rows)).float().softmax(-1)
        places = torch.tensor(token_ids, device=probs.device)[:, None]
        (chosen,) = on_host(probs.gather(-1, places).squeeze(-1))
    else:
        probs, weights = _SCRATCH.rows(1, rows[0].shape[-1])
        chosen = []
        for row, token_id in zip(rows, token_ids, strict=True):
            torch.softmax(_wide(row), -1, out=probs)
            chosen.append(weights.item(token_id))
    return [min(1.0, each) for each in chosen]


def raw_readings(
    logits: torch.Tensor, peaks: Peaks, token_ids: list[int]
) -> tuple[list[float], list[float]]:
    """What a model thought before temperature and filters; to look at, never to decide with.

    The entropy is the log of the normalising sum less the mean logit, and the sum is known from
    the most likely token: far fewer passes over the vocabulary than with logs of probabilities.

    Args:
        logits: [n_rows, n_tokens]; rows must be usable.
        peaks: of these rows.
        token_ids: n_rows of them.

    Returns:
        Per row the probability at temperature 1 of its token, and the entropy in nats.
    """
    columns = _columns_on_device if logits.is_cuda else _columns_on_cpu
    chosen, top_probs, means = columns(_wide(logits), peaks.token_ids, token_ids)
    return (
        [min(1.0, each) for each in chosen],
        [
            max(0.0, top - math.log(prob) - mean)
            for top, prob, mean in zip(peaks.logits, top_probs, means, strict=True)
        ],
    )


def _wide(logits: torch.Tensor) -> torch.Tensor:
    return logits if logits.dtype == torch.float32 else logits.float()


def _columns_on_cpu(
    wide: torch.Tensor, top_ids: list[int], token_ids: list[int]
) -> tuple[list[float], list[float], list[float]]:
    """Per row: the probability of its token, that of its most likely one, the mean logit. NumPy
    where it will do: an operator that was not used for a while takes longer to get going than these
    take on a few rows."""
    probs, weights = _SCRATCH.rows(*wide.shape)
    torch.softmax(wide, -1, out=probs)
    logits = wide.numpy()
    chosen = [weights.item(*place) for place in enumerate(token_ids)]
    top_probs = [weights.item(*place) for place in enumerate(top_ids)]
    with np.errstate(invalid="ignore"):
        means = [float(np.dot(a, b)) for a, b in zip(weights, logits, strict=True)]
    if any(map(math.isnan, means)):  # 0 * -inf: impossible tokens add nothing
        logits = logits.clip(min=_LOWEST)
        means = [float(np.dot(a, b)) for a, b in zip(weights, logits, strict=True)]
    return chosen, top_probs, means


class _Scratch:
    """Memory for some rows of fp32 on the CPU, the same at every call: fresh memory comes in pages
    that are cleared when they are first written. For the decoding thread alone."""

    def __init__(self) -> None:
        self._memory = torch.empty(0)
        self._views: dict[tuple[int, int], tuple[torch.Tensor, np.ndarray]] = {}

    def rows(self, n_rows: int, n_columns: int) -> tuple[torch.Tensor, np.ndarray]:
        """[n_rows, n_columns], of no particular numbers, as a tensor and as an array; good until
        the next call."""
        view = self._views.get((n_rows, n_columns))
        return self._make(n_rows, n_columns) if view is None else view

    @torch.inference_mode(False)  # else it could be written to in that mode alone
    def _make(self, n_rows: int, n_columns: int) -> tuple[torch.Tensor, np.ndarray]:
        if n_rows * n_columns > self._memory.numel():
            self._memory = torch.empty(n_rows * n_columns)
            self._views.clear()
        tensor = self._memory[: n_rows * n_columns].view(n_rows, n_columns)
        self._views[n_rows, n_columns] = (tensor, tensor.numpy())
        return self._views[n_rows, n_columns]


_SCRATCH = _Scratch()


def _columns_on_device(
    wide: torch.Tensor, top_ids: list[int], token_ids: list[int]
) -> tuple[list[float], list[float], list[float]]:
    """The same on another device, in one transfer back."""
    probs = wide.softmax(-1)
    places = torch.tensor([token_ids, top_ids], device=wide.device).T
    chosen, top_probs = probs.gather(-1, places).unbind(-1)
    means = torch.linalg.vecdot(probs, wide.clamp(min=_LOWEST))
    lists = on_host(chosen, top_probs, means)
    return lists[0], lists[1], lists[2]
