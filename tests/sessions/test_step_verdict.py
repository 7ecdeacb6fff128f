import json

import numpy as np
import pytest

from engine.wire.events import DraftProposed, SettingsChanged
from sessions.model import SessionModel
from sessions.step_verdict import sequences_of, step_verdict, steps_of
from sessions.tables import ACCEPTED, DISCARDED, REJECTED
from tests.sessions.scripted import folded, with_settings
from tests.support.event_script import EventScript


def test_a_step_is_taken_apart():
    script = EventScript()
    script.sequence("p")
    step = script.step(drafted=4, accepted=1, text="abcd")
    verdict = step_verdict(folded(script.events), 0, step)
    assert verdict is not None
    assert verdict.is_judged
    assert verdict.texts == ("a", "b", "c", "d")
    assert verdict.fates.tolist() == [ACCEPTED, REJECTED, DISCARDED, DISCARDED]
    assert verdict.ratios.tolist() == pytest.approx([0.8, 0.2, 0.2, 0.2])
    assert verdict.thresholds.tolist() == pytest.approx([0.8, 0.2, 0.2, 0.2])
    assert verdict.uniforms.tolist() == [0.6, 0.9, 0.9, 0.9]
    assert verdict.extra is not None
    assert (verdict.extra.text, verdict.extra.origin) == ("!", "recovered")
    assert (verdict.extra.target_prob, verdict.extra.entropy) == (0.3, 1.1)


def test_a_threshold_is_one_at_most_and_missing_without_a_draft_probability():
    script = EventScript()
    script.sequence("p")
    step = script.step(drafted=2, accepted=2)
    verdict = step_verdict(folded(script.events), 0, step)
    assert verdict is not None
    object.__setattr__(verdict, "draft_probs", np.array([0.1, 0.0]))
    assert verdict.thresholds[0] == 1.0
    assert np.isnan(verdict.ratios[1])
    assert np.isnan(verdict.thresholds[1])


def test_a_draft_without_a_verdict_is_waiting():
    script = EventScript()
    script.sequence("p")
    script.step(drafted=2, accepted=1, text="ab")
    proposed = next(e for e in script.events if isinstance(e, DraftProposed))
    model = SessionModel()
    model.consume(script.events)
    verdict = step_verdict(model.snapshot(proposed.t_ns), 0, 0)
    assert verdict is not None
    assert not verdict.is_judged
    assert verdict.texts == ("a", "b")
    assert verdict.draft_probs.tolist() == [0.5, 0.5]
    assert np.isnan(verdict.target_probs).all()
    assert verdict.extra is None


def test_sequences_of_a_batch_are_told_apart():
    script = EventScript()
    script.sequence("p")
    script.sequence("q")
    script.step(0, drafted=1, accepted=1, text="a", more=True)
    script.step(1, drafted=2, accepted=0, text="bc")
    script.step(1, drafted=0, accepted=0)
    snapshot = folded(script.events)
    assert sequences_of(snapshot, 0).tolist() == [0, 1]
    assert sequences_of(snapshot, 1).tolist() == [1]
    assert steps_of(snapshot, 0).tolist() == [0]
    assert steps_of(snapshot, 1).tolist() == [0, 1]
    verdict = step_verdict(snapshot, 1, 0)
    assert verdict is not None
    assert verdict.texts == ("b", "c")
    assert step_verdict(snapshot, 0, 1) is None


def test_the_temperature_is_the_one_in_force():
    script = EventScript()
    script.sequence("p")
    script.step()
    script.say(SettingsChanged(gamma="4", temperature=0.7, top_k=0, top_p=1.0))
    script.step()
    snapshot = folded(with_settings(script.events, temperature=0.0))
    verdicts = [step_verdict(snapshot, 0, step) for step in (0, 1)]
    assert [each.temperature for each in verdicts if each] == [0.0, 0.7]
    assert [each.is_greedy for each in verdicts if each] == [True, False]


@pytest.mark.parametrize("settings", ["{}", "[]", json.dumps({"temperature": None})])
def test_an_unknown_temperature_is_missing(settings: str):
    script = EventScript()
    script.sequence("p")
    script.step()
    script.events[0] = type(script.events[0])(
        **{f: getattr(script.events[0], f) for f in script.events[0].__struct_fields__}
        | {"config_json": settings}
    )
    verdict = step_verdict(folded(script.events), 0, 0)
    assert verdict is not None
    assert verdict.temperature is None
    assert not verdict.is_greedy
