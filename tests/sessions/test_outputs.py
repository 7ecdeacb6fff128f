"""What each sequence was asked and gave."""

import numpy as np

from sessions.outputs import sequence_outputs
from tests.sessions.scripted import folded, speculative
from tests.support.event_script import EventScript
from tests.support.running_engine import RunningEngine
from tests.support.toy_model import ToyModel


def test_finished_sequences_in_order() -> None:
    first, second = sequence_outputs(speculative())
    assert (first.sequence_id, first.prompt, second.prompt) == (0, "ab", "cd")
    assert first.text == "xy!xy!"
    assert first.token_ids == tuple(map(ord, "xy!xy!"))
    assert first.token_texts == tuple("xy!xy!")
    assert first.finish_reason == "length"
    assert first.elapsed_s is not None
    assert first.elapsed_s > 0


def test_a_running_sequence_shows_what_is_committed() -> None:
    script = EventScript()
    script.sequence("ab", label="code")
    script.step(drafted=2, accepted=1, text="xy")
    (output,) = sequence_outputs(folded(script.events))
    assert (output.text, output.finish_reason, output.elapsed_s) == ("x!", None, None)
    assert output.label == "code"


def test_a_sequence_that_was_set_back_is_one_sequence() -> None:
    script = EventScript()
    script.sequence("ab")
    script.step(drafted=1, accepted=1, text="x")
    script.set_back()
    script.resume()
    script.step(drafted=1, accepted=0, text="y")
    script.finish()
    (output,) = sequence_outputs(folded(script.events))
    assert output.text == "x!!"


def test_sequences_decoded_together_keep_their_own_tokens() -> None:
    engine = RunningEngine(ToyModel(32, seed=1), ToyModel(32, seed=2), batch=3, max_new_tokens=20)
    snapshot = folded(engine.run("ab", "cd", "ef"))
    tokens = snapshot.output_tokens
    outputs = sequence_outputs(snapshot)
    assert [output.sequence_id for output in outputs] == [0, 1, 2]
    for output in outputs:
        rows = np.flatnonzero(tokens["sequence_id"] == output.sequence_id)
        assert np.any(np.diff(rows) > 1)
        assert output.token_ids == tuple(tokens["token_id"][rows].tolist())
        assert output.token_texts == tuple(tokens.texts("text", rows))


def test_nothing_ran() -> None:
    assert sequence_outputs(folded(EventScript().events)) == ()
