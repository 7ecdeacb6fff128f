from typing import Any

import numpy as np
import pytest

from sessions.columns import MISSING_CODE
from sessions.step_verdict import ExtraToken, StepVerdict
from sessions.tables import ACCEPTED, DISCARDED, REJECTED
from ui.step.verdict_words import (
    apart,
    extra_words,
    figure,
    greedy_words,
    quoted,
    short,
    token_figures,
    token_words,
)

NAN = float("nan")


def verdict(**changed: Any) -> StepVerdict:
    """Three tokens: accepted, rejected, discarded; then one recovered."""
    settings: dict[str, Any] = {
        "sequence_id": 0, "step": 7, "gamma": 3, "drafter": "model", "reason": "",
        "is_judged": True, "texts": (" jumps", " self", " x"), "token_ids": np.arange(3),
        "draft_probs": np.array([0.42, 0.42, 0.5]), "target_probs": np.array([0.30, 0.10, 0.2]),
        "draft_confidences": np.array([0.4, 0.4, 0.5]),
        "target_confidences": np.array([0.3, 0.1, 0.2]),
        "overlaps": np.full(3, 0.7), "entropies": np.full(3, 1.25),
        "uniforms": np.array([0.31, 0.61, 0.9]),
        "fates": np.array([ACCEPTED, REJECTED, DISCARDED], np.int8),
        "extra": ExtraToken(text=" return", token_id=9, origin="recovered", target_prob=0.55,
                            entropy=1.5),
        "n_zero_residual": 0, "n_non_finite_draft": 0, "temperature": 0.6,
    }  # fmt: skip
    return StepVerdict(**{**settings, **changed})


BONUS = ExtraToken(text="y", token_id=9, origin="bonus", target_prob=0.55, entropy=1.5)


def test_accepted():
    assert token_words(verdict(), 0) == (
        "' jumps' was accepted: drafted with 0.42, the target gives 0.30, so the threshold is "
        "0.71; the number drawn was 0.31, below it."
    )


def test_accepted_whatever_is_drawn():
    sure = verdict(target_probs=np.array([0.5, 0.1, 0.2]))
    assert token_words(sure, 0).endswith("threshold is 1: whatever number is drawn lies below it.")


def test_rejected_and_what_took_its_place():
    assert token_words(verdict(), 1) == (
        "' self' was rejected: drafted with 0.42, the target gives 0.10, so the threshold is "
        "0.24; the number drawn was 0.61, above it. ' return' was drawn from the residual "
        "max(0, target - draft)."
    )


def test_rejected_with_an_empty_residual():
    said = token_words(verdict(n_zero_residual=1), 1)
    assert said.endswith("The residual was empty, so ' return' was drawn from the target.")


def test_discarded():
    assert token_words(verdict(), 2) == (
        "' x' was discarded, never tested: it stood behind the rejected one."
    )


def test_bonus():
    every = verdict(fates=np.full(3, ACCEPTED, np.int8), extra=BONUS)
    assert extra_words(every) == (
        "All 3 draft tokens were accepted, so 'y' came free: the bonus, drawn from the target "
        "behind them, which gives it 0.55."
    )


def test_nothing_drafted():
    names = ("token_ids", "draft_probs", "target_probs", "uniforms", "fates")
    nothing = verdict(texts=(), extra=BONUS, **dict.fromkeys(names, np.empty(0)))
    assert token_words(nothing, None).startswith("Nothing was drafted: 'y' is an ordinary token")


def test_greedy_speaks_of_favourites_and_confidence():
    greedy = verdict(temperature=0.0, draft_probs=np.ones(3), target_probs=np.array([1.0, 0, 0]))
    assert "the draft's favourite is also the target's, whose confidence in it is 0.30." in (
        token_words(greedy, 0)
    )
    assert token_words(greedy, 1).endswith(
        "not the target's, whose confidence in it is 0.10. ' return', the target's favourite, "
        "took its place."
    )
    assert "one-hot" in greedy_words(greedy)
    assert greedy_words(verdict()) == ""
    assert ("target probability", "0.00  (confidence 0.10)") in token_figures(greedy, 1)


def test_waiting_and_untestable():
    waiting = verdict(
        is_judged=False, extra=None, fates=np.full(3, MISSING_CODE, np.int8),
        target_probs=np.full(3, NAN), uniforms=np.full(3, NAN),
    )  # fmt: skip
    assert token_words(waiting, 0) == (
        "' jumps' was drafted with 0.42; it is waiting for the target."
    )
    assert extra_words(waiting) == "The draft is waiting for the target."
    lost = verdict(draft_probs=np.array([0.42, 0.0, 0.5]))
    assert "no usable number" in token_words(lost, 1)


def test_stopped_inside_the_draft():
    stopped = verdict(fates=np.full(3, ACCEPTED, np.int8), extra=None)
    assert extra_words(stopped) == "The text ended inside the draft."


def test_figures_of_a_token():
    assert token_figures(verdict(), 1) == (
        ("draft probability", "0.42"), ("target probability", "0.10"),
        ("target / draft", "0.24"), ("uniform", "0.61"), ("overlap", "0.70"),
        ("entropy", "1.25 nats"), ("place in the draft", "2 of 3"), ("step", "7 of sequence 0"),
    )  # fmt: skip
    assert dict(token_figures(verdict(), 2))["uniform"] == "n/a, not tested"
    assert token_figures(verdict(), None)[2] == ("drawn from", "max(0, target - draft)")
    assert token_figures(verdict(extra=None), None) == ()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.00"), (1.0, "1.00"), (0.424, "0.42"), (0.0012, "0.0012"), (3e-7, "3.0e-07"),
        (0.9966, "0.9966"), (0.99999, "> 0.9999"), (43.98, "43.98"), (NAN, "n/a"),
        (float("inf"), "∞"),
    ],
)  # fmt: skip
def test_figure(value: float, text: str):
    assert figure(value) == text


def test_two_figures_that_differ_look_different():
    assert apart(0.421, 0.419) == ("0.421", "0.419")
    assert apart(0.42, 0.42) == ("0.42", "0.42")


def test_texts_that_cannot_be_seen_are_spelled():
    assert quoted("\n\u202e") == r"'\n\u202e'"
    assert short(" return", 20) == "·return"
    assert short("abcdef", 4) == "abc…"
    assert short("", 4) == "∅"
