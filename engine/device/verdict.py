"""The verdicts of a whole batch, computed where the logits are, and read by the host at once.

The same arithmetic as ``engine.rejection``, which judges one sequence on the host and is the
readable one; here every sequence is a row, and what ends a loop there is a mask.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from engine.readings import Readings
from engine.rejection import Verdict, fates_of, ratios
from engine.sampling import SamplingParams, draw, greedy, one_hot, probabilities
from engine.wire.events import Origin


@dataclass(frozen=True, eq=False)
class DraftRows:
    """What was drafted, [n_rows, n_drafted] each; rows with fewer tokens are padded behind them."""

    token_ids: torch.Tensor  # int64
    n_drafted: torch.Tensor  # [n_rows] int64
    maxima: torch.Tensor  # of the logits each was drawn from; 0 where no model spoke
    confidences: torch.Tensor  # of each at temperature 1; 1 where no model spoke
    probs: torch.Tensor | None  # [n_rows, n_drafted, n_tokens] float32; None: one-hot on the tokens


_PER_TOKEN = (
    "token_ids", "draft_maxima", "draft_confidences",
    "draft_probs", "target_probs", "overlaps", "target_confidences",
)  # fmt: skip
_PER_ROW = ("target_maxima", "target_entropies")  # of the target's logits: one more than tokens
_SINGLE = ("n_drafted", "n_accepted", "extra_id", "extra_prob", "n_zero_residual")


def judge_rows(
    logits: torch.Tensor,
    draft: DraftRows,
    params: SamplingParams,
    *,
    uniforms: torch.Tensor,
    extra_uniforms: torch.Tensor,
) -> torch.Tensor:
    """Judge ``draft`` by the target's ``logits`` [n_rows, n_drafted + 1, n_tokens]; row j of them
    says what may stand in place of draft token j.

    Args:
        uniforms: [n_rows, n_drafted] float64 in [0, 1), for the tests.
        extra_uniforms: [n_rows] float64 in [0, 1), each draws an extra token.

    Returns:
        [n_rows, n_numbers] float64, which ``read_rows`` understands: one transfer.
    """
    n_rows, n_logits, n_tokens = logits.shape
    n_most = n_logits - 1
    ids = draft.token_ids
    places = torch.arange(n_most, device=ids.device)
    # A draft ends before its first token that was drawn from nothing.
    is_usable = torch.isfinite(draft.maxima) & (places < draft.n_drafted[:, None])
    n_drafted = is_usable.long().cumprod(-1).sum(-1)
    is_drafted = places < n_drafted[:, None]
    if params.temperature == 0.0:
        target_ids = greedy(logits.reshape(-1, n_tokens)).view(n_rows, n_logits)
        target_probs = (target_ids[:, :-1] == ids).double()
        draft_probs, overlaps = torch.ones_like(target_probs), target_probs
        n_accepted = _n_leading((target_probs > 0.0) & is_drafted)
        extra_ids = target_ids.gather(1, n_accepted[:, None]).squeeze(1)
        extra_probs = torch.ones_like(extra_uniforms)
        n_zero_residual = torch.zeros_like(n_accepted)
    else:
        probs = probabilities(logits.reshape(-1, n_tokens), params).view(logits.shape)
        tested, given = probs[:, :-1], draft.probs
        if given is None:
            given = one_hot(ids.reshape(-1), n_tokens).view(n_rows, n_most, n_tokens)
        draft_probs = given.gather(2, ids[:, :, None]).squeeze(2).double()
        target_probs = tested.gather(2, ids[:, :, None]).squeeze(2).double()
        overlaps = torch.minimum(given, tested).sum(-1).double()
        sums = given.sum(-1)
        has_law = (sums > 0.0) & torch.isfinite(sums)
        n_accepted = _n_leading(has_law & (uniforms * draft_probs < target_probs) & is_drafted)
        last = probs.gather(1, n_accepted[:, None, None].expand(-1, 1, n_tokens)).squeeze(1)
        source, n_zero_residual = last, torch.zeros_like(n_accepted)
        if n_most:
            at = n_accepted.clamp(max=n_most - 1)[:, None]
            rejected = given.gather(1, at[:, :, None].expand(-1, 1, n_tokens)).squeeze(1)
            residual = (last - rejected).clamp(min=0.0)
            is_recovery = (n_accepted < n_drafted) & has_law.gather(1, at).squeeze(1)
            has_residual = residual.sum(-1) > 0.0
            source = torch.where((is_recovery & has_residual)[:, None], residual, last)
            n_zero_residual = (is_recovery & ~has_residual).long()
        # Logits that are no numbers give an index past the last: they are refused, not used.
        extra_ids = draw(source, extra_uniforms).clamp(max=n_tokens - 1)
        extra_probs = last.gather(1, extra_ids[:, None]).squeeze(1).double()
    confidences, entropies = _read(logits, ids)
    columns = [
        ids, draft.maxima, draft.confidences, draft_probs, target_probs, overlaps, confidences,
        logits.amax(-1), entropies,
        torch.stack([n_drafted, n_accepted, extra_ids], 1), extra_probs[:, None],
        n_zero_residual[:, None],
    ]  # fmt: skip
    return torch.cat([column.double() for column in columns], 1)


@dataclass(frozen=True, eq=False)
class JudgedRow:
    """One sequence's step as the host reads it."""

    token_ids: list[int]  # as far as the draft was usable
    draft_probs: list[float]
    n_non_finite: int
    target_maxima: list[float]  # n_drafted + 1
    verdict: Verdict
    readings: Readings


def read_rows(
    numbers: np.ndarray, asked: Sequence[int], uniforms: Sequence[Sequence[float]], *, n_most: int
) -> list[JudgedRow]:
    """The rows of ``judge_rows``, the first ``len(asked)`` of them.

    Args:
        numbers: [n_rows or more, n_numbers] float64.
        asked: tokens that were drafted for each row, usable or not.
        n_most: the tokens of the widest row.
    """
    return [
        _row(numbers[row], n, list(tests), n_most)
        for row, (n, tests) in enumerate(zip(asked, uniforms, strict=True))
    ]


def _row(numbers: np.ndarray, n_asked: int, uniforms: list[float], n_most: int) -> JudgedRow:
    fields: dict[str, list[float]] = {}
    first = 0
    for names, width in ((_PER_TOKEN, n_most), (_PER_ROW, n_most + 1), (_SINGLE, 1)):
        for name in names:
            fields[name] = numbers[first : first + width].tolist()
            first += width
    n_drafted = int(fields["n_drafted"][0])
    n_accepted = int(fields["n_accepted"][0])

    def told(name: str) -> list[float]:
        return fields[name][:n_drafted]

    return JudgedRow(
        token_ids=[int(each) for each in told("token_ids")],
        draft_probs=told("draft_probs"),
        n_non_finite=int(n_drafted < n_asked),
        target_maxima=fields["target_maxima"][: n_drafted + 1],
        verdict=Verdict(
            fates=fates_of(n_accepted, n_drafted),
            draft_probs=ratios(told("draft_probs")),
            target_probs=ratios(told("target_probs")),
            overlaps=ratios(told("overlaps")),
            uniforms=tuple(uniforms[:n_drafted]),
            n_accepted=n_accepted,
            extra_token_id=int(fields["extra_id"][0]),
            extra_origin=Origin.RECOVERED if n_accepted < n_drafted else Origin.BONUS,
            extra_target_prob=min(1.0, fields["extra_prob"][0]),
            n_zero_residual=int(fields["n_zero_residual"][0]),
        ),
        readings=Readings(
            draft_confidences=tuple(told("draft_confidences")),
            target_confidences=tuple(told("target_confidences")),
            target_entropies=tuple(told("target_entropies")),
            extra_entropy=fields["target_entropies"][n_accepted],
        ),
    )


def confidences_of(logits: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
    """Probability at temperature 1 of ``token_ids`` [n_rows] under ``logits`` [n_rows, n_tokens],
    in double precision."""
    probs = logits.float().softmax(-1)
    return probs.gather(-1, token_ids[:, None]).squeeze(-1).double().clamp(max=1.0)


def _read(logits: torch.Tensor, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Confidence in the draft's tokens [n_rows, n_drafted] and entropies [n_rows, n_drafted + 1]
    in nats, both at temperature 1."""
    wide = logits.float()
    probs = wide.softmax(-1)
    confidences = probs[:, :-1].gather(2, ids[:, :, None]).squeeze(2).clamp(max=1.0)
    # As in engine.sampling: the normalising sum is known from the most likely token.
    means = torch.linalg.vecdot(probs, wide.clamp(min=-1e30))
    entropies = (wide.amax(-1) - probs.amax(-1).log() - means).clamp(min=0.0)
    return confidences.double(), entropies.double()


def _n_leading(are_true: torch.Tensor) -> torch.Tensor:
    """[n_rows]: how many columns are True before the first that is not."""
    return are_true.long().cumprod(-1).sum(-1)
