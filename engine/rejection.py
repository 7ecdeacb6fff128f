"""The verdict on a draft by modified rejection sampling: pure, one sequence at a time.

A token ``x`` is accepted with probability ``min(1, target(x) / draft(x))``. At the first rejection
the rest is discarded and one token is drawn from ``max(0, target - draft)``, normalised; if all are
accepted one more is drawn from the target. The tokens that come out follow the target's law
whatever the draft (Leviathan et al. 2023, appendix A.1; Chen et al. 2023, theorem 1).
"""

import msgspec
import torch

from engine.sampling import draw_one, on_host
from engine.wire.events import Fate, Origin


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """One entry per draft token, and the one token that is drawn besides."""

    fates: tuple[Fate, ...]
    draft_probs: tuple[float, ...]
    target_probs: tuple[float, ...]
    overlaps: tuple[float, ...]  # probability that any draw at this place is accepted
    uniforms: tuple[float, ...]
    n_accepted: int
    extra_token_id: int
    extra_origin: Origin
    extra_target_prob: float
    n_zero_residual: int  # 1 if the residual held nothing to draw from


def judge(
    token_ids: torch.Tensor,
    draft_probs: torch.Tensor,
    target_probs: torch.Tensor,
    *,
    uniforms: list[float],
    extra_uniform: float,
) -> Verdict:
    """Accept, reject, discard; recover or add a bonus.

    Args:
        token_ids: [n_drafted] int64, drawn from ``draft_probs``.
        draft_probs: [n_drafted, n_tokens] float32, exactly the distributions drawn from. A row
            that holds anything but finite numbers is treated as no distribution: its token is
            rejected untested and the replacement comes from the target.
        target_probs: [n_drafted + 1, n_tokens] float32, finite.
        uniforms: n_drafted numbers in [0, 1), for the tests.
        extra_uniform: the number in [0, 1) that draws the extra token.
    """
    n_drafted, n_tokens = draft_probs.shape
    tested_probs = target_probs[:n_drafted]
    places = token_ids + n_tokens * torch.arange(n_drafted, device=token_ids.device)
    token_draft_probs, token_target_probs, token_overlaps, draft_sums = on_host(
        draft_probs.take(places),
        tested_probs.take(places),
        torch.minimum(draft_probs, tested_probs).sum(-1),
        draft_probs.sum(-1),
    )
    n_accepted = 0
    is_draft_usable = True
    for draft_prob, target_prob, draft_sum, uniform in zip(
        token_draft_probs, token_target_probs, draft_sums, uniforms, strict=True
    ):
        is_draft_usable = 0.0 < draft_sum < float("inf")  # False for NaN too
        # uniform < target / draft without the division, so that a draft probability of 0 is no
        # case.
        if not (is_draft_usable and uniform * draft_prob < target_prob):
            break
        n_accepted += 1

    last_row = target_probs[n_accepted]
    source = last_row
    origin = Origin.BONUS
    n_zero_residual = 0
    if n_accepted < n_drafted:
        origin = Origin.RECOVERED
        if is_draft_usable:
            residual = (last_row - draft_probs[n_accepted]).clamp_(min=0.0)
            if float(residual.sum()) > 0.0:
                source = residual
            else:
                n_zero_residual = 1
    extra_id = draw_one(source, extra_uniform)
    return Verdict(
        fates=fates_of(n_accepted, n_drafted),
        draft_probs=ratios(token_draft_probs),
        target_probs=ratios(token_target_probs),
        overlaps=ratios(token_overlaps),
        uniforms=tuple(uniforms),
        n_accepted=n_accepted,
        extra_token_id=extra_id,
        extra_origin=origin,
        extra_target_prob=min(1.0, float(last_row[extra_id])),
        n_zero_residual=n_zero_residual,
    )


def judge_one_hot(draft_ids: list[int], target_ids: list[int], *, uniforms: list[float]) -> Verdict:
    """What ``judge`` says of one-hot distributions, given the tokens that hold all their mass.

    Args:
        draft_ids: n_drafted tokens, each drawn from its own one-hot distribution.
        target_ids: n_drafted + 1 tokens.
        uniforms: n_drafted numbers in [0, 1): each accepts a ratio of 1 and rejects one of 0.
    """
    n_drafted = len(draft_ids)
    target_probs = tuple([float(a == b) for a, b in zip(draft_ids, target_ids[:-1], strict=True)])
    n_accepted = target_probs.index(0.0) if 0.0 in target_probs else n_drafted
    return Verdict(
        fates=fates_of(n_accepted, n_drafted),
        draft_probs=(1.0,) * n_drafted,
        target_probs=target_probs,
        overlaps=target_probs,
        uniforms=tuple(uniforms),
        n_accepted=n_accepted,
        extra_token_id=target_ids[n_accepted],  # what is left of the target without the draft
        extra_origin=Origin.RECOVERED if n_accepted < n_drafted else Origin.BONUS,
        extra_target_prob=1.0,
        n_zero_residual=0,
    )


def fates_of(n_accepted: int, n_drafted: int) -> tuple[Fate, ...]:
    """Accepted tokens, then a rejected one and what stands behind it."""
    fates = (Fate.ACCEPTED,) * n_accepted
    if n_accepted < n_drafted:
        fates += (Fate.REJECTED,) + (Fate.DISCARDED,) * (n_drafted - n_accepted - 1)
    return fates


def ratios(values: list[float]) -> tuple[float, ...]:
    """Rounding may leave a sum at 1.0000001; a reading that is no number is told as 0."""
    return tuple(min(1.0, value) if value == value else 0.0 for value in values)
