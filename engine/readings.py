"""What to show beside a verdict: both models' own confidence, and how sure the target was."""

from dataclasses import dataclass

import torch

from engine.drafters.base import Draft
from engine.sampling import raw_readings


@dataclass(frozen=True)
class Readings:
    """All at temperature 1 and before top-k and top-p, so that they tell about the text and not
    about the settings; entropies in nats."""

    draft_confidences: tuple[float, ...]
    target_confidences: tuple[float, ...]
    target_entropies: tuple[float, ...]
    extra_entropy: float


def read(
    draft: Draft, target_logits: torch.Tensor, token_ids: torch.Tensor, *, n_accepted: int
) -> Readings:
    """Readings of one sequence's step.

    Args:
        target_logits: [n_drafted + 1, n_tokens], finite.
        token_ids: [n_drafted] int64, the draft.
    """
    n_drafted = len(draft)
    column = torch.nn.functional.pad(token_ids, (0, 1))  # the last row's token does not matter
    if draft.logits is None:
        readings = raw_readings(target_logits, column)
        draft_confidences = [1.0] * n_drafted  # looked up, not guessed
        confidences, entropies = readings.confidences, readings.entropies
    else:
        logits = torch.cat((draft.logits.to(target_logits.dtype), target_logits))
        readings = raw_readings(logits, torch.cat((token_ids, column)))
        draft_confidences = readings.confidences[:n_drafted]
        confidences = readings.confidences[n_drafted:]
        entropies = readings.entropies[n_drafted:]
    return Readings(
        draft_confidences=tuple(draft_confidences),
        target_confidences=tuple(confidences[:n_drafted]),
        target_entropies=tuple(entropies[:n_drafted]),
        extra_entropy=entropies[n_accepted],
    )
