"""Cache memory over time: the digest on a scripted cache, what the charts hold, small sizes."""

import numpy as np
import pytest

from engine.wire.events import Event
from sessions.tables import DRAFT, TARGET
from tests.sessions.played import model_of, snapshot_of
from tests.support.event_script import EventScript
from ui.look import Look
from ui.moment import Moment, View
from ui.panels.base import Empty
from ui.panels.kv_memory import KvMemory, KvMemoryPanel, note
from ui.theme import DARK
from ui.view_state import ViewState


def events(*, is_over: bool = False) -> list[Event]:
    script = EventScript(n_blocks=8, block_size=4)
    script.sequence("abcd", max_new_tokens=20)
    script.step(drafted=4, accepted=0)
    if is_over:
        script.finish()
    return script.events


def digested(told: list[Event]) -> KvMemory:
    snapshot = snapshot_of(told)
    found = KvMemoryPanel.digest(Moment(snapshot=snapshot, newest=snapshot), View())
    assert isinstance(found, KvMemory)
    return found


def test_the_digest_of_a_scripted_cache() -> None:
    found = digested(events())
    assert [cache.role for cache in found.caches] == [TARGET, DRAFT]
    target = found.caches[0]
    assert target.series.n_owned.tolist() == [1, 1, 2, 2]
    assert target.unfilled.tolist() == [1.0, 0.25, 0.625, 0.5]
    assert target.series.n_reserved.tolist() == [6, 6, 6, 6]
    assert found.top_blocks >= 6
    assert found.first_s == pytest.approx(min(cache.t_s[0] for cache in found.caches))


def test_the_axis_reaches_to_the_newest_event_not_to_the_playhead() -> None:
    model = model_of(events(is_over=True))
    newest = model.snapshot()
    early = model.snapshot(int(newest.kv_changes["t_ns"][2]))
    found = KvMemoryPanel.digest(Moment(snapshot=early, newest=newest), View())
    assert isinstance(found, KvMemory)
    assert found.last_s == pytest.approx(float(newest.kv_changes["t_ns"][-1]) / 1e9)


def test_the_note_gives_what_is_held_now_or_at_most() -> None:
    now = note(digested(events()), DARK)
    assert "50 % unfilled" in now
    assert not now.startswith("at most")
    over = note(digested(events(is_over=True)), DARK)
    assert over.startswith("at most")
    assert "unfilled" not in over


def test_nothing_to_show_is_said() -> None:
    nothing, empty = snapshot_of([]), snapshot_of(EventScript().events)
    assert KvMemoryPanel.digest(Moment(snapshot=nothing, newest=nothing), View()) is None
    found = KvMemoryPanel.digest(Moment(snapshot=empty, newest=empty), View())
    assert isinstance(found, Empty)


def test_lines_are_steps_and_small_panels_show_one_chart(qtbot) -> None:
    panel = KvMemoryPanel(ViewState(), Look("dark"))
    qtbot.addWidget(panel)
    panel.resize(600, 360)
    panel.show()
    panel.show_digest(digested(events()))
    x, y = panel.blocks.curves[0].getData()
    assert y.tolist() == [1, 1, 1, 1, 2, 2, 2]
    assert np.all(np.diff(x) >= 0)
    assert panel.unfilled.isVisible()
    header, first = panel.blocks.csv().splitlines()[:2]
    assert header.startswith("cache,t_s,owned_blocks,owned_bytes")
    assert first.startswith("target,")
    assert "contiguous 6" in panel._read(float(x[0]), 1.0)
    panel.resize(260, 150)
    assert not panel.unfilled.isVisible()
    (low, high), _ = panel.blocks.getPlotItem().getViewBox().viewRange()
    assert low == pytest.approx(panel.digested.first_s)
    assert high == pytest.approx(panel.digested.last_s)
    panel.look.choose("light")
    assert panel.blocks.curves[0].opts["pen"].color().name() == panel.theme.verify.lower()
