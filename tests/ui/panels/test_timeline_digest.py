"""What the timeline shows of a moment."""

import time

import numpy as np
from msgspec import structs

from engine.wire.events import (
    DraftProposed,
    EngineState,
    EngineStateChanged,
    SpansMeasured,
    StepCommitted,
)
from sessions.metrics.fate_columns import PROPOSED
from sessions.metrics.lanes import pauses
from tests.sessions.played import drafted, snapshot_of
from tests.support.event_script import TICK_NS, EventScript
from tests.support.long_session import long_snapshot
from tests.ui.panels.moments import moment_of, plain, stepped_by_hand, two_kinds
from ui.moment import Moment, TokenRef, View
from ui.panels.timeline_digest import TimelineDigest, followed_window, timeline_digest


def digest_of(moment: Moment, view: View | None = None, *, width_px: int = 1000) -> TimelineDigest:
    digest = timeline_digest(moment, view or View(), width_px=width_px)
    assert isinstance(digest, TimelineDigest)
    return digest


def test_nothing_to_show_before_anything_was_done() -> None:
    assert timeline_digest(moment_of([]), View()) is None


def test_following_shows_about_eighteen_of_the_newest_steps() -> None:
    moment = moment_of(drafted([1] * 40, 2, with_spans=True))
    digest = digest_of(moment)
    step_ns = int(np.median(np.diff(moment.snapshot.steps["t_ns"])))
    assert digest.is_following
    assert digest.width_ns == 18 * step_ns
    assert digest.window_ns[1] - digest.window_ns[0] == digest.width_ns
    assert digest.note.startswith("steps 23\u201339 (40 steps)")
    assert digest.covered_ns[0] == digest.window_ns[0] - digest.width_ns


def test_the_window_begins_behind_a_long_rest() -> None:
    script = stepped_by_hand()
    digest = digest_of(moment_of(script.events))
    low, high = digest.window_ns
    start_ns, end_ns = pauses(moment_of(script.events).snapshot)
    assert end_ns[-1] - low < 0.06 * (high - low)
    assert low <= end_ns[-1] < high
    assert digest.least_ns == digest.width_ns < 20 * TICK_NS
    for _ in range(300):  # it rests again, and what was done stays in sight
        script.state(EngineState.PAUSED)
    assert digest_of(moment_of(script.events)).window_ns == digest.window_ns
    script.state(EngineState.RUNNING)
    for _ in range(40):
        script.step(drafted=2, accepted=1)
    digest = digest_of(moment_of(script.events))
    assert digest.least_ns == digest.width_ns < 300 * TICK_NS  # eighteen usual steps, no rest
    assert digest.window_ns[0] > start_ns[-1]


def test_a_step_stopped_on_its_way_is_drawn_behind_the_rest() -> None:
    script = EventScript()
    script.sequence()
    for _ in range(4):
        script.step(drafted=2, accepted=1)
    n_before = len(script.events)
    script.step(drafted=2, accepted=1)
    step = [e for e in script.events[n_before:] if not isinstance(e, SpansMeasured)]
    cut = next(i for i, e in enumerate(step) if isinstance(e, DraftProposed)) + 1
    events = [*script.events[:n_before], *step[:cut]]
    rest_ns, end_ns = events[-1].t_ns + 1, events[-1].t_ns + 20_000 * TICK_NS
    for t_ns, state in ((rest_ns, EngineState.PAUSED), (end_ns, EngineState.RUNNING)):
        events.append(structs.replace(EngineStateChanged(state=state), t_ns=t_ns))
    for event in step[cut:]:
        later = structs.replace(event, t_ns=event.t_ns + end_ns)
        if isinstance(later, StepCommitted):
            later = structs.replace(later, step_ns=later.step_ns + end_ns)
        events.append(later)
    digest = digest_of(moment_of(events))
    assert digest.token_ns is not None
    starts, ends = digest.token_ns
    assert (starts[-2:] == end_ns).all()
    assert (starts[:-2] < rest_ns).all()
    assert (ends[-2:] > end_ns).all()


def test_the_window_begins_with_the_session_and_then_slides() -> None:
    assert followed_window((100, 150), 150, 1000) == (100, 1100)
    assert followed_window((100, 5000), 5000, 1000) == (4040, 5040)


def test_each_token_has_its_steps_time_and_its_position() -> None:
    moment = moment_of(drafted([2, 0], 2, with_spans=True))
    digest = digest_of(moment)
    assert digest.tokens is not None
    assert digest.token_ns is not None
    assert digest.counts is None
    assert digest.tokens.draft_index.tolist() == [0, 1, 0, 1]
    steps = digest.steps
    assert digest.token_ns[0].tolist() == np.repeat(steps.start_ns, 2).tolist()
    assert digest.token_ns[1].tolist() == np.repeat(steps.end_ns, 2).tolist()
    assert digest.n_positions == 2


def test_steps_too_narrow_are_counted_per_column() -> None:
    moment = moment_of(drafted([2, 0] * 30, 2, with_spans=True))
    everything = View(window_ns=(0, moment.snapshot.t_ns))
    digest = digest_of(moment, everything, width_px=90)
    assert digest.tokens is None
    assert digest.counts is not None
    assert digest.counts.sum() == len(moment.snapshot.draft_tokens)
    assert digest.counts.sum(axis=(0, 1, 3)).tolist() == [60, 30, 30]
    assert len(digest.steps.step) == 0
    assert digest_of(moment, everything, width_px=1000).counts is None


def test_what_lies_behind_the_playhead_is_absent_and_the_playhead_told() -> None:
    events = drafted([1] * 30, 2, with_spans=True)
    half = snapshot_of(events[: len(events) // 2])
    digest = digest_of(Moment(snapshot=half, newest=snapshot_of(events)))
    assert digest.playhead_ns == half.t_ns
    assert digest.window_ns[0] < half.t_ns < digest.window_ns[1]
    assert int(digest.steps.step[-1]) <= int(half.drafts["step"][-1])
    assert digest.note.endswith("(30 steps)")
    assert digest_of(moment_of(events)).playhead_ns is None


def test_a_draft_that_waits_for_its_verdict_is_shown_as_proposed() -> None:
    events = drafted([1, 1], 2, with_spans=True)
    cut = max(i for i, event in enumerate(events) if isinstance(event, DraftProposed))
    digest = digest_of(moment_of(events[: cut + 1]))
    assert digest.tokens is not None
    assert digest.tokens.fate.tolist()[-2:] == [PROPOSED, PROPOSED]
    assert digest.note == "steps 0\u20131 (2 steps)"  # the one being made counts, as everywhere


def side_by_side(n: int) -> EventScript:
    script = EventScript(n_blocks=256)
    for _ in range(n):
        script.sequence()
    for _ in range(3):
        for sequence_id in range(n):
            script.step(sequence_id, drafted=2, accepted=1, more=sequence_id < n - 1)
    return script


def test_sequences_that_run_together_have_rows_at_most_four() -> None:
    digest = digest_of(moment_of(side_by_side(2).events))
    assert digest.n_slots == 2
    assert [(slot, name) for slot, _, name in digest.captions] == [(0, 0), (1, 1)]
    digest = digest_of(moment_of(side_by_side(5).events))
    assert digest.n_slots == 4
    assert "4 of 5 sequences" in digest.note
    assert digest.tokens is not None
    assert set(digest.tokens.sequence_id.tolist()) == {0, 1, 2, 3}


def test_a_sequence_looked_at_has_the_raster_to_itself() -> None:
    digest = digest_of(moment_of(side_by_side(3).events), View(sequence_id=2))
    assert digest.n_slots == 1
    assert digest.tokens is not None
    assert set(digest.tokens.sequence_id.tolist()) == {2}
    assert digest.captions == ()


def test_a_sequence_looked_at_that_ran_at_another_time_hides_no_other() -> None:
    moment = moment_of(two_kinds().events)
    first_ns = (0, int(moment.snapshot.steps["t_ns"][1]))
    for width_px in (1000, 1):  # single tokens, and counted
        digest = digest_of(moment, View(sequence_id=1, window_ns=first_ns), width_px=width_px)
        assert digest.n_slots == 1
        if digest.tokens is not None:
            assert digest.tokens.sequence_id.tolist()[:8] == [0] * 8
        else:
            assert digest.counts is not None
            assert digest.counts.sum() >= 8


def test_counted_columns_are_of_the_row_looked_at() -> None:
    moment = moment_of(side_by_side(3).events)
    view = View(sequence_id=2, window_ns=(0, moment.snapshot.t_ns + 1))
    digest = digest_of(moment, view, width_px=1)
    assert digest.counts is not None
    assert digest.n_slots == 1
    assert digest.counts.sum() == 6  # of three steps, two tokens each


def test_one_sequence_after_the_other_share_the_rows() -> None:
    digest = digest_of(moment_of(two_kinds().events))
    assert digest.n_slots == 1
    assert digest.tokens is not None
    assert set(digest.tokens.sequence_id.tolist()) == {0, 1}


def test_selections_are_placed() -> None:
    moment = moment_of(drafted([2, 0], 2, with_spans=True))
    digest = digest_of(moment, View(step=1, token=TokenRef(sequence_id=0, step=1, draft_index=1)))
    assert digest.selected_ns == (int(digest.steps.start_ns[1]), int(digest.steps.end_ns[1]))
    assert digest.chosen == 3
    assert digest_of(moment, View(step=77)).selected_ns is None


def test_plain_decoding_has_lanes_and_no_rows() -> None:
    digest = digest_of(moment_of(plain()))
    assert digest.n_positions == 0
    assert digest.note.startswith("steps 0\u20132 (3 steps)")


def test_a_session_without_spans_says_so_and_shows_its_drafts() -> None:
    events = drafted([1, 2], 2, with_spans=True)
    assert digest_of(moment_of(events)).problem == ""
    events = [event for event in events if not isinstance(event, SpansMeasured)]
    digest = digest_of(moment_of(events))
    assert "without spans" in digest.problem
    assert digest.tokens is not None
    assert len(digest.tokens.fate) == 4


def test_a_long_session_is_digested_in_time() -> None:
    snapshot = long_snapshot(100_000)
    moment = Moment(snapshot=snapshot, newest=snapshot)

    def cost_s(view: View) -> float:
        begun = time.thread_time()
        digest_of(moment, view)
        return time.thread_time() - begun

    whole = min(cost_s(View(window_ns=(0, snapshot.t_ns))) for _ in range(3))
    followed = min(cost_s(View()) for _ in range(3))
    middle = snapshot.t_ns // 2
    few = min(cost_s(View(window_ns=(middle, middle + 10**8))) for _ in range(3))
    assert whole < 0.5  # some 25 ms on a quiet machine
    assert followed < 0.05
    assert few < 0.05
