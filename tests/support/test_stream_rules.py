"""Each rule of the grammar fires when a valid stream is changed in one place."""

import re
from collections.abc import Callable

import msgspec
import pytest

from engine.wire.events import (
    BlocksAllocated,
    BlocksFreed,
    CacheCreated,
    CalibrationMeasured,
    DraftProposed,
    DraftVerified,
    EndReason,
    EngineStateChanged,
    Event,
    EventsDropped,
    Fate,
    FinishReason,
    HostSampled,
    KernelsRecorded,
    KvAdvanced,
    LogEmitted,
    Origin,
    PrefillCompleted,
    Role,
    SequenceFinished,
    SequenceSetBack,
    SequenceStarted,
    SessionEnded,
    SessionStarted,
    SpansMeasured,
    StepCommitted,
)
from tests.support.event_script import EventScript
from tests.support.mutations import change, insert, place, remove, renumbered, swap
from tests.support.stream_rules import check_stream

F = Fate
Change = Callable[[list[Event]], list[Event]]


def story() -> list[Event]:
    """Two sequences, one set back; a rejection, a full draft, no draft, a stop."""
    script = EventScript(n_blocks=8)
    first = script.sequence("a prompt", max_new_tokens=40)
    second = script.sequence("b")
    script.step(first, drafted=4, accepted=2, more=True)  # step 0
    script.step(second, drafted=3, accepted=3)
    script.step(second, drafted=0, accepted=0)  # step 1
    script.set_back(second)
    script.step(first, drafted=12, accepted=12)  # step 2
    script.resume(second)
    script.step(second, drafted=2, accepted=0)  # step 3
    script.step(first, drafted=4, accepted=2, stop=True)  # step 4
    script.finish_sequence(first, reason=FinishReason.EOS)
    script.finish()
    return script.events


def test_the_story_obeys() -> None:
    check_stream(story())


def plus(n: int) -> Callable[[int], int]:
    return lambda value: value + n


def put(index: int, value: object) -> Callable[[tuple[object, ...]], tuple[object, ...]]:
    return lambda old: (*old[:index], value, *old[index + 1 :])


def longer(old: tuple[object, ...]) -> tuple[object, ...]:
    return (*old, old[-1])


def shorter(old: tuple[object, ...]) -> tuple[object, ...]:
    return old[:-1]


def log() -> LogEmitted:
    return LogEmitted(level="info", message="", t_ns=0)


def kernels(step: int, *span_indexes: int) -> KernelsRecorded:
    ones = (1,) * len(span_indexes)
    return KernelsRecorded(
        step=step,
        names=("k",) * len(ones),
        streams=ones,
        start_ns=ones,
        duration_ns=ones,
        span_indexes=span_indexes,
    )


def profiled(events: list[Event]) -> list[Event]:
    """With every step marked as recorded."""
    return [
        msgspec.structs.replace(event, is_profiled=True)
        if isinstance(event, StepCommitted)
        else event
        for event in events
    ]


def changed(kind: type, sentence: str, /, *, nth: int = 0, **fields: object) -> object:
    """A case: one event's fields are changed, and the sentence is what the rule says."""
    names = "-".join([kind.__name__, *fields])
    return pytest.param(lambda s: change(s, kind, nth=nth, **fields), sentence, id=f"{names}-{nth}")


BROKEN = [
    # order and clock
    changed(DraftProposed, "the ordinal before was", ordinal=3),
    changed(DraftProposed, "time runs back", t_ns=5),
    changed(SessionStarted, "the first ordinal is not 0", ordinal=5),
    pytest.param(lambda s: [], "the stream is empty", id="empty"),
    pytest.param(lambda s: s[1:], "the first ordinal is not 0", id="late"),
    pytest.param(lambda s: renumbered(s[1:]), "is not SessionStarted", id="no-beginning"),
    pytest.param(lambda s: s[:-1], "no SessionEnded", id="no-end"),
    pytest.param(lambda s: insert(s, s[0], at=5), "the session starts twice", id="two-beginnings"),
    pytest.param(lambda s: insert(s, log(), at=len(s)), "comes after SessionEnded", id="after-end"),
    pytest.param(
        lambda s: [e for e in s if not isinstance(e, SpansMeasured)],
        "5 ordinals are missing, 0 were reported",
        id="hole",
    ),
    pytest.param(
        lambda s: insert(s, EventsDropped(n_events=1, kinds=("HostSampled",)), at=9),
        "0 ordinals are missing, 1 were reported",
        id="no-hole",
    ),
    pytest.param(
        lambda s: insert(s, EventsDropped(n_events=1, kinds=("StepCommitted",)), at=9),
        "may not be dropped",
        id="dropped-what-must-be-kept",
    ),
    pytest.param(
        lambda s: insert(s, EventsDropped(n_events=0, kinds=("HostSampled",)), at=9),
        "nothing was dropped",
        id="dropped-nothing",
    ),
    pytest.param(
        lambda s: insert(s, EventsDropped(n_events=1, kinds=()), at=9),
        "which kinds",
        id="dropped-no-kind",
    ),
    changed(EngineStateChanged, "progress not in 0..1", progress=1.5),
    pytest.param(
        lambda s: insert(
            s,
            CalibrationMeasured(
                context_length=1,
                draft_forward_ns=None,
                target_widths=(1, 2),
                target_forward_ns=(5,),
            ),
            at=9,
        ),
        "widths and times differ",
        id="calibration",
    ),
    # a sequence's life
    changed(SequenceStarted, "the prompt has no token", prompt_token_ids=()),
    changed(SequenceStarted, "ids and texts differ", prompt_token_texts=shorter),
    changed(SequenceStarted, "resumes what never ran", n_resumed=1),
    changed(SequenceStarted, "resumes 4 tokens, 5 were committed", n_resumed=4, nth=2),
    changed(SequenceStarted, "with another prompt", prompt_token_ids=put(0, 1), nth=2),
    pytest.param(
        lambda s: remove(s, SequenceStarted), "sequence 0 has not started", id="never-started"
    ),
    pytest.param(
        lambda s: insert(s, s[place(s, SequenceStarted)], at=place(s, SequenceStarted) + 1),
        "sequence 0 starts twice",
        id="started-twice",
    ),
    pytest.param(
        lambda s: insert(s, s[place(s, SequenceFinished)], at=place(s, SequenceFinished) + 1),
        "sequence 0 has finished",
        id="finished-twice",
    ),
    pytest.param(
        lambda s: remove(s, SequenceFinished), "sequences [0] never finished", id="not-finished"
    ),
    changed(SequenceFinished, "output tokens, 18 were committed", n_output_tokens=17),
    changed(SequenceFinished, "a negative elapsed_ns", elapsed_ns=-1),
    changed(SequenceSetBack, "output tokens, 5 were committed", n_output_tokens=4),
    pytest.param(
        lambda s: insert(s, s[place(s, SequenceSetBack)], at=place(s, SequenceSetBack) + 1),
        "is set back twice",
        id="set-back-twice",
    ),
    pytest.param(
        lambda s: remove(s, SequenceStarted, nth=2), "one that waits", id="runs-while-it-waits"
    ),
    pytest.param(
        lambda s: insert(
            s,
            SequenceSetBack(sequence_id=0, n_output_tokens=0),
            at=place(s, DraftProposed) + 1,
        ),
        "is set back within a step",
        id="set-back-in-a-step",
    ),
    changed(PrefillCompleted, "a negative reading", n_tokens=-1),
    changed(PrefillCompleted, "ends after it was said", host_ns=10**12),
    # draft
    changed(DraftProposed, "the draft was of step 1", step=1),
    changed(DraftProposed, "step 1 was before", step=1, nth=4),
    changed(DraftProposed, "step 0 was before", step=0, nth=2),
    changed(DraftProposed, "the sequence has 8 tokens", position=7),
    changed(DraftProposed, "drafts 4 tokens where gamma is 3", gamma=3),
    changed(DraftProposed, "columns differ in length", token_texts=longer),
    changed(DraftProposed, "columns differ in length", draft_probs=shorter),
    changed(DraftProposed, "not in 0..1", draft_probs=put(0, 1.5)),
    changed(DraftProposed, "a negative count", n_non_finite_draft=-1),
    changed(DraftProposed, "gamma_alpha not in 0..1", gamma_alpha=2.0),
    pytest.param(
        lambda s: insert(s, s[place(s, DraftVerified)], at=place(s, StepCommitted) + 1),
        "no draft waits for a verdict",
        id="not-proposed",
    ),
    pytest.param(
        lambda s: insert(s, s[place(s, DraftProposed)], at=place(s, DraftProposed) + 1),
        "a step is still open",
        id="proposed-twice",
    ),
    pytest.param(
        lambda s: remove(s, StepCommitted), "step 0 is still open for sequences [0]", id="open-step"
    ),
    changed(DraftVerified, "no draft waits for a verdict", sequence_id=1),
    # verdict
    pytest.param(lambda s: remove(s, DraftVerified), "no verdict waits", id="not-verified"),
    pytest.param(
        lambda s: insert(s, s[place(s, DraftVerified)], at=place(s, DraftVerified) + 1),
        "the draft has its verdict",
        id="verified-twice",
    ),
    changed(DraftVerified, "the draft was of step 0", step=1),
    changed(DraftVerified, "the sequence has 8 tokens", position=9),
    changed(DraftVerified, "token_ids are not the draft's", token_ids=put(0, 1)),
    changed(DraftVerified, "token_texts are not the draft's", token_texts=put(0, "?")),
    changed(DraftVerified, "draft_probs are not the draft's", draft_probs=put(0, 0.25)),
    changed(DraftVerified, "not in 0..1", target_probs=put(0, -0.1)),
    changed(DraftVerified, "not in 0..1", overlaps=put(0, 1.1)),
    changed(DraftVerified, "not in 0..1", draft_confidences=put(0, 1.1)),
    changed(DraftVerified, "not in 0..1", target_confidences=put(0, 1.1)),
    changed(DraftVerified, "overlaps has not one entry", overlaps=shorter),
    changed(DraftVerified, "target_entropies has not one entry", target_entropies=longer),
    changed(DraftVerified, "uniforms has not one entry", uniforms=shorter),
    changed(DraftVerified, "fates has not one entry", fates=shorter),
    changed(DraftVerified, "a negative entropy", target_entropies=put(0, -1.0)),
    changed(DraftVerified, "a uniform outside", uniforms=put(0, 1.0)),
    changed(DraftVerified, "a negative count", n_zero_residual=-1),
    changed(DraftVerified, "n_accepted is 3, not 2", n_accepted=3),
    changed(
        DraftVerified,
        "then at most one rejected",
        fates=(F.ACCEPTED, F.ACCEPTED, F.REJECTED, F.REJECTED),
    ),
    changed(
        DraftVerified,
        "then at most one rejected",
        fates=(F.ACCEPTED, F.REJECTED, F.ACCEPTED, F.DISCARDED),
    ),
    changed(
        DraftVerified,
        "then at most one rejected",
        fates=(F.ACCEPTED, F.ACCEPTED, F.DISCARDED, F.DISCARDED),
    ),
    changed(DraftVerified, "token 0 was accepted against", uniforms=put(0, 0.9)),
    changed(DraftVerified, "token 2 was rejected against", uniforms=put(2, 0.1)),
    changed(DraftVerified, "an extra without origin", extra_origin=None),
    changed(DraftVerified, "an extra without text", extra_token_text=None),
    changed(
        DraftVerified,
        "a rejection and no recovered token",
        extra_origin=None,
        extra_token_id=None,
        extra_token_text=None,
    ),
    changed(
        DraftVerified,
        "neither a draft nor an extra token",
        nth=2,
        extra_origin=None,
        extra_token_id=None,
        extra_token_text=None,
    ),
    changed(DraftVerified, "a bonus after a rejection", extra_origin=Origin.BONUS),
    changed(DraftVerified, "without a rejection", extra_origin=Origin.RECOVERED, nth=1),
    changed(DraftVerified, "cannot be accepted", extra_origin=Origin.ACCEPTED),
    changed(
        DraftVerified,
        "a bonus behind a draft that was cut",
        nth=-1,
        extra_origin=Origin.BONUS,
        extra_token_id=33,
        extra_token_text="!",
    ),
    changed(DraftVerified, "extra_entropy is negative", extra_entropy=-1.0),
    changed(DraftVerified, "extra_target_prob is above 1", extra_target_prob=1.5),
    # commit
    changed(StepCommitted, "the verdict was of step 0", step=1),
    changed(StepCommitted, "the sequence has 8 tokens", position=0),
    changed(StepCommitted, "gamma was 4", gamma=5),
    changed(StepCommitted, "n_drafted is not", n_drafted=3),
    changed(StepCommitted, "n_accepted is not", n_accepted=3),
    changed(StepCommitted, "a negative step_ns", step_ns=-1),
    changed(StepCommitted, "columns differ in length", token_texts=shorter),
    changed(StepCommitted, "columns differ in length", origins=shorter),
    changed(StepCommitted, "other tokens than the verdict's", token_ids=put(0, 1)),
    changed(StepCommitted, "origins are not the verdict's", origins=put(2, Origin.BONUS)),
    changed(StepCommitted, "commits nothing", token_ids=(), token_texts=(), origins=()),
    changed(
        StepCommitted,
        "after the sequence stopped",
        nth=1,
        token_ids=shorter,
        token_texts=shorter,
        origins=shorter,
    ),
    changed(SequenceStarted, "more than max_new_tokens", max_new_tokens=2),
    # cache
    changed(CacheCreated, "the draft cache is created twice", role=Role.DRAFT, nth=1),
    changed(CacheCreated, "a cache without room", n_blocks=0),
    changed(CacheCreated, "less than its blocks", total_bytes=1),
    changed(CacheCreated, "there is no block", n_blocks=1),
    pytest.param(lambda s: remove(s, CacheCreated), "there is no draft cache", id="no-cache"),
    changed(BlocksAllocated, "allocates nothing", physical_blocks=()),
    changed(BlocksAllocated, "the sequence owns 0 blocks", first_logical_block=1),
    changed(BlocksAllocated, "belongs to sequence 0", physical_blocks=(0,), nth=2),
    pytest.param(lambda s: remove(s, BlocksAllocated), "positions in 0 slots", id="no-blocks"),
    changed(BlocksFreed, "frees nothing", physical_blocks=()),
    changed(BlocksFreed, "block 7 belongs to nobody", physical_blocks=(7,)),
    changed(BlocksFreed, "belongs to sequence 0", physical_blocks=(0,)),
    pytest.param(lambda s: remove(s, BlocksFreed, nth=-1), "still owns 1 blocks", id="not-freed"),
    pytest.param(lambda s: remove(s, BlocksFreed), "still owns 1 blocks", id="set-back-not-freed"),
    pytest.param(
        lambda s: swap(s, place(s, BlocksFreed, nth=-1), place(s, SequenceFinished, nth=-1)),
        "still owns 1 blocks",
        id="freed-too-late",
    ),
    changed(KvAdvanced, "a negative count", n_written=-1),
    changed(KvAdvanced, "the cache holds 0 positions", position=1),
    changed(KvAdvanced, "writes nothing, but not at the end", nth=2, n_written=0, position=3),
    changed(KvAdvanced, "positions in 16 slots", n_written=17),
    changed(KvAdvanced, "rolls back to -1", n_rolled_back=8),
    changed(KvAdvanced, "holds the newest token", n_written=8),
    changed(KvAdvanced, "the step is 0", nth=2, step=7),
    changed(KvAdvanced, "the draft cache holds 11 positions of at most 10", nth=2, n_rolled_back=0),
    changed(KvAdvanced, "the target cache holds 11 positions, not 10", nth=3, n_rolled_back=1),
    changed(KvAdvanced, "the target cache holds 9 positions, not 10", nth=3, n_written=4),
    # spans
    changed(SpansMeasured, "columns differ in length", names=shorter),
    changed(SpansMeasured, "columns differ in length", gpu_ns=shorter),
    changed(SpansMeasured, "a negative reading", host_ns=put(1, -1)),
    changed(SpansMeasured, "a negative reading", gpu_ns=put(1, -1)),
    changed(SpansMeasured, "not in the order opened", start_ns=put(5, 0)),
    changed(SpansMeasured, "ends after it was measured", host_ns=put(3, 10**12)),
    changed(SpansMeasured, "step 0 is measured twice", step=0, nth=1),
    changed(SpansMeasured, "step 9 has no DraftProposed", step=9),
    changed(SpansMeasured, "unknown", names=put(1, "speculate")),
    changed(SpansMeasured, "more than one step span", names=put(1, "step")),
    changed(SpansMeasured, "without the step's own", names=put(0, "prefill")),
    changed(SpansMeasured, "(draft) lies outside", host_ns=put(0, 5)),
    changed(SpansMeasured, "(draft_forward) lies outside", host_ns=put(1, 5)),
    changed(SpansMeasured, "not of the draft's role", roles=put(2, Role.TARGET)),
    pytest.param(
        lambda s: insert(
            s,
            KernelsRecorded(
                step=0, names=("k",), streams=(), start_ns=(1,), duration_ns=(1,), span_indexes=(0,)
            ),
            at=len(s) - 1,
        ),
        "columns differ in length",
        id="kernels",
    ),
    pytest.param(
        lambda s: insert(
            s,
            KernelsRecorded(
                step=0,
                names=("k",),
                streams=(1,),
                start_ns=(1,),
                duration_ns=(-1,),
                span_indexes=(0,),
            ),
            at=len(s) - 1,
        ),
        "a negative duration",
        id="kernels-negative",
    ),
    pytest.param(
        lambda s: insert(s, kernels(0, 0), at=len(s) - 1),
        "step 0 is not marked as profiled",
        id="kernels-unmarked",
    ),
    pytest.param(
        lambda s: profiled(insert(insert(s, kernels(0), at=len(s) - 1), kernels(0), at=len(s))),
        "step 0 is recorded twice",
        id="kernels-twice",
    ),
    pytest.param(
        lambda s: profiled(insert(s, kernels(0, 99), at=len(s) - 1)),
        "no such span",
        id="kernels-span",
    ),
]


@pytest.mark.parametrize(("breaking", "sentence"), BROKEN)
def test_a_rule_fires(breaking: Change, sentence: str) -> None:
    with pytest.raises(AssertionError, match=re.escape(sentence)) as caught:
        check_stream(breaking(story()))
    assert sentence == "the stream is empty" or re.match(r"-?\d+ ", str(caught.value))


def test_losses_that_were_reported_are_no_offence() -> None:
    events = story()
    lost = place(events, SpansMeasured)
    at = events[lost].ordinal
    kept = [e for e in events if e.ordinal != at]
    sample = HostSampled(
        process_cpu_pct=1.0,
        system_cpu_pct=1.0,
        process_memory_bytes=1,
        system_memory_used_bytes=1,
        system_memory_total_bytes=1,
    )
    report = EventsDropped(n_events=1, kinds=("SpansMeasured",))
    last = kept[-1]
    tail: list[Event] = []
    for extra, event in enumerate((sample, report, last)):
        fields = {"ordinal": last.ordinal + extra, "t_ns": last.t_ns}
        tail += change([event], type(event), **fields)
    check_stream([*kept[:-1], *tail])


def test_a_stream_may_be_checked_before_its_end() -> None:
    check_stream(story()[:20], is_whole=False)


def test_a_crash_or_a_failure_leaves_sequences_open() -> None:
    script = EventScript()
    script.sequence("ab")
    script.step()
    script.say(SessionEnded(reason=EndReason.CRASHED))
    check_stream(script.events)
    with pytest.raises(AssertionError, match="never finished"):
        check_stream(change(script.events, SessionEnded, reason=EndReason.STOPPED))


def test_a_session_may_be_abandoned_between_draft_and_verification() -> None:
    script = EventScript()
    script.sequence("ab")
    script.step()
    script.step()
    events = script.events[: place(script.events, DraftProposed, nth=1) + 1]
    script.events[:] = events
    script.free()
    script.say(
        SequenceFinished(
            sequence_id=0, reason=FinishReason.STOPPED, n_output_tokens=3, elapsed_ns=1, text="ab!"
        )
    )
    script.say(SessionEnded(reason=EndReason.STOPPED))
    check_stream(script.events)


@pytest.mark.parametrize("n_prompt", [1, 15, 16, 17])
@pytest.mark.parametrize("gamma", [0, 1, 8])
def test_scripts_are_valid_at_block_borders(n_prompt: int, gamma: int) -> None:
    script = EventScript()
    script.sequence("p" * n_prompt)
    for accepted in range(gamma + 1):
        script.step(drafted=gamma, accepted=accepted)
    script.finish()
    check_stream(script.events)
