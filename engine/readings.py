"""What to show beside a verdict: both models' own confidence, and how sure the target was."""

from dataclasses import dataclass

import torch

from engine.drafters.base import Draft
from engine.sampling import raw_confidences, raw_readings


@dataclass(frozen=True)
class Readings:
    """All at temperature 1 and before top-k and top-p, so that they tell about the text and not
    about the settings; entropies in nats."""

    draft_confidences: tuple[float, ...]
    target_confidences: tuple[float, ...]
    target_entropies: tuple[float, ...]
    extra_entropy: float


def read(draft: Draft, target_logits: torch.Tensor, *, n_accepted: int) -> Readings:
    """Readings of one sequence's step.

    Args:
        target_logits: [n_drafted + 1, n_tokens], finite.
    """
    n_drafted = len(draft)
    # The last row's token does not matter: only its entropy is kept.
    readings = raw_readings(target_logits, [*draft.token_ids, 0])
    return Readings(
        draft_confidences=(
            (1.0,) * n_drafted  # looked up, not guessed
            if draft.logits is None
            else tuple(raw_confidences(draft.logits, draft.token_ids))
        ),
        target_confidences=tuple(readings.confidences[:n_drafted]),
        target_entropies=tuple(readings.entropies[:n_drafted]),
        extra_entropy=readings.entropies[n_accepted],
    )
