"""The cross-hair's words."""

from engine.wire.events import KernelsRecorded
from tests.sessions.played import drafted
from tests.support.event_script import TICK_NS, EventScript
from tests.ui.panels.moments import moment_of
from tests.ui.panels.test_timeline_digest import digest_of
from ui.moment import View
from ui.panels.timeline_words import (
    duration,
    fate_words,
    lane_words,
    shown,
    since_start,
    step_at,
)


def test_durations_have_a_unit_that_suits() -> None:
    assert [duration(ns) for ns in (12, 3_456, 7_890_123, 4.2e9)] == [
        "12 ns", "3.456 \u00b5s", "7.89 ms", "4.2 s",
    ]  # fmt: skip
    assert since_start(1_234_567_890) == "1\u2009234.568 ms"


def test_a_span_is_named_with_its_step_and_length() -> None:
    digest = digest_of(moment_of(drafted([2, 0], 2, with_spans=True)))
    verify = next(lane for lane in digest.lanes if lane.key == "verify").bars
    assert verify is not None
    start, end = int(verify.start_ns[1]), int(verify.end_ns[1])
    words = lane_words(digest, ("verify",), start + 1)
    assert words == f"verify \u00b7 step 1\n{duration(end - start)} from {since_start(start)}"
    assert lane_words(digest, ("verify",), end + 1) == ""


def test_inside_a_draft_its_forward_is_named() -> None:
    digest = digest_of(moment_of(drafted([2], 2, with_spans=True)))
    bars = {lane.key: lane.bars for lane in digest.lanes}
    forward, draft = bars["draft_forward"], bars["draft"]
    assert forward is not None
    assert draft is not None
    keys = ("draft", "draft_forward")
    assert lane_words(digest, keys, int(forward.start_ns[0])).startswith("draft forward")
    assert lane_words(digest, keys, int(forward.end_ns[0])).startswith("draft \u00b7")


def test_a_kernel_is_named_by_its_own_name() -> None:
    script = EventScript()
    script.sequence()
    script.step()
    script.say(
        KernelsRecorded(
            step=0, names=("gemm",), streams=(7,), start_ns=(9 * TICK_NS,),
            duration_ns=(TICK_NS,), span_indexes=(0,),
        )
    )  # fmt: skip
    digest = digest_of(moment_of(script.events))
    assert lane_words(digest, ("kernels",), 9 * TICK_NS).startswith("gemm \u00b7 step 0\n1 ms")
    assert digest.kernels_name == "operators"  # both models are on the CPU


def test_a_token_is_told_with_what_decided() -> None:
    digest = digest_of(moment_of(drafted([1], 3, with_spans=True)))
    assert digest.token_ns is not None
    inside = int(digest.token_ns[0][0]) + 1
    accepted, rejected, discarded = (fate_words(digest, 0, i, inside) for i in range(3))
    assert accepted.splitlines() == [
        "\u201ca\u201d accepted",
        "step 0 \u00b7 draft position 1 \u00b7 sequence 0",
        "draft 0.5 \u00b7 target 0.4",
        "uniform 0.6, target / draft 0.8",
    ]
    assert rejected.startswith("\u201cb\u201d rejected")
    assert "uniform 0.9, target / draft 0.2" in rejected
    assert "discarded" in discarded
    assert "uniform not used" in discarded
    assert fate_words(digest, 0, 0, inside - 10**9) == ""


def test_columns_are_told_by_their_counts() -> None:
    moment = moment_of(drafted([2, 0] * 30, 2, with_spans=True))
    digest = digest_of(moment, View(window_ns=(0, moment.snapshot.t_ns)), width_px=90)
    assert digest.counts is not None
    column = int(digest.counts[0, 1].sum(axis=0).argmax())
    accepted, rejected, discarded = digest.counts[0, 1, :, column].tolist()
    inside = digest.fate_grid.first_ns + (column + 0.5) * digest.fate_grid.column_ns
    words = fate_words(digest, 0, 1, inside)
    assert f"{accepted} accepted \u00b7 {rejected} rejected \u00b7 {discarded} discarded" in words
    assert fate_words(digest, 0, 1, -1e12) == ""


def test_the_step_at_a_moment() -> None:
    moment = moment_of(drafted([2, 0] * 30, 2, with_spans=True))
    digest = digest_of(moment)
    assert step_at(digest, int(digest.steps.start_ns[-1]) + 1) == int(digest.steps.step[-1])
    assert step_at(digest, int(digest.steps.end_ns[-1]) + 1) is None
    narrow = digest_of(moment, View(window_ns=(0, moment.snapshot.t_ns)), width_px=90)
    t_ns = moment.snapshot.steps["t_ns"]
    found = step_at(narrow, float(t_ns[30]))
    assert found is not None
    assert abs(found - 30) <= 60 * narrow.fate_grid.column_ns / (t_ns[-1] - t_ns[0]) + 1
    assert step_at(narrow, -1e12) is None


def test_blanks_of_a_token_can_be_seen() -> None:
    assert shown(" a\n\t") == "\u201c a\u21b5\u21e5\u201d"
