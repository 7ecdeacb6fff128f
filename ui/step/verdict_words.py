"""A step's verdict in words and figures: what a person reads of a token."""

import math
from collections.abc import Sequence

from sessions.step_verdict import ExtraToken, StepVerdict
from sessions.tables import ACCEPTED, DISCARDED, REJECTED

MISSING = "n/a"
FATE_WORDS = {ACCEPTED: "accepted", REJECTED: "rejected", DISCARDED: "discarded"}


def quoted(text: str) -> str:
    """A token's text in quotes; what cannot be seen is spelled: ``'\\n'``, ``'\\u202e'``."""
    return repr(text) if text else "a part of a character"


def short(text: str, n: int) -> str:
    """A token's text as a label of at most ``n`` characters: spaces are dots."""
    seen = repr(text)[1:-1].replace(" ", "·") if text else "∅"
    return seen if len(seen) <= n else seen[: max(1, n - 1)] + "…"


def figure(value: float) -> str:
    """A probability, ratio or entropy: two decimals, more where they would say nothing."""
    if math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞"
    if value in (0.0, 1.0):
        return f"{value:.2f}"
    if value < 0.005:
        return f"{value:.1e}" if value < 0.0005 else f"{value:.4f}"
    if 0.995 <= value < 1.0:
        return "> 0.9999" if value >= 0.99995 else f"{value:.4f}"
    return f"{value:.2f}"


def apart(one: float, other: float) -> tuple[str, str]:
    """Two figures, with so many digits that they do not look the same."""
    pair = figure(one), figure(other)
    digits = 3
    while pair[0] == pair[1] and one != other and digits < 10:
        pair = f"{one:.{digits}f}", f"{other:.{digits}f}"
        digits += 1
    return pair


def token_words(verdict: StepVerdict, index: int | None) -> str:
    """What became of a draft token and why; None: of the step's own token."""
    if index is None:
        return extra_words(verdict)
    if not verdict.is_judged:
        return (
            f"{quoted(verdict.texts[index])} was drafted with "
            f"{figure(verdict.draft_probs[index])}; it is waiting for the target."
        )
    fate = int(verdict.fates[index])
    text = quoted(verdict.texts[index])
    if fate == DISCARDED:
        return f"{text} was discarded, never tested: it stood behind the rejected one."
    if fate == ACCEPTED:
        return f"{text} was accepted: {_test(verdict, index)}"
    return f"{text} was rejected: {_test(verdict, index)} {extra_words(verdict)}".rstrip()


def extra_words(verdict: StepVerdict) -> str:
    """How the step's own token came about; "" where there is none."""
    extra = verdict.extra
    if not verdict.is_judged:
        return "The draft is waiting for the target."
    if extra is None:
        return "" if REJECTED in verdict.fates else "The text ended inside the draft."
    text = quoted(extra.text)
    if extra.origin == "recovered":
        return _recovered(verdict, text)
    gives = _given(extra)
    if not verdict.texts:
        return f"Nothing was drafted: {text} is an ordinary token of the target{gives}."
    n = len(verdict.texts)
    every = "The one draft token was" if n == 1 else f"All {n} draft tokens were"
    how = "the target's favourite" if verdict.is_greedy else "drawn from the target"
    return f"{every} accepted, so {text} came free: the bonus, {how} behind them{gives}."


def greedy_words(verdict: StepVerdict) -> str:
    """What temperature 0 means for the figures; "" at any other."""
    if not verdict.is_greedy:
        return ""
    return (
        "Temperature 0: both distributions are one-hot, 1 for the favourite and 0 for the rest. "
        "Confidence is what the models gave before."
    )


def token_figures(verdict: StepVerdict, index: int | None) -> Sequence[tuple[str, str]]:
    """Name and value of what is known of a token."""
    if index is None:
        extra = verdict.extra
        if extra is None:
            return ()
        return (
            ("target probability", figure(extra.target_prob)),
            ("entropy", _nats(extra.entropy)),
            ("drawn from", _source(verdict, extra)),
            ("step", _step(verdict)),
        )
    tested = verdict.is_judged and verdict.fates[index] != DISCARDED
    ratio, uniform = verdict.ratios[index], verdict.uniforms[index]
    return (
        ("draft probability", _with_confidence(verdict, index, is_target=False)),
        ("target probability", _with_confidence(verdict, index, is_target=True)),
        ("target / draft", figure(ratio)),
        ("uniform", figure(uniform) if tested else f"{MISSING}, not tested"),
        ("overlap", figure(verdict.overlaps[index])),
        ("entropy", _nats(verdict.entropies[index])),
        ("place in the draft", f"{index + 1} of {len(verdict.texts)}"),
        ("step", _step(verdict)),
    )


# --- inside ---------------------------------------------------------------------------------------


def _test(verdict: StepVerdict, index: int) -> str:
    """How a token met its number."""
    draft, target = float(verdict.draft_probs[index]), float(verdict.target_probs[index])
    if verdict.is_greedy:
        is_same = verdict.fates[index] == ACCEPTED
        confidence = figure(float(verdict.target_confidences[index]))
        same = "also" if is_same else "not"
        return (
            f"the draft's favourite is {same} the target's, whose confidence in it is {confidence}."
        )
    threshold = float(verdict.thresholds[index])
    if math.isnan(threshold):
        return "the draft's distribution held no usable number for it, so it was not tested."
    drafted, given = apart(draft, target)
    said = f"drafted with {drafted}, the target gives {given}, so the threshold is "
    if threshold >= 1.0:
        return f"{said}1: whatever number is drawn lies below it."
    limit, number = apart(threshold, float(verdict.uniforms[index]))
    where = "below" if verdict.fates[index] == ACCEPTED else "above"
    return f"{said}{limit}; the number drawn was {number}, {where} it."


def _recovered(verdict: StepVerdict, text: str) -> str:
    if verdict.is_greedy:
        return f"{text}, the target's favourite, took its place."
    if verdict.n_zero_residual:
        return f"The residual was empty, so {text} was drawn from the target."
    return f"{text} was drawn from the residual max(0, target - draft)."


def _given(extra: ExtraToken) -> str:
    return "" if math.isnan(extra.target_prob) else f", which gives it {figure(extra.target_prob)}"


def _source(verdict: StepVerdict, extra: ExtraToken) -> str:
    if extra.origin == "recovered" and not verdict.n_zero_residual:
        return "max(0, target - draft)"
    return "the target"


def _with_confidence(verdict: StepVerdict, index: int, *, is_target: bool) -> str:
    """The probability that decided, and at temperature 0 the confidence before."""
    probs = verdict.target_probs if is_target else verdict.draft_probs
    confidences = verdict.target_confidences if is_target else verdict.draft_confidences
    value = figure(float(probs[index]))
    if not verdict.is_greedy or math.isnan(confidences[index]):
        return value
    return f"{value}  (confidence {figure(float(confidences[index]))})"


def _nats(value: float) -> str:
    return MISSING if math.isnan(value) else f"{figure(value)} nats"


def _step(verdict: StepVerdict) -> str:
    return f"{verdict.step} of sequence {verdict.sequence_id}"
