"""StepDigest: a step taken apart into bars, figures and words."""

from dataclasses import dataclass

import numpy as np

from sessions.snapshot import Snapshot
from sessions.step_verdict import StepVerdict, sequences_of, step_verdict, steps_of
from sessions.tables import DISCARDED, REJECTED
from ui.moment import View
from ui.plots.paired_bars import Bars
from ui.step.looked_at import NamedSequence, started_sequences, step_of
from ui.step.verdict_words import FATE_WORDS, MISSING, figure, greedy_words, short, token_words


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StepDigest:
    """``bars`` and ``rows`` have one entry per draft token and one for the step's own token, if it
    has one. ``before`` and ``behind`` are the sequence's neighbouring steps."""

    sequence_id: int
    step: int
    heading: str
    words: str
    bars: Bars
    rows: tuple[tuple[str, ...], ...]
    n_drafted: int
    before: int | None
    behind: int | None
    is_selected: bool  # by the user; or else it is the newest
    is_waiting: bool
    sequences: tuple[NamedSequence, ...]


def step_digest(snapshot: Snapshot, view: View) -> StepDigest | None:
    """The step that is looked at; None before the first."""
    place = step_of(snapshot, view)
    verdict = None if place is None else step_verdict(snapshot, *place)
    return None if verdict is None else _digest(snapshot, view, verdict)


def _digest(snapshot: Snapshot, view: View, verdict: StepVerdict) -> StepDigest:
    steps = steps_of(snapshot, verdict.sequence_id)
    place = int(steps.searchsorted(np.int32(verdict.step)))
    here = set(sequences_of(snapshot, verdict.step).tolist())
    marked = _marked(view, verdict)
    told = token_words(verdict, _focus(verdict) if marked is None else _index(verdict, marked))
    return StepDigest(
        sequence_id=verdict.sequence_id,
        step=verdict.step,
        heading=_heading(verdict),
        words=" ".join(filter(None, (told, greedy_words(verdict)))),
        bars=_bars(verdict, marked),
        rows=_rows(verdict),
        n_drafted=len(verdict.texts),
        before=int(steps[place - 1]) if place else None,
        behind=int(steps[place + 1]) if place + 1 < len(steps) else None,
        is_selected=view.step is not None,
        is_waiting=not verdict.is_judged,
        sequences=tuple(s for s in started_sequences(snapshot) if s.sequence_id in here),
    )


def _marked(view: View, verdict: StepVerdict) -> int | None:
    """The place of the selected token among the bars."""
    token = view.token
    if token is None or (token.sequence_id, token.step) != (verdict.sequence_id, verdict.step):
        return None
    n = len(verdict.texts)
    if token.draft_index is None:
        return n if verdict.extra is not None else None
    return token.draft_index if token.draft_index < n else None


def _index(verdict: StepVerdict, place: int) -> int | None:
    return place if place < len(verdict.texts) else None


def _focus(verdict: StepVerdict) -> int | None:
    """What the words are about while no token is selected: the rejected one, or the step's own."""
    rejected = np.flatnonzero(verdict.fates == REJECTED)
    return int(rejected[0]) if len(rejected) else None


def _heading(verdict: StepVerdict) -> str:
    n = len(verdict.texts)
    begun = f"step {verdict.step}"
    if not verdict.is_judged:
        return f"{begun} · {n} drafted, waiting for the target"
    if not n:
        return f"{begun} · nothing drafted"
    n_accepted = sum(FATE_WORDS[int(fate)] == "accepted" for fate in verdict.fates)
    drafter = "" if verdict.drafter == "model" else f" · {verdict.drafter}"
    return f"{begun} · {n_accepted} of {n} accepted{drafter}"


def _bars(verdict: StepVerdict, marked: int | None) -> Bars:
    extra = verdict.extra
    n_own = 0 if extra is None else 1
    none = np.full(n_own, np.nan)
    own = none if extra is None else np.array([extra.target_prob])
    tested = np.where(verdict.fates == DISCARDED, np.nan, verdict.uniforms)
    limits = np.where(verdict.fates == DISCARDED, np.nan, verdict.thresholds)
    return Bars(
        labels=(*verdict.texts, *([] if extra is None else [extra.text])),
        draft=np.concatenate((verdict.draft_probs, none)),
        target=np.concatenate((verdict.target_probs, own)),
        thresholds=np.concatenate((limits, none)),
        uniforms=np.concatenate((tested, none)),
        fates=(
            *(FATE_WORDS.get(int(fate), "waiting") for fate in verdict.fates),
            *([] if extra is None else [extra.origin]),
        ),
        marked=marked,
        n_places=max(verdict.gamma, len(verdict.texts)) + 1,
    )


def _rows(verdict: StepVerdict) -> tuple[tuple[str, ...], ...]:
    columns = (
        verdict.draft_probs, verdict.target_probs, verdict.ratios, verdict.uniforms,
        verdict.overlaps, verdict.entropies,
    )  # fmt: skip
    rows = [
        (short(text, 24), *(figure(float(column[index])) for column in columns))
        for index, text in enumerate(verdict.texts)
    ]
    for index in np.flatnonzero(verdict.fates == DISCARDED).tolist():
        rows[index] = (*rows[index][:4], MISSING, *rows[index][5:])  # never tested
    if (extra := verdict.extra) is not None:
        probability, entropy = figure(extra.target_prob), figure(extra.entropy)
        token = f"{short(extra.text, 16)} {extra.origin}"
        rows.append((token, MISSING, probability, *[MISSING] * 3, entropy))
    return tuple(rows)
