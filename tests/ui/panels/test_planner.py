"""The planner: useful without a session, and what it takes from one."""

import json
from dataclasses import asdict

import pytest

from engine.theory.presets import PRESETS
from engine.wire.events import ModelLoaded, Role
from sessions.metrics.selection import EVERYTHING
from tests.sessions.played import drafted, snapshot_of
from ui.look import Look
from ui.moment import Moment, View
from ui.panels.planner import PlannerPanel, SessionFigures, loaded_models, session_preset
from ui.view_state import ViewState


def test_figures_of_a_session() -> None:
    events = drafted([2, 4, 0, 3], 4, draft_ns=10, target_ns=(100, 101, 102, 103, 104))
    preset, reason = session_preset(snapshot_of(events), EVERYTHING)
    assert preset is not None
    assert reason == ""
    assert preset.alpha == pytest.approx(9 / 12)
    assert (preset.gamma, preset.c) == (4, 0.1)
    assert preset.v.startswith("1,1.01,1.02,1.03,1.04,1.05")
    assert preset.overhead == 0.0  # no spans


def test_overhead_is_what_the_steps_spend_beside_the_forwards() -> None:
    events = drafted([2, 2], 4, draft_ns=10, target_ns=(1_000_000, 1_000_000), with_spans=True)
    preset, _ = session_preset(snapshot_of(events), EVERYTHING)
    assert preset is not None
    spans = snapshot_of(events).spans
    step_ns = spans["host_ns"][spans["name"] == spans.code("step")]
    quarters = step_ns // 4  # each step's verification; its one draft forward is half of that
    rest_ns = (step_ns - quarters - quarters // 2).mean()
    assert preset.overhead == pytest.approx(rest_ns / 1e6, abs=5e-4)


def test_why_there_is_no_preset() -> None:
    assert session_preset(snapshot_of([]), EVERYTHING)[1].startswith("No draft token")
    events = drafted([2, 4], 4)
    assert "costs was not measured" in session_preset(snapshot_of(events), EVERYTHING)[1]


def test_shapes_that_the_models_told() -> None:
    shape = PRESETS["smollm2-135m"].shape
    told = [
        ModelLoaded(
            ordinal=place, t_ns=place, role=role, name=name, n_parameters=1, vocab_size=1,
            context_length=1, dtype="float32", device="cpu", weight_bytes=1, load_ns=1,
            shape_json=text,
        )
        for place, (role, name, text) in enumerate(
            [(Role.TARGET, "known", json.dumps(asdict(shape))), (Role.DRAFT, "unknown", "{}")]
        )
    ]  # fmt: skip
    found = loaded_models(snapshot_of(told))
    assert list(found) == ["known"]
    assert found["known"].shape == shape


def test_it_is_of_use_while_nothing_is_open(qtbot) -> None:
    panel = PlannerPanel(ViewState(), Look("dark"))
    qtbot.addWidget(panel)
    panel.resize(700, 480)
    panel.show()
    assert not panel.is_empty
    assert panel.speedup.plan is not None
    nothing = snapshot_of([])
    digest = PlannerPanel.digest(Moment(snapshot=nothing, newest=nothing), View())
    assert isinstance(digest, SessionFigures)
    with qtbot.waitSignal(panel.noted) as noted:
        panel.show_digest(digest)
    assert noted.args[0].startswith("best")
    with qtbot.waitSignal(panel.noted) as noted:
        panel.tabs.setCurrentIndex(1)
    assert "GiB" in noted.args[0]
    panel.look.choose("light")
    assert panel.memory.plot.theme.name == "light"
