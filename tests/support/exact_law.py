"""What the target's own law is, computed without the engine, and how far samples are from it."""

from collections import Counter
from collections.abc import Iterable

import numpy as np
from scipy import stats

from tests.support.toy_model import ToyModel


def exact_probs(
    logits: np.ndarray, *, temperature: float, top_k: int = 0, top_p: float = 1.0
) -> np.ndarray:
    """One row of logits to the distribution asked for: temperature, then top-k, then top-p."""
    weights = np.exp((logits - logits.max()) / temperature)
    probs = weights / weights.sum()
    order = sorted(range(len(probs)), key=lambda token_id: -probs[token_id])
    kept = order[:top_k] if top_k else order
    mass = sum(probs[token_id] for token_id in kept)
    filtered = np.zeros_like(probs)
    so_far = 0.0
    for token_id in kept:
        if so_far >= top_p:
            break
        filtered[token_id] = probs[token_id]
        so_far += probs[token_id] / mass
    return filtered / filtered.sum()


def pair_law(
    model: ToyModel, prompt: list[int], *, n_tokens: int | None = None, **sampling: float
) -> dict[tuple[int, int], float]:
    """Probability of each first and second output token."""

    def next_probs(token_ids: list[int]) -> np.ndarray:
        logits = model.plain_logits(token_ids)[-1, :n_tokens]
        return exact_probs(logits.double().numpy(), **sampling)

    law = {}
    for first, first_prob in enumerate(next_probs(prompt)):
        if first_prob > 0.0:
            for second, second_prob in enumerate(next_probs([*prompt, first])):
                law[first, second] = float(first_prob * second_prob)
    return law


def chi_squared(samples: Iterable[object], law: dict) -> tuple[float, int]:
    """Statistic and degrees of freedom; cells with fewer than 5 expected are one cell. A sample of
    probability 0 is infinitely far."""
    counts = Counter(samples)
    n_samples = counts.total()
    if any(law.get(value, 0.0) == 0.0 for value in counts):
        return float("inf"), 1
    cells: list[tuple[float, float]] = []  # observed, expected
    rare_observed = rare_expected = 0.0
    for value, prob in law.items():
        if prob * n_samples >= 5:
            cells.append((counts[value], prob * n_samples))
        else:
            rare_observed += counts[value]
            rare_expected += prob * n_samples
    if rare_expected >= 5 or not cells:
        cells.append((rare_observed, rare_expected))
    elif rare_expected > 0:  # too few for a cell of their own: they join the smallest
        smallest = min(range(len(cells)), key=lambda index: cells[index][1])
        observed, expected = cells[smallest]
        cells[smallest] = (observed + rare_observed, expected + rare_expected)
    distance = sum((observed - expected) ** 2 / expected for observed, expected in cells)
    return distance, max(1, len(cells) - 1)


def p_value(distance: float, n_free: int) -> float:
    return float(stats.chi2.sf(distance, n_free))
