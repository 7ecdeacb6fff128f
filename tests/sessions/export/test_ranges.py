"""Events become ranges; ranges that do not nest are found."""

from itertools import accumulate

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from engine.wire.events import (
    DraftProposed,
    DraftVerified,
    Event,
    FinishReason,
    PrefillCompleted,
    Role,
    SpansMeasured,
    StepCommitted,
)
from sessions.export.ranges import HostRange, Nesting, RangeReader, cut, do_nest
from tests.support.event_script import EventScript
from tests.support.export_streams import (
    cancelled_inside_verify,
    long_session,
    plain_session,
    two_sequences,
)
from tests.support.running_engine import RunningEngine
from tests.support.toy_model import ToyModel

bounds = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), max_size=40)


def ranges_of(events: list) -> list[HostRange]:
    reader = RangeReader()
    told = [one for event in events for one in reader.read(event)]
    return told + reader.close()


def test_every_measured_span_becomes_one_range() -> None:
    events = two_sequences()
    told = [one for one in ranges_of(events) if one.name != "prefill"]
    spans = [event for event in events if isinstance(event, SpansMeasured)]
    expected = [
        (start, start + host, name, role, event.step)
        for event in spans
        for name, role, start, host in zip(
            event.names, event.roles, event.start_ns, event.host_ns, strict=True
        )
    ]
    key = str
    assert sorted([one[:5] for one in told], key=key) == sorted(expected, key=key)


def test_a_prefill_without_a_span_stands_for_itself() -> None:
    events = plain_session()
    prefills = [event for event in events if isinstance(event, PrefillCompleted)]
    told = [one for one in ranges_of(events) if one.name == "prefill"]
    assert [(one.start_ns, one.end_ns, one.role, one.sequence_id) for one in told] == [
        (event.start_ns, event.start_ns + event.host_ns, event.role, event.sequence_id)
        for event in prefills
    ]


def test_a_prefill_with_spans_is_said_once_and_knows_its_sequence() -> None:
    running = RunningEngine(ToyModel(24, seed=1), ToyModel(24, seed=2), gamma=2, max_new_tokens=6)
    events = running.run([3, 1, 4, 1, 5])
    told = [one for one in ranges_of(events) if one.name == "prefill"]
    n_spans = sum(e.names.count("prefill") for e in events if isinstance(e, SpansMeasured))
    assert len(told) == n_spans > 0
    assert {one.sequence_id for one in told} == {0}
    assert {one.role for one in told} == {Role.DRAFT, Role.TARGET}


def test_an_interrupted_step_is_closed_at_the_last_known_time() -> None:
    events = cancelled_inside_verify()
    incomplete = [one for one in ranges_of(events) if one.is_incomplete]
    proposed_ns = next(e.t_ns for e in reversed(events) if type(e).__name__ == "DraftProposed")
    assert [(one.name, one.start_ns, one.end_ns, one.step) for one in incomplete] == [
        ("step", proposed_ns, events[-1].t_ns, 2),
        ("verify", proposed_ns, events[-1].t_ns, 2),
    ]


def test_a_step_that_was_left_for_another_ends_when_its_sequence_did() -> None:
    """A sequence is stopped between draft and verify; another one goes on."""
    script = EventScript()
    script.sequence()
    script.step()
    script.step()
    kept = [e for e in script.events if not (getattr(e, "step", -1) == 1 and is_behind_draft(e))]
    script.events[:] = kept
    script.finish_sequence(reason=FinishReason.STOPPED)
    finished_ns = script.events[-1].t_ns
    proposed_ns = next(e.t_ns for e in reversed(kept) if isinstance(e, DraftProposed))
    script.sequence()
    script.step(1)
    script.finish()
    told = ranges_of(script.events)
    assert [
        (one.name, one.start_ns, one.end_ns, one.step) for one in told if one.is_incomplete
    ] == [
        ("step", proposed_ns, finished_ns, 1),
        ("verify", proposed_ns, finished_ns, 1),
    ]


def is_behind_draft(event: Event) -> bool:
    return isinstance(event, DraftVerified | StepCommitted | SpansMeasured)


def test_a_finished_session_has_no_incomplete_range() -> None:
    for events in (plain_session(0), plain_session(), two_sequences()):
        assert not [one for one in ranges_of(events) if one.is_incomplete]
    script = EventScript()
    script.finish()
    assert ranges_of(script.events) == []


def test_a_committed_step_whose_spans_were_lost_is_not_incomplete() -> None:
    events = [event for event in plain_session() if not isinstance(event, SpansMeasured)]
    assert {one.name for one in ranges_of(events)} == {"prefill"}


def test_outer_ranges_come_first() -> None:
    events = plain_session()
    last = next(e for e in events if isinstance(e, SpansMeasured))
    turned = msgspec.structs.replace(
        last,
        **{
            name: getattr(last, name)[::-1]
            for name in ("names", "roles", "start_ns", "host_ns", "gpu_ns", "n_flops", "n_bytes")
        },
    )
    assert [one.name for one in RangeReader().read(turned)][:2] == ["step", "draft"]


def test_what_comes_once_a_token_can_be_left_out() -> None:
    told = ranges_of(plain_session())
    names = {one.name for one in cut(told, per_step=True)}
    assert "draft_forward" not in names
    assert "draft" in names
    assert list(cut(told, per_step=False)) == told


def test_an_exact_example_of_nesting() -> None:
    nesting = Nesting()
    assert nesting.fits(0, 100)
    assert nesting.fits(0, 40)  # same start, inside
    assert not nesting.fits(20, 60)  # crosses
    assert nesting.fits(40, 70)  # touches
    assert not nesting.fits(40, 70, may_be_twin=False)
    assert nesting.fits(40, 70)
    assert nesting.fits(100, 130)
    assert not nesting.fits(90, 95)  # comes too late to be placed


@given(bounds)
def test_what_is_taken_never_crosses(pairs: list[tuple[int, int]]) -> None:
    nesting = Nesting()
    taken = [(s, s + n) for s, n in pairs if nesting.fits(s, s + n, may_be_twin=False)]
    assert len(set(taken)) == len(taken)
    for a, b in taken:
        for c, d in taken:
            assert not a < c < b < d, "two of them cross"


@given(bounds)
def test_sorted_ranges_that_nest_are_all_taken(pairs: list[tuple[int, int]]) -> None:
    """Taken again alone, what was taken is taken again."""
    nesting, again = Nesting(), Nesting()
    ordered = sorted(((s, s + n) for s, n in pairs), key=lambda bound: (bound[0], -bound[1]))
    taken = [bound for bound in ordered if nesting.fits(*bound)]
    assert all(again.fits(*bound) for bound in taken)


@given(bounds)
def test_many_are_taken_as_one_by_one_or_not_at_all(pairs: list[tuple[int, int]]) -> None:
    """Those whose starts increase, behind some that were taken."""
    ordered = sorted({s: s + n for s, n in pairs}.items())
    half = len(ordered) // 2
    nesting, one_by_one = Nesting(), Nesting()
    assert all(one.fits(0, 10**6) for one in (nesting, one_by_one))
    behind = [(start + 1, end + 1) for start, end in ordered]
    for one in (nesting, one_by_one):
        for bound in behind[:half]:
            one.fits(*bound)
    many = behind[half:]
    following = nesting.with_all(many)
    fit = [one_by_one.fits(*bound) for bound in many]
    assert (following is not None) == all(fit)
    if following is not None:
        later = [(10**5 + start, 10**5 + end) for start, end in behind]
        assert [following.fits(*b) for b in later] == [one_by_one.fits(*b) for b in later]


def test_measured_steps_are_plain() -> None:
    events = [*plain_session(), *long_session(20)]
    reader, again = RangeReader(), RangeReader()
    n_plain = 0
    for event in events:
        if isinstance(event, SpansMeasured):
            ends = reader.read_plain(event)
            if ends is not None:
                n_plain += 1
                told = again.read(event)
                assert [one.end_ns for one in told] == ends
                assert [one.name for one in told] == list(event.names)
                assert reader.last_ns == again.last_ns
                continue
        assert reader.read(event) == again.read(event)
    assert reader.close() == again.close()
    assert n_plain


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 20))))
def test_ranges_nest_where_a_lane_would_take_them(pairs: list[tuple[int, int]]) -> None:
    starts = list(accumulate(gap for gap, _ in pairs))
    ends = [start + length for start, (_, length) in zip(starts, pairs, strict=True)]
    lane = Nesting()
    assert do_nest(starts, ends) == all(map(lane.fits, starts, ends))
