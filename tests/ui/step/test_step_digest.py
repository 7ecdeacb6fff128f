"""A step taken apart: bars, figures, words, neighbours."""

import numpy as np
import pytest

from sessions.snapshot import Snapshot
from tests.sessions.scripted import folded, with_settings
from tests.support.event_script import EventScript
from ui.moment import TokenRef, View
from ui.step.step_digest import StepDigest, step_digest


def story() -> Snapshot:
    """Step 0 both sequences, step 1 the second, step 2 the first."""
    script = EventScript()
    script.sequence("p")
    script.sequence("q")
    script.step(0, drafted=3, accepted=1, text="abc", more=True)
    script.step(1, drafted=2, accepted=2, text="xy")
    script.step(1, drafted=0, accepted=0)
    script.step(0, drafted=1, accepted=1, text="d", gamma=3)
    return folded(with_settings(script.events, temperature=0.5))


def digest(snapshot: Snapshot, view: View) -> StepDigest:
    found = step_digest(snapshot, view)
    assert found is not None
    return found


def test_a_step_becomes_bars_with_the_steps_own_token_behind():
    found = digest(story(), View(sequence_id=0, step=0))
    assert found.bars.labels == ("a", "b", "c", "!")
    assert found.bars.fates == ("accepted", "rejected", "discarded", "recovered")
    assert found.bars.draft[:3].tolist() == [0.5] * 3
    assert np.isnan(found.bars.draft[3])
    assert found.bars.target.tolist() == [0.4, 0.1, 0.1, 0.3]
    assert found.bars.thresholds[:2].tolist() == pytest.approx([0.8, 0.2])
    assert np.isnan(found.bars.thresholds[2:]).all()  # never tested
    assert found.bars.uniforms[:2].tolist() == [0.6, 0.9]
    assert np.isnan(found.bars.uniforms[2:]).all()
    assert found.heading == "step 0 · 1 of 3 accepted"
    assert found.words.startswith("'b' was rejected")
    assert found.rows[1] == ("b", "0.50", "0.10", "0.20", "0.90", "0.70", "1.20")
    assert found.rows[2][4] == "n/a"
    assert found.rows[3] == ("! recovered", "n/a", "0.30", "n/a", "n/a", "n/a", "1.10")
    assert [s.sequence_id for s in found.sequences] == [0, 1]


def test_the_axis_has_room_for_gamma_so_that_it_stays():
    assert digest(story(), View(sequence_id=0)).bars.n_places == 4


def test_neighbours_are_the_sequences_own_steps():
    found = digest(story(), View(sequence_id=0))
    assert (found.step, found.before, found.behind) == (2, 0, None)
    found = digest(story(), View(sequence_id=0, step=0))
    assert (found.step, found.before, found.behind) == (0, None, 2)


def test_nothing_drafted_is_an_ordinary_token():
    found = digest(story(), View(sequence_id=1))
    assert found.heading == "step 1 · nothing drafted"
    assert found.words.startswith("Nothing was drafted")
    assert found.bars.labels == ("!",)


def test_words_are_about_the_selected_token():
    token = TokenRef(sequence_id=0, step=0, draft_index=2)
    found = digest(story(), View(sequence_id=0, step=0, token=token))
    assert found.bars.marked == 2
    assert "never tested" in found.words
    own = TokenRef(sequence_id=0, step=0)
    assert digest(story(), View(sequence_id=0, step=0, token=own)).bars.marked == 3
    assert digest(story(), View(sequence_id=1, step=0, token=own)).bars.marked is None


def test_greedy_decoding_says_so():
    script = EventScript()
    script.sequence("p")
    script.step()
    snapshot = folded(with_settings(script.events, temperature=0))
    assert "one-hot" in digest(snapshot, View()).words


def test_before_the_first_step_there_is_none() -> None:
    assert step_digest(folded(EventScript().events), View()) is None
