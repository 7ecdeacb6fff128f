"""What is copied of the timeline."""

from tests.sessions.played import drafted
from tests.ui.panels.moments import moment_of
from tests.ui.panels.test_timeline_digest import digest_of
from ui.moment import View
from ui.panels.timeline_columns import fate_columns, lane_columns


def test_bars_and_tokens_are_copied_one_by_one() -> None:
    moment = moment_of(drafted([1, 2], 2, with_spans=True))
    digest = digest_of(moment)
    lanes, fates = lane_columns(digest), fate_columns(digest)
    assert lanes["lane"].count("verify") == 2
    assert lanes["lane"].count("prefill") == 2
    assert len({len(column) for column in lanes.values()}) == 1
    assert fates["fate"] == ["accepted", "rejected", "accepted", "accepted"]
    assert fates["draft_position"].tolist() == [1, 2, 1, 2]
    assert len({len(column) for column in fates.values()}) == 1


def test_columns_are_copied_with_their_sums() -> None:
    moment = moment_of(drafted([2, 0] * 300, 2, with_spans=True))
    digest = digest_of(moment, View(window_ns=(0, moment.snapshot.t_ns)), width_px=90)
    lanes, fates = lane_columns(digest), fate_columns(digest)
    spans = moment.snapshot.spans
    told = sum(
        int(busy) for lane, busy in zip(lanes["lane"], lanes["busy_ns"], strict=True)
        if lane == "verify"
    )  # fmt: skip
    is_verify = spans["name"] == spans.code("verify")
    assert told == int(spans["host_ns"][is_verify].sum())
    assert [int(fates[name].sum()) for name in ("accepted", "rejected", "discarded")] == [
        600, 300, 300,
    ]  # fmt: skip
