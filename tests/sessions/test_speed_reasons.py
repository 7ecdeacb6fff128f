"""Why a session is slower than the fastest: true in every case, or not said."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from engine.wire.events import (
    CalibrationMeasured,
    Event,
    ModelLoaded,
    SequenceStarted,
    SpansMeasured,
    StepCommitted,
)
from sessions.snapshot import Snapshot
from sessions.speed_reasons import ReasonKind, SpeedReason, speed_reasons
from tests.sessions.scripted import baseline, folded, speculative, with_settings
from tests.support.event_script import EventScript

MS = 1_000_000
PROMPTS = ("ab", "cd", "ef", "gh")


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Steps of every prompt, and the milliseconds of each one's whole, draft and verification."""

    drafted: int = 4
    accepted: int = 2
    of: int = 1  # one step of so many has a draft
    step_ms: float = 10.0
    draft_ms: float = 2.0
    verify_ms: float = 6.0


def events(
    how: Steps,
    prompts: Sequence[str] = PROMPTS,
    *,
    times: Sequence[float] = (),
    n: Sequence[int] = (8, 8, 8, 8),
) -> list[Event]:
    """``times``: what each prompt's steps take of ``how``'s; ``n``: how many there are."""
    script = EventScript(n_blocks=512)
    for prompt, n_steps in zip(prompts, n, strict=False):
        sequence_id = script.sequence(prompt)
        for index in range(n_steps):
            has_draft = index % how.of == 0
            n_drafted = how.drafted * has_draft
            script.step(
                sequence_id, drafted=n_drafted, accepted=how.accepted * has_draft, gamma=how.drafted
            )
        script.finish_sequence(sequence_id)
    script.finish()
    sequence_id = -1
    told: list[Event] = []
    for event in script.events:
        if isinstance(event, StepCommitted):
            sequence_id = event.sequence_id
            event = replace(event, step_ns=int(how.step_ms * _of(times, sequence_id) * MS))
        elif isinstance(event, SpansMeasured):
            share = _of(times, sequence_id) * MS
            parts = (how.step_ms, how.draft_ms, how.draft_ms, how.verify_ms, 0.0, 0.0)
            event = replace(event, host_ns=tuple(int(ms * share) for ms in parts))
        told.append(event)
    return told


def _of(times: Sequence[float], sequence_id: int) -> float:
    return times[sequence_id] if times else 1.0


def session(how: Steps, *, draft: str = "small", **settings: object) -> Snapshot:
    return folded(with_settings(events(how), draft=draft, gamma=how.drafted, **settings))


def one_reason(slow: Snapshot, fast: Snapshot) -> SpeedReason:
    (reason,) = speed_reasons([("slow", slow), ("fast", fast)])
    assert (reason.name, reason.best) == ("slow", "fast")
    assert reason.sentence.startswith("slow ")
    assert reason.sentence.endswith(".")
    return reason


PLAIN = Steps(drafted=0, accepted=0, step_ms=5.0, draft_ms=0.0, verify_ms=4.5)


@pytest.mark.parametrize(
    ("slow", "fast", "words"),
    [
        (
            Steps(accepted=1),
            Steps(accepted=2),
            "0.67 times the speed of fast: 0.67 times the tokens per step (acceptance 0.50 against "
            "0.67), steps equally long.",
        ),
        (
            Steps(step_ms=15.0, draft_ms=5.0, verify_ms=7.5),
            Steps(),
            "0.67 times the speed of fast: steps 1.50 times as long (drafting +3.0 ms, verifying "
            "+1.5 ms, the rest +0.5 ms), tokens per step alike.",
        ),
        (
            Steps(accepted=1, step_ms=12.0, draft_ms=4.0),
            Steps(accepted=3),
            "0.42 times the speed of fast: 0.50 times the tokens per step (acceptance 0.50 against "
            "0.75) and steps 1.20 times as long (drafting +2.0 ms).",
        ),
        (
            Steps(accepted=3, step_ms=24.0, draft_ms=12.0, verify_ms=9.0),
            Steps(accepted=2),
            "0.56 times the speed of fast: steps 2.40 times as long (drafting +10.0 ms, verifying "
            "+3.0 ms, the rest +1.0 ms) outweigh 1.33 times the tokens per step (acceptance 0.75 "
            "against 0.67).",
        ),
        (
            Steps(accepted=4, of=4, step_ms=7.0, draft_ms=0.0, verify_ms=5.0),
            Steps(accepted=3),
            "0.71 times the speed of fast: 0.50 times the tokens per step (a draft in 25% of the "
            "steps against 100%, despite acceptance 1.00 against 0.75) outweigh steps 0.70 times "
            "as long (drafting -2.0 ms, verifying -1.0 ms).",
        ),
        (
            Steps(drafted=2, accepted=2),
            Steps(drafted=8, accepted=7),
            "0.38 times the speed of fast: 0.38 times the tokens per step (drafts of 2.0 tokens "
            "against 8.0, despite acceptance 1.00 against 0.88), steps equally long.",
        ),
    ],
)
def test_what_it_comes_from(slow: Steps, fast: Steps, words: str) -> None:
    reason = one_reason(session(slow), session(fast))
    assert reason.kind is ReasonKind.REASON
    assert reason.sentence == f"slow has {words}"
    found = reason.ratio
    product = found.tokens_per_step * found.sequences_per_step / found.step_time
    assert product == pytest.approx(found.value, rel=1e-12)


def test_a_baseline_that_is_slower_drafted_nothing() -> None:
    reason = one_reason(session(PLAIN, draft="none"), session(Steps(accepted=3)))
    assert reason.sentence == (
        "slow has 0.50 times the speed of fast: 0.25 times the tokens per step (it drafted nothing)"
        " outweigh steps 0.50 times as long (drafting -2.0 ms, verifying -1.5 ms, the rest "
        "-1.5 ms)."
    )


def test_a_baseline_that_is_the_fastest_drafted_nothing() -> None:
    reason = one_reason(session(Steps(accepted=0)), session(PLAIN, draft="none"))
    assert reason.sentence.startswith("slow has 0.50 times the speed of fast: steps 2.00 times")
    assert reason.sentence.endswith("tokens per step alike.")
    reason = one_reason(session(Steps(accepted=1, step_ms=20.0)), session(PLAIN, draft="none"))
    assert reason.sentence.endswith(
        " outweigh 2.00 times the tokens per step (acceptance 0.50; fast drafted nothing)."
    )


def test_two_that_draft_nothing_differ_in_their_steps_alone() -> None:
    slow = Steps(drafted=0, accepted=0, step_ms=10.0, draft_ms=0.0, verify_ms=9.5)
    reason = one_reason(session(slow, draft="none"), session(PLAIN, draft="none"))
    assert reason.sentence == (
        "slow has 0.50 times the speed of fast: steps 2.00 times as long (verifying +5.0 ms), "
        "tokens per step alike."
    )


def test_equal_sessions_do_not_differ() -> None:
    reason = speed_reasons([("one", session(Steps())), ("other", session(Steps()))])[0]
    assert (reason.name, reason.best) == ("other", "one")
    assert reason.kind is ReasonKind.NO_DIFFERENCE
    assert reason.sentence == (
        "other and one differ by no more than chance explains: 1.00 times the speed over all "
        "tokens, prompt by prompt 1.00 (95 % over 4 prompts: 1.00 to 1.00)."
    )


def test_what_chance_explains_is_not_explained() -> None:
    uneven = with_settings(events(Steps(), times=(0.7, 0.7, 1.5, 1.5)), draft="small", gamma=4)
    reason = one_reason(folded(uneven), session(Steps()))
    assert reason.kind is ReasonKind.NO_DIFFERENCE
    assert "no more than chance explains: 0.91 times the speed" in reason.sentence


def test_prompts_that_each_say_the_contrary_of_their_sum_are_no_reason() -> None:
    """Each prompt is quicker than the other session's, which committed less on the slow ones."""
    long_on_slow = events(Steps(), times=(0.9, 0.9, 9.0, 9.0), n=(2, 2, 20, 20))
    short_on_slow = events(Steps(), times=(1.0, 1.0, 10.0, 10.0), n=(20, 20, 2, 2))
    slow, fast = (
        folded(with_settings(each, draft="small", gamma=4))
        for each in (long_on_slow, short_on_slow)
    )
    reason = one_reason(slow, fast)
    assert reason.kind is ReasonKind.NO_DIFFERENCE
    assert reason.sentence == (
        "slow is slower or faster than fast, by how prompts are weighed: 0.22 times the speed over "
        "all tokens, prompt by prompt 1.11 (95 % over 4 prompts: 1.11 to 1.11)."
    )


def test_a_small_difference_that_is_sure_is_no_reason_to_explain() -> None:
    reason = one_reason(session(Steps(step_ms=10.1)), session(Steps()))
    assert reason.kind is ReasonKind.NO_DIFFERENCE
    assert reason.sentence == "slow is about as fast as fast: 0.99 times the speed."


@pytest.mark.parametrize(("n", "words"), [(1, "1 prompt is"), (2, "2 prompts are")])
def test_few_prompts_cannot_tell_it_from_chance(n: int, words: str) -> None:
    slow, fast = (
        folded(with_settings(events(how, PROMPTS[:n]), draft="small", gamma=4))
        for how in (Steps(accepted=1), Steps(accepted=3))
    )
    reason = one_reason(slow, fast)
    assert reason.kind is ReasonKind.REASON
    assert reason.sentence.endswith(f" {words} too few to tell it from chance.")


def of_prompts(how: Steps, *prompts: str) -> Snapshot:
    return folded(with_settings(events(how, prompts), draft="small", gamma=how.drafted))


def test_other_prompts_are_other_work() -> None:
    for prompts in (("ab", "cd", "xy", "gh"), ("ef", "cd", "ab"), ("ab", "xy")):
        reason = one_reason(session(Steps(accepted=1)), of_prompts(Steps(accepted=4), *prompts))
        assert reason.kind is ReasonKind.OTHER_WORK
        assert reason.sentence == "slow cannot be held against fast: they differ in prompts."
        assert not reason.is_doubted


@pytest.mark.parametrize(
    ("slow", "fast", "words"),
    [
        (3, 4, "3 of the 4 prompts that fast began"),
        (1, 2, "1 of the 2 prompts that fast began"),
        (4, 3, "4 prompts, fast only the first 3 of them"),
        (2, 1, "2 prompts, fast only the first of them"),
    ],
)
def test_the_first_of_the_same_prompts_are_a_part_of_the_work(
    slow: int, fast: int, words: str
) -> None:
    reason = one_reason(
        of_prompts(Steps(accepted=1), *PROMPTS[:slow]),
        of_prompts(Steps(accepted=4), *PROMPTS[:fast]),
    )
    assert reason.kind is ReasonKind.PART_OF_THE_WORK
    assert reason.sentence == (
        f"slow began {words}: as a whole, the two cannot be held against each other."
    )


def test_before_their_end_two_are_explained_where_they_began_the_same_prompts() -> None:
    slow, fast = (
        with_settings(events(Steps(accepted=accepted)), draft="small", gamma=4)
        for accepted in (1, 4)
    )

    def until(told: list[Event], n_prompts: int) -> Snapshot:
        begun = [index for index, each in enumerate(told) if isinstance(each, SequenceStarted)]
        return folded(told[: begun[n_prompts]])

    assert one_reason(until(slow, 2), until(fast, 2)).kind is ReasonKind.REASON
    reason = one_reason(until(slow, 2), until(fast, 3))
    assert reason.sentence.startswith("slow began 2 of the 3 prompts that fast began:")


def test_another_target_is_other_work_whatever_part_of_the_prompts_was_begun() -> None:
    told = [
        replace(each, name="another") if isinstance(each, ModelLoaded) else each
        for each in events(Steps(accepted=1), PROMPTS[:3])
    ]
    slow = folded(with_settings(told, draft="small", gamma=4))
    reason = one_reason(slow, session(Steps(accepted=4)))
    assert reason.kind is ReasonKind.OTHER_WORK
    assert reason.sentence.endswith("fast: they differ in prompts and target.")


def test_each_is_held_against_the_fastest_that_did_the_same_work() -> None:
    sessions = [
        ("slow", session(Steps(accepted=1))),
        ("middle", session(Steps(accepted=2))),
        ("quick", session(Steps(accepted=3))),
        ("fastest", of_prompts(Steps(accepted=4), "x", "y")),
        ("alone", of_prompts(Steps(accepted=2), "z")),
    ]
    reasons = speed_reasons(sessions)
    assert [(each.name, each.best, each.kind) for each in reasons] == [
        ("slow", "quick", ReasonKind.REASON),
        ("middle", "quick", ReasonKind.REASON),
        ("alone", "fastest", ReasonKind.OTHER_WORK),
    ]
    assert [each.is_best_of_all for each in reasons] == [False, False, True]
    assert [each.name for each in speed_reasons(sessions[1:4])] == ["middle"]


def test_ratios_far_from_one_have_the_digits_they_deserve() -> None:
    slow = Steps(accepted=1, step_ms=3000.0, draft_ms=600.0, verify_ms=1800.0)
    fast = Steps(accepted=1)
    assert one_reason(session(slow), session(fast)).sentence.startswith(
        "slow has 0.0033 times the speed of fast: steps 300 times as long"
    )
    slow = Steps(drafted=0, accepted=0, step_ms=125.0, draft_ms=0.0, verify_ms=100.0)
    fast = Steps(drafted=16, accepted=15)
    assert one_reason(session(slow), session(fast)).sentence.startswith(
        "slow has 0.005 times the speed of fast: 0.062 times the tokens per step (it drafted "
        "nothing) and steps 12.5 times as long"
    )


def test_other_settings_are_a_reserve() -> None:
    slow, fast = session(Steps(accepted=1), n_threads=1), session(Steps(accepted=3), n_threads=2)
    reason = one_reason(slow, fast)
    assert reason.kind is ReasonKind.REASON
    assert reason.sentence.endswith(" They also differ in threads, which may be why.")


def calibrated(how: Steps, target_ms: int) -> Snapshot:
    """Verifications timed before, at so many milliseconds: while decoding they take six."""
    calibration = CalibrationMeasured(
        context_length=0,
        draft_forward_ns=MS,
        target_widths=(1, 5),
        target_forward_ns=(target_ms * MS, target_ms * MS),
    )
    told = events(how)
    return folded(with_settings([told[0], calibration, *told[1:]], draft="small", gamma=4))


def test_a_machine_that_was_busy_while_one_decoded_is_a_doubt() -> None:
    reason = one_reason(calibrated(Steps(accepted=1), 2), session(Steps(accepted=3)))
    assert reason.is_doubted
    assert reason.words == f"in doubt: {reason.sentence}"
    busy_before = calibrated(Steps(accepted=1), 20)
    assert not one_reason(busy_before, session(Steps(accepted=3))).is_doubted


@pytest.mark.parametrize("words", ["no more than chance explains", "about as fast as"])
def test_that_two_do_not_differ_is_in_doubt_as_well(words: str) -> None:
    how = Steps(step_ms=10.1) if words.startswith("about") else Steps()
    for is_slow_doubted in (True, False):
        slow = calibrated(how, 2 if is_slow_doubted else 6)
        fast = calibrated(Steps(), 6 if is_slow_doubted else 2)
        reason = speed_reasons([("fast", fast), ("slow", slow)])[0]
        assert reason.kind is ReasonKind.NO_DIFFERENCE
        assert words in reason.sentence
        assert reason.is_doubted


def test_steps_that_were_not_measured_are_not_split() -> None:
    bare = [each for each in events(Steps(step_ms=20.0)) if not isinstance(each, SpansMeasured)]
    slow = folded(with_settings(bare, draft="small", gamma=4))
    sentence = one_reason(slow, session(Steps())).sentence
    assert sentence.endswith("steps 2.00 times as long, tokens per step alike.")


def test_every_session_but_the_fastest_has_its_sentence_in_the_order_given() -> None:
    sessions = [
        ("plain", session(PLAIN, draft="none")),
        ("best", session(Steps(accepted=4))),
        ("idle", folded([])),
        ("other", session(Steps(accepted=2))),
    ]
    assert [each.name for each in speed_reasons(sessions)] == ["plain", "other"]
    assert speed_reasons(sessions[:1]) == ()
    assert speed_reasons([sessions[0], sessions[2]]) == ()
    assert speed_reasons([("a", speculative()), ("b", baseline())])[0].name == "b"
