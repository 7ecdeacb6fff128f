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


def read(draft: Draft, target_logits: torch.Tensor, *, n_accepted: int) -> Readings:
    """Readings of one sequence's step.

    Args:
        target_logits: [n_drafted + 1, n_tokens], finite.
    """
    n_drafted = len(draft)
    # The last row's token does not matter: only its entropy is kept.
    rows, token_ids = target_logits, [*draft.token_ids, 0]
    if draft.logits is not None:  # of the draft's rows only the confidence is wanted
        rows, token_ids = torch.cat((rows, *draft.logits)), [*token_ids, *draft.token_ids]
    readings = raw_readings(rows, token_ids, n_entropies=n_drafted + 1)
    confidences = readings.confidences
    return Readings(
        draft_confidences=(
            (1.0,) * n_drafted  # looked up, not guessed
            if draft.logits is None
            else tuple(confidences[n_drafted + 1 :])
        ),
        target_confidences=tuple(confidences[:n_drafted]),
        target_entropies=tuple(readings.entropies[:n_drafted]),
        extra_entropy=readings.entropies[n_accepted],
    )
