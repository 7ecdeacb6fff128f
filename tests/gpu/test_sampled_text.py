"""Sampled text on the GPU: the law, and what a seed gives, captured or not."""

import torch

from engine.models.loading import LoadedPair
from tests.gpu.reference import Reference
from tests.gpu.runs import ON_GPU, PROMPTS, SAMPLED, decode, texts

pytestmark = ON_GPU

N_SAMPLES = 600


def test_a_seed_gives_its_text_captured_or_not_and_another_seed_another(pair: LoadedPair) -> None:
    captured = texts(decode(pair, **SAMPLED))
    assert captured == texts(decode(pair, **SAMPLED))
    assert captured == texts(decode(pair, **SAMPLED, graphs=False))
    assert captured != texts(decode(pair, **{**SAMPLED, "seed": 12}))


def test_replays_draw_new_numbers_every_time_and_follow_the_law(
    pair: LoadedPair, reference: Reference
) -> None:
    """Many sequences from one prompt: the counts of their first token against the target's law."""
    ids = pair.tokenizer.encode(PROMPTS[0], chat=False)
    # What stands behind the prompt does not matter to the logits before it.
    logits = reference.logits(ids, [0])[0, : pair.n_tokens]
    law = logits.double().softmax(-1).cpu()
    events = decode(
        pair, (PROMPTS[0],) * N_SAMPLES,
        temperature=1.0, batch=32, max_new_tokens=2, gamma=1, ignore_eos=True,
    )  # fmt: skip
    counts = torch.zeros_like(law)
    for output in texts(events).values():
        counts[output[0]] += 1
    # Tokens that are expected less than five times share one cell, as the test's law wants it.
    common = law * N_SAMPLES >= 5
    seen = torch.cat((counts[common], counts[~common].sum()[None]))
    expected = torch.cat((law[common], law[~common].sum()[None])) * N_SAMPLES
    distance = float(((seen - expected) ** 2 / expected.clamp(min=1e-9)).sum())
    n_free = len(expected) - 1
    assert n_free >= 3, "a law of one token shows nothing"
    # Chi-squared: mean n, variance 2 n; five deviations, and room for its tail at small n.
    assert distance < n_free + 5 * (2 * n_free) ** 0.5 + 5
