"""Logits to probabilities to a drawn token: the same code for the draft and the target.

Temperature 0 is not another algorithm: it makes one-hot distributions. Where all are one-hot they
are not written out, as their tokens say everything (see ``rejection.judge_one_hot``).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
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


class Sampled(msgspec.Struct, frozen=True, eq=False, gc=False):
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


class Peaks(NamedTuple):
    """The largest entry of each of some rows of logits, the first of equal ones."""

    token_ids: list[int]
    logits: list[float]  # NaN where a row holds one


def peaks(logits: torch.Tensor) -> Peaks:
    """Index and value of each row's largest entry, as :func:`greedy` finds it."""
    if logits.dtype == torch.float32 and not logits.is_cuda:
        array = logits.numpy()
        if len(array) == 1:  # every forward of a draft; without an axis it takes half as long
            index = int(array.argmax())
            return Peaks([index], [array.item(index)])
        indexes: list[int] = array.argmax(-1).tolist()
        return Peaks(indexes, [array.item(*place) for place in enumerate(indexes)])
    token_ids = logits.argmax(-1)
    ids, maxima = on_host(token_ids, logits.gather(-1, token_ids[:, None]).squeeze(-1))
    return Peaks([int(each) for each in ids], maxima)


def one_hot(token_ids: torch.Tensor, n_tokens: int) -> torch.Tensor:
    """[n_rows] ids to [n_rows, n_tokens] float32 with a single 1 per row."""
    probs = torch.zeros((token_ids.shape[0], n_tokens), device=token_ids.device)
    return probs.scatter_(-1, token_ids[:, None], 1.0)


def are_usable(row_maxima: list[float]) -> bool:
    """Whether all rows of logits with these maxima hold something to draw from: the maximum of a
    row with NaN or +inf, or with nothing but -inf, is not finite."""
    return all(map(math.isfinite, row_maxima))


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
