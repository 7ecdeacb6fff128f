"""Transformers as the benchmark runs it: its own generate, on the bundled pair."""

import pytest
import torch

from engine.benchmark.transformers_side import TransformersSide

PROMPT_IDS = list(range(40, 60))


def make_side(draft: str | None, n_lookup: int = 0) -> TransformersSide:
    return TransformersSide(
        "bundled-target",
        draft,
        gamma=4,
        n_lookup=n_lookup,
        max_new_tokens=12,
        eos_ids=frozenset(),
        dtype=torch.float32,
        device=torch.device("cpu"),
    )


@pytest.mark.parametrize(("draft", "n_lookup"), [("bundled-draft", 0), (None, 3)])
def test_assisted_gives_the_plain_tokens(draft: str | None, n_lookup: int) -> None:
    side = make_side(draft, n_lookup)
    assert side.can_assist
    plain, assisted = side.plain(PROMPT_IDS), side.assisted(PROMPT_IDS)
    assert len(plain.token_ids) == 12
    assert assisted.token_ids == plain.token_ids
    assert plain.elapsed_s > 0
    for run in (side.plain, side.assisted):
        assert run(PROMPT_IDS, max_new_tokens=3).token_ids == plain.token_ids[:3]


def test_the_margin_is_that_of_the_two_highest_logits() -> None:
    side = make_side(None)
    assert not side.can_assist
    with torch.inference_mode():
        logits = side.target(torch.tensor([PROMPT_IDS])).logits[0, -1]
    best = logits.sort(descending=True).values
    assert side.margin(PROMPT_IDS) == pytest.approx(float(best[0] - best[1]), abs=1e-5)
    assert int(logits.argmax()) == side.plain(PROMPT_IDS).token_ids[0]
