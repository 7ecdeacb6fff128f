"""The six tiles: hand-made sessions, and the metrics that the tiles repeat."""

import pytest

from sessions.metrics.selection import Selection
from sessions.metrics.speedup import measured_speedup, predicted_speedup
from sessions.metrics.tiles import tiles
from sessions.metrics.time_split import time_split
from sessions.metrics.waterfall import waterfall
from tests.sessions.played import drafted, snapshot_of
from tests.sessions.scripted import baseline, speculative
from tests.support.event_script import EventScript


def test_the_figures_of_a_session_worked_out_by_hand() -> None:
    script = EventScript(n_blocks=8, block_size=4)
    script.sequence("abcd", max_new_tokens=20)  # three positions cached
    script.step(drafted=4, accepted=2)  # commits 3: six positions
    script.step(drafted=4, accepted=4)  # commits 5: eleven positions
    found = tiles(snapshot_of(script.events))
    assert (found.acceptance.n, found.acceptance.n_of) == (6, 7)
    assert found.acceptance.low is not None
    assert found.expected_acceptance == pytest.approx(0.7)
    assert found.tokens_per_step == 4.0
    assert found.most_per_step == 5.0
    assert found.kv is not None
    assert (found.kv.n_owned, found.kv.n_blocks, found.kv.n_contiguous) == (3, 8, 6)
    assert found.kv.unfilled == pytest.approx(1 / 12)
    assert found.step is not None
    shares = (found.step.draft_share, found.step.verify_share, found.step.other_share)
    assert sum(shares) == pytest.approx(1.0)
    assert found.baseline_tokens_per_second is None
    assert found.measured_speedup is None
    assert found.is_estimated


def test_beside_a_baseline_the_speed_up_is_measured() -> None:
    session, plain = speculative(), baseline()
    found, measured = tiles(session, plain), measured_speedup(session, plain)
    assert measured is not None
    assert found.measured_speedup == pytest.approx(measured.value)
    assert not found.is_estimated
    assert found.tokens_per_second is not None
    assert found.baseline_tokens_per_second is not None
    assert found.tokens_per_second > found.baseline_tokens_per_second
    assert tiles(session, baseline(("other",))).measured_speedup is None


def test_one_sequence_is_compared_with_its_own_prompt() -> None:
    session, plain = speculative(), baseline()
    measured = measured_speedup(session, plain)
    assert measured is not None
    one = tiles(session, plain, Selection(1))
    assert one.measured_speedup == pytest.approx(measured.prompts[1].ratio)
    assert one.acceptance.n_of == 4


def test_the_estimate_is_the_formula_s() -> None:
    events = drafted([2, 4, 0, 3], 4, draft_ns=10, target_ns=(100, 101, 102, 103, 104))
    found, predicted = tiles(snapshot_of(events)), predicted_speedup(snapshot_of(events))
    assert predicted is not None
    assert found.predicted_speedup == pytest.approx(predicted.value)
    assert found.step is None  # no spans


def test_the_mean_step_reaches_what_the_waterfall_ends_with() -> None:
    events = drafted([1, 2, 0], 3, draft_ns=10**6, target_ns=(4 * 10**6,) * 4, with_spans=True)
    found, losses = tiles(snapshot_of(events)), waterfall(snapshot_of(events))
    assert losses is not None
    assert found.mean_step_speedup == pytest.approx(losses.measured)


def test_the_step_is_that_of_the_time_split() -> None:
    snapshot = snapshot_of(drafted([1, 2], 3, with_spans=True))
    split, found = time_split(snapshot), tiles(snapshot).step
    assert split is not None
    assert found is not None
    assert found.ns == split.whole_ns / 2
    assert found.draft_share == split.share(split.draft_ns)


def test_an_empty_session_has_no_figures() -> None:
    found = tiles(snapshot_of([]), snapshot_of([]))
    assert found.tokens_per_second is None
    assert (found.mean_step_speedup, found.predicted_speedup) == (None, None)
    assert found.acceptance.value is None
    assert found.most_per_step is None
    assert found.step is None
    assert found.kv is None
