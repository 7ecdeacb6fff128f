"""What a session has to offer the planner."""

import json
from dataclasses import asdict

import pytest
from msgspec.structs import replace

from engine.theory.presets import PRESETS
from engine.wire.events import ModelLoaded, Role
from sessions.metrics.selection import EVERYTHING
from sessions.what_if import gamma_what_if
from tests.sessions.played import drafted, snapshot_of
from tests.sessions.scripted import with_settings
from tests.support.event_script import EventScript
from ui.panels.planner_memory import MOST_TOKENS
from ui.panels.planner_session import (
    loaded_models,
    session_figures,
    session_memory,
    session_speedup,
)


def model(place: int, role: Role, name: str, shape_json: str) -> ModelLoaded:
    """Of 100 parameters, in half precision."""
    return ModelLoaded(
        ordinal=place, t_ns=place, role=role, name=name, n_parameters=100, vocab_size=1,
        context_length=512, dtype="float32", device="cpu", weight_bytes=200, load_ns=1,
        shape_json=shape_json,
    )  # fmt: skip


SHAPE = PRESETS["smollm2-135m"].shape
KNOWN = json.dumps(asdict(SHAPE))


def test_figures_of_a_session() -> None:
    events = drafted([2, 4, 0, 3], 4, draft_ns=10, target_ns=(100, 101, 102, 103, 104))
    preset, reason = session_speedup(snapshot_of(events), EVERYTHING)
    assert preset is not None
    assert reason == ""
    assert preset.alpha == pytest.approx(9 / 12)
    assert (preset.gamma, preset.c) == (4, 0.1)
    assert preset.v.startswith("1,1.01,1.02,1.03,1.04,1.05")
    assert preset.overhead == 0.0  # no spans


def test_overhead_is_what_the_steps_spend_beside_the_forwards() -> None:
    events = drafted([2, 2], 4, draft_ns=10, target_ns=(1_000_000, 1_000_000), with_spans=True)
    preset, _ = session_speedup(snapshot_of(events), EVERYTHING)
    assert preset is not None
    spans = snapshot_of(events).spans
    step_ns = spans["host_ns"][spans["name"] == spans.code("step")]
    quarters = step_ns // 4  # each step's verification; its one draft forward is half of that
    rest_ns = (step_ns - quarters - quarters // 2).mean()
    assert preset.overhead == pytest.approx(rest_ns / 1e6, abs=5e-4)


def test_a_width_timed_too_long_does_not_decide() -> None:
    events = drafted([2, 4, 0, 3], 4, draft_ns=10, target_ns=(100, 101, 190, 102, 104))
    preset, _ = session_speedup(snapshot_of(events), EVERYTHING)
    assert preset is not None
    costs = [float(cost) for cost in preset.v.split(",")]
    assert costs == sorted(costs)
    assert max(costs[:5]) < 1.4


def test_the_best_gamma_of_the_run_is_the_curves() -> None:
    events = drafted([2, 4, 0, 3], 4, draft_ns=10, target_ns=(100, 101, 102, 103, 104))
    what_if = gamma_what_if(snapshot_of(events))
    assert what_if is not None
    assert session_figures(snapshot_of(events), EVERYTHING).run_best == what_if.best_seen.gamma
    assert session_figures(snapshot_of([]), EVERYTHING).run_best is None


def test_timing_that_contradicts_itself_is_told() -> None:
    quick = drafted([2, 1] * 30, 2, draft_ns=10, target_ns=[1000] * 3, with_spans=True)
    assert session_figures(snapshot_of(quick), EVERYTHING).is_doubtful
    assert not session_figures(snapshot_of([]), EVERYTHING).is_doubtful


def test_why_there_is_no_preset() -> None:
    assert session_speedup(snapshot_of([]), EVERYTHING)[1].startswith("No draft token")
    events = drafted([2, 4], 4)
    assert "costs was not measured" in session_speedup(snapshot_of(events), EVERYTHING)[1]


def test_shapes_that_the_models_told() -> None:
    told = [model(0, Role.TARGET, "known", KNOWN), model(1, Role.DRAFT, "unknown", "{}")]
    found = loaded_models(snapshot_of(told))
    assert list(found) == ["known"]
    assert found["known"].shape == SHAPE


def test_the_load_is_that_of_the_session() -> None:
    told = [model(0, Role.TARGET, "mine", KNOWN), model(1, Role.DRAFT, "small", KNOWN)]
    found = session_memory(snapshot_of(told))
    assert found is not None
    assert (found.target, found.draft) == ("mine", "small")
    assert (found.target_bits, found.kv_bits) == (16.0, 32.0)
    assert found.context == 512  # the model's, while no sequence says how long it will be
    unknown = session_memory(snapshot_of([model(0, Role.TARGET, "unknown", "{}")]))
    assert unknown is None


def test_tokens_of_each_are_what_the_longest_may_become() -> None:
    script = EventScript()
    script.sequence("abcdef", max_new_tokens=30)
    script.sequence("abc", max_new_tokens=40)
    script.say(model(0, Role.TARGET, "mine", KNOWN))
    found = session_figures(snapshot_of(script.events), EVERYTHING).memory
    assert found is not None
    assert found.context == 43


def load_of(**settings: object) -> tuple[int, int]:
    """Sequences and gamma that a session with these settings offers."""
    script = EventScript()
    script.sequence("abc", max_new_tokens=4)
    script.say(model(0, Role.TARGET, "mine", KNOWN))
    found = session_memory(snapshot_of(with_settings(script.events, **settings)))
    assert found is not None
    return found.batch, found.gamma


@pytest.mark.parametrize(
    ("settings", "load"),
    [
        ({"draft": "ngram", "gamma": 4, "batch": 2}, (2, 4)),
        ({"draft": "ngram", "gamma": "auto", "max_gamma": 8, "batch": 2}, (2, 8)),
        ({"draft": "none", "gamma": 4}, (1, 0)),
        ({"draft": "ngram", "gamma": 10**30, "batch": 10**30}, (32, 32)),
        ({"draft": "ngram", "gamma": [], "batch": "many"}, (1, 0)),
    ],
)
def test_the_load_is_one_that_a_run_can_have(
    settings: dict[str, object], load: tuple[int, int]
) -> None:
    assert load_of(**settings) == load


def test_a_shape_beyond_all_numbers_is_left_out() -> None:
    huge = dict.fromkeys(asdict(SHAPE), 10**400) | {"sliding_window": None, "n_window_layers": None}
    huge["n_parameters"] = 10**900
    told = model(0, Role.TARGET, "mine", json.dumps(huge))
    assert loaded_models(snapshot_of([told])) == {}


def test_a_context_beyond_the_field_is_its_largest() -> None:
    told = replace(model(0, Role.TARGET, "mine", KNOWN), context_length=2**31 - 1)
    found = session_memory(snapshot_of([told]))
    assert found is not None
    assert found.context == MOST_TOKENS
