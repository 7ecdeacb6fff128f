"""Logits to probabilities to a drawn token: the same code for the draft and the target.

Temperature 0 is not a branch of the algorithm: it makes one-hot distributions, and everything
downstream treats them like any other.
"""

from dataclasses import dataclass

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
        logits: [n_rows, n_tokens], finite or -inf; see ``finite_rows``.

    Returns:
        [n_rows, n_tokens] float32, each row sums to 1 up to rounding. Rows of logits that are not
        usable come out as NaN or as an arbitrary one-hot: check ``finite_rows`` first.
    """
    if params.temperature == 0.0:
        return one_hot(logits.argmax(-1), logits.shape[-1])
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


def one_hot(token_ids: torch.Tensor, n_tokens: int) -> torch.Tensor:
    """[n_rows] ids to [n_rows, n_tokens] float32 with a single 1 per row."""
    probs = torch.zeros((token_ids.shape[0], n_tokens), device=token_ids.device)
    return probs.scatter_(-1, token_ids[:, None], 1.0)


def finite_rows(logits: torch.Tensor) -> torch.Tensor:
    """[n_rows] bool: rows without NaN and +inf and with at least one finite entry (the maximum of a
    row is NaN, +inf or -inf otherwise)."""
    return logits.amax(-1).isfinite()


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


@dataclass(frozen=True)
class RawReadings:
    """What a model thought before temperature and filters; to look at, never to decide with."""

    confidences: list[float]  # probability of the given token at temperature 1
    entropies: list[float]  # nats


def raw_readings(logits: torch.Tensor, token_ids: torch.Tensor) -> RawReadings:
    """Confidence and entropy of each row at temperature 1.

    Args:
        logits: [n_rows, n_tokens]; rows must pass ``finite_rows``.
        token_ids: [n_rows] int64.
    """
    log_probs = logits.float().log_softmax(-1)
    probs = log_probs.exp()
    # -inf logits give 0 * -inf = NaN: such tokens add nothing to the entropy.
    entropies = -(probs * log_probs.clamp(min=-1e4)).sum(-1)
    numbers = torch.stack((probs.gather(-1, token_ids[:, None]).squeeze(-1), entropies))
    confidences, entropy_list = numbers.clamp(min=0.0).tolist()
    return RawReadings([min(1.0, value) for value in confidences], entropy_list)
