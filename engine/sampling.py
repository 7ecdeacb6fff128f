"""Logits to probabilities to a drawn token: the same code for the draft and the target.

Temperature 0 is not another algorithm: it makes one-hot distributions. Where all are one-hot they
are not written out, as their tokens say everything (see ``rejection.judge_one_hot``).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

SMALLEST_TEMPERATURE = 1e-30
"""Single precision divides by it safely, and differs from 0 in nothing but equal logits."""


@dataclass(frozen=True)
class SamplingParams:
    """``temperature`` 0 is greedy, ``top_k`` 0 and ``top_p`` 1 are off; filters apply in that
    order: temperature, top-k, then top-p on what is left."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0


def probabilities(logits: torch.Tensor, params: SamplingParams) -> torch.Tensor:
    """The distributions that tokens are drawn from.

    Args:
        logits: [n_rows, n_tokens], finite or -inf; see ``are_usable``.

    Returns:
        [n_rows, n_tokens] float32, each row sums to 1 up to rounding. Rows of logits that are not
        usable come out as NaN or as an arbitrary one-hot: check ``are_usable`` first.
    """
    if params.temperature == 0.0:
        return one_hot(greedy(logits), logits.shape[-1])
    # Shifted so that the largest is 0: a small temperature, or a huge logit, overflows to nothing
    # worse than -inf.
    scaled = logits.float() - logits.amax(-1, keepdim=True)
    scaled /= max(params.temperature, SMALLEST_TEMPERATURE)
    if 0 < params.top_k < scaled.shape[-1]:
        # By index and not by value: among equal logits at the border exactly top_k stay.
        values, indexes = scaled.topk(params.top_k, dim=-1)
        scaled = torch.full_like(scaled, -torch.inf).scatter_(-1, indexes, values)
    probs = scaled.softmax(-1)
    if params.top_p < 1.0:
        values, indexes = probs.sort(dim=-1, descending=True, stable=True)
        # A token stays if those before it hold less than top_p: the first one always does.
        before = values.cumsum(-1, dtype=torch.float64) - values
        values = values.masked_fill(before >= params.top_p, 0.0)
        probs = torch.zeros_like(probs).scatter_(-1, indexes, values)
        probs /= probs.sum(-1, keepdim=True)
    return probs


@dataclass(eq=False, slots=True)  # one is made for every forward of a draft
class Sampled:
    """Tokens, and exactly the distributions they were drawn from."""

    token_ids: list[int]  # n_rows
    maxima: list[float]  # of each row of logits; see ``are_usable``
    probs: torch.Tensor | None  # [n_rows, n_tokens] float32; None: one-hot on the tokens


def sample(logits: torch.Tensor, params: SamplingParams, uniforms: list[float]) -> Sampled:
    """One token per row of ``logits`` [n_rows, n_tokens]. Rows that are not usable give some token
    or an index past the last: do not use it."""
    if params.temperature == 0.0:  # inverting a one-hot distribution gives its 1 for any uniform
        token_ids, maxima = peaks(logits)
        return Sampled(token_ids, maxima, None)
    probs = probabilities(logits, params)
    numbers = torch.tensor(uniforms, dtype=torch.float64, device=logits.device)
    drawn, maxima = on_host(draw(probs, numbers), logits.amax(-1))
    return Sampled([int(each) for each in drawn], maxima, probs)


def greedy(logits: torch.Tensor) -> torch.Tensor:
    """[n_rows] int64: the index of each row's largest entry, the first of equal ones."""
    if logits.dtype == torch.float32 and not logits.is_cuda:
        # NumPy's argmax is vectorised where torch's on the CPU is not: ten times as fast.
        return torch.from_numpy(logits.numpy().argmax(-1))
    return logits.argmax(-1)


def peaks(logits: torch.Tensor) -> tuple[list[int], list[float]]:
    """Index and value of each row's largest entry, as :func:`greedy` finds it; where a row holds
    NaN, the value is one."""
    if logits.dtype == torch.float32 and not logits.is_cuda:
        array = logits.numpy()
        indexes: list[int] = array.argmax(-1).tolist()
        return indexes, [array.item(row, index) for row, index in enumerate(indexes)]
    token_ids = logits.argmax(-1)
    ids, maxima = on_host(token_ids, logits.gather(-1, token_ids[:, None]).squeeze(-1))
    return [int(each) for each in ids], maxima


def one_hot(token_ids: torch.Tensor, n_tokens: int) -> torch.Tensor:
    """[n_rows] ids to [n_rows, n_tokens] float32 with a single 1 per row."""
    probs = torch.zeros((token_ids.shape[0], n_tokens), device=token_ids.device)
    return probs.scatter_(-1, token_ids[:, None], 1.0)


def are_usable(row_maxima: list[float]) -> list[bool]:
    """Whether rows of logits with these maxima hold something to draw from: the maximum of a row
    with NaN or +inf, or with nothing but -inf, is not finite."""
    return [math.isfinite(maximum) for maximum in row_maxima]


def on_host(*columns: torch.Tensor) -> list[list[float]]:
    """The numbers of some [n_rows] tensors as lists: one transfer where the device is another one.
    Ids come out whole, as float64 holds every one of them."""
    if columns[0].is_cuda:
        lists: list[list[float]] = torch.stack([each.double() for each in columns]).tolist()
        return lists
    return [each.tolist() for each in columns]


def draw(probs: torch.Tensor, uniforms: torch.Tensor) -> torch.Tensor:
    """One token per row by inversion of the cumulative sum.

    Args:
        probs: [n_rows, n_tokens] float32, non-negative, not all zero; need not sum to 1.
        uniforms: [n_rows] float64 in [0, 1).

    Returns:
        [n_rows] int64. A token of probability 0 is never drawn.
    """
    # float64: in float32 the rounding of 50,000 additions would move the law visibly.
    cumulative = probs.cumsum(-1, dtype=torch.float64)
    total = cumulative[:, -1:]
    below_total = torch.nextafter(total, torch.zeros_like(total))
    target = torch.minimum(uniforms[:, None] * total, below_total)
    return torch.searchsorted(cumulative, target, right=True).squeeze(-1)


def draw_one(probs: torch.Tensor, uniform: float) -> int:
    """``draw`` for a single distribution [n_tokens] and a number in [0, 1)."""
    cumulative = probs.cumsum(-1, dtype=torch.float64)
    total = float(cumulative[-1])
    return int(
        torch.searchsorted(cumulative, min(uniform * total, math.nextafter(total, 0.0)), right=True)
    )


@dataclass(frozen=True)
class RawReadings:
    """What a model thought before temperature and filters; to look at, never to decide with."""

    confidences: list[float]  # probability of the given token at temperature 1
    entropies: list[float]  # nats


def raw_confidences(rows: Sequence[torch.Tensor], token_ids: list[int]) -> list[float]:
    """The probability at temperature 1 of one token in each of some [1, n_tokens] of logits."""
    if not rows:
        return []
    if rows[0].is_cuda:
        probs = torch.cat(tuple(rows)).float().softmax(-1)
        places = torch.tensor(token_ids, device=probs.device)[:, None]
        (chosen,) = on_host(probs.gather(-1, places).squeeze(-1))
    else:
        probs = _SCRATCH.rows(1, rows[0].shape[-1])
        weights = probs.numpy()
        chosen = []
        for row, token_id in zip(rows, token_ids, strict=True):
            torch.softmax(row.float(), -1, out=probs)
            chosen.append(weights.item(0, token_id))
    return [min(1.0, each) for each in chosen]


def raw_readings(logits: torch.Tensor, token_ids: list[int]) -> RawReadings:
    """Confidence and entropy at temperature 1 of each row.

    Args:
        logits: [n_rows, n_tokens]; rows must be usable.
        token_ids: n_rows of them.
    """
    wide = logits.float()
    # The entropy is the log of the normalising sum less the mean logit; the sum is known from the
    # most likely token. Far fewer passes over the vocabulary than with logs of probabilities.
    columns = _columns if logits.is_cuda else _columns_on_cpu
    chosen, tops, top_probs, means = columns(wide, token_ids)
    return RawReadings(
        [min(1.0, each) for each in chosen],
        [
            max(0.0, top - math.log(prob) - mean)
            for top, prob, mean in zip(tops, top_probs, means, strict=True)
        ],
    )


def _columns_on_cpu(wide: torch.Tensor, token_ids: list[int]) -> list[list[float]]:
    """Per row: the probability of its token, the largest logit, its probability, the mean logit.
    Plain NumPy: an operator that was not used for a while takes longer to get going than these take
    on a few rows."""
    probs = _SCRATCH.rows(*wide.shape)
    torch.softmax(wide, -1, out=probs)
    logits, weights = wide.numpy(), probs.numpy()
    chosen = [weights.item(row, token_id) for row, token_id in enumerate(token_ids)]
    places = list(enumerate(logits.argmax(-1).tolist()))  # takes a third of what the maximum takes
    with np.errstate(invalid="ignore"):
        means = [float(np.dot(a, b)) for a, b in zip(weights, logits, strict=True)]
    if any(map(math.isnan, means)):  # 0 * -inf: impossible tokens add nothing
        logits = logits.clip(min=-1e30)
        means = [float(np.dot(a, b)) for a, b in zip(weights, logits, strict=True)]
    tops, top_probs = ([a.item(*place) for place in places] for a in (logits, weights))
    return [chosen, tops, top_probs, means]


class _Scratch:
    """Memory for some rows of fp32 on the CPU, the same at every call: fresh memory comes in pages
    that are cleared when they are first written. For the decoding thread alone."""

    def __init__(self) -> None:
        self._memory = torch.empty(0)

    def rows(self, n_rows: int, n_columns: int) -> torch.Tensor:
        """[n_rows, n_columns], of no particular numbers; good until the next call."""
        if self._memory.shape[0] < n_rows or self._memory.shape[1:] != (n_columns,):
            self._memory = torch.empty(n_rows, n_columns)
        return self._memory.narrow(0, 0, n_rows)


_SCRATCH = _Scratch()


def _columns(wide: torch.Tensor, token_ids: list[int]) -> list[list[float]]:
    """The same on another device, in two transfers."""
    probs = wide.softmax(-1)
    places = torch.tensor(token_ids, device=wide.device)[:, None]
    (chosen,) = on_host(probs.gather(-1, places).squeeze(-1))
    wide = wide.clamp(min=-1e30)
    means = torch.linalg.vecdot(probs, wide)
    return [chosen, *on_host(wide.amax(-1), probs.amax(-1), means)]
