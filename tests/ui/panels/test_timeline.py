"""The timeline on the screen: ranges, clicks, following."""

from itertools import product

import pytest
from PySide6.QtCore import QPointF, Qt
from pytestqt.qtbot import QtBot

from engine.wire.events import DraftProposed, EngineState, StepCommitted
from sessions.playhead import step_ends
from tests.sessions.played import drafted, snapshot_of
from tests.support.event_script import EventScript
from tests.support.long_session import long_snapshot
from tests.ui.panels.moments import in_both_themes, moment_of, plain, shown, stepped_by_hand
from ui.look import Look
from ui.moment import Moment, TokenRef
from ui.panels.timeline import TimelinePanel
from ui.panels.timeline_digest import TimelineDigest
from ui.view_state import ViewState


@pytest.fixture
def panel(qtbot: QtBot, state: ViewState, look: Look) -> TimelinePanel:
    panel = TimelinePanel(state, look)
    qtbot.addWidget(panel)
    panel.resize(900, 320)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


def show(panel: TimelinePanel, moment: Moment) -> TimelineDigest:
    digest = panel.order(moment, panel.state.now)()
    panel.show_digest(digest)
    assert isinstance(digest, TimelineDigest)
    return digest


def steps(n: int) -> Moment:
    return moment_of(drafted([2, 0] * (n // 2), 2, with_spans=True))


def test_it_says_what_it_will_show(panel: TimelinePanel) -> None:
    panel.show_digest(panel.order(moment_of([]), panel.state.now)())
    assert panel.is_empty


def test_both_plots_show_the_newest_steps(panel: TimelinePanel) -> None:
    notes = shown(panel, steps(40))
    assert notes[-1] == "steps 23\u201339 (40 steps) \u00b7 drag to pan, wheel to zoom"
    digest = panel.digested
    assert panel.lanes.range_ns == panel.raster.range_ns == digest.window_ns
    assert panel.lanes.names == ("draft", "verify", "sample", "commit", "prefill")
    assert (panel.raster.n_bands, panel.raster.n_positions) == (1, 2)
    cells = panel.raster.cells
    assert cells is not None
    assert cells.fate.tolist() == digest.tokens.fate.tolist()
    assert panel.lanes.getPlotItem().getAxis("left").width() == pytest.approx(
        panel.raster.getPlotItem().getAxis("left").width()
    )


def test_a_small_panel_has_a_short_note(panel: TimelinePanel) -> None:
    panel.resize(260, 180)
    assert shown(panel, steps(40))[-1] == "steps 23\u201339 (40 steps)"


def test_new_steps_slide_in_and_the_width_stays(panel: TimelinePanel) -> None:
    show(panel, steps(40))
    low, high = panel.lanes.range_ns
    show(panel, steps(44))
    later_low, later_high = panel.lanes.range_ns
    assert later_high > high
    assert later_high - later_low == pytest.approx(high - low)


def test_dragging_stops_following_and_follow_returns(panel: TimelinePanel) -> None:
    moment = steps(40)
    show(panel, moment)
    low, high = panel.lanes.range_ns
    panel.lanes.show_range(low - 1e7, high - 1e7)
    panel.lanes.moved.emit()
    assert panel.state.now.window_ns == (round(low - 1e7), round(high - 1e7))
    show(panel, moment)
    assert panel.lanes.range_ns == panel.raster.range_ns == (low - 1e7, high - 1e7)
    assert panel.follow.isVisible()
    panel.follow.click()
    assert panel.state.now.window_ns is None
    show(panel, moment)
    assert panel.lanes.range_ns == pytest.approx((low, high))
    assert not panel.follow.isVisible()


def test_others_are_told_once_the_user_rests(panel: TimelinePanel) -> None:
    moment = steps(40)
    show(panel, moment)
    panel.lanes.moved.emit()
    show(panel, moment)
    first = panel.state.now.window_ns
    low, high = panel.lanes.range_ns
    panel.raster.show_range(low + 1e6, high + 1e6)
    panel.raster.moved.emit()
    assert panel.state.now.window_ns == first
    answers = [panel.has_moved() for _ in range(8)]
    assert answers.count(True) == 1
    assert panel.state.now.window_ns == (round(low + 1e6), round(high + 1e6))


def test_leaving_what_is_drawn_asks_for_more_at_once(panel: TimelinePanel) -> None:
    moment = steps(200)
    show(panel, moment)
    panel.lanes.moved.emit()
    show(panel, moment)
    assert not panel.has_moved()
    low, high = panel.lanes.range_ns
    panel.lanes.show_range(low - 3 * (high - low), high)
    panel.lanes.moved.emit()
    assert panel.has_moved()
    assert panel.state.now.window_ns == (round(low - 3 * (high - low)), round(high))


def test_somebody_else_may_set_the_window(panel: TimelinePanel) -> None:
    moment = steps(40)
    show(panel, moment)
    panel.state.look_at((1_000_000, 90_000_000))
    show(panel, moment)
    assert panel.lanes.range_ns == panel.raster.range_ns == (1_000_000, 90_000_000)


def test_home_shows_all(panel: TimelinePanel, qtbot: QtBot) -> None:
    moment = steps(400)
    show(panel, moment)
    qtbot.keyClick(panel.raster, Qt.Key.Key_Home)
    show(panel, moment)
    low, high = panel.lanes.range_ns
    assert low <= moment.snapshot.prefills["start_ns"][0]
    assert high >= moment.snapshot.spans["t_ns"][-1]
    assert panel.raster.shares is not None
    assert panel.raster.shares.counts.sum() == 800


def test_a_click_selects_the_step_in_both(panel: TimelinePanel) -> None:
    moment = steps(40)
    digest = show(panel, moment)
    start, end = int(digest.steps.start_ns[-3]), int(digest.steps.end_ns[-3])
    panel.raster.clicked.emit((start + end) / 2, 0.5)
    assert panel.state.now.step == int(digest.steps.step[-3])
    show(panel, moment)
    assert panel.lanes.selected_ns == panel.raster.selected_ns == (start, end)
    panel.lanes.clicked.emit(float(digest.extent_ns[1] + 10**9), 0.5)
    assert panel.state.now.step == int(digest.steps.step[-3])


def test_the_cross_hair_reads_lanes_and_tokens(panel: TimelinePanel) -> None:
    digest = show(panel, steps(40))
    x = float(digest.steps.start_ns[-2]) + 1
    assert panel._read_lane(x, 4.5).startswith("draft forward \u00b7 step 38")
    assert panel._read_fate(x, 0.5).startswith("\u201ca\u201d accepted")
    assert panel._read_fate(x, -3.0) == panel._read_lane(x, 99.0) == ""
    view = panel.raster.getPlotItem().getViewBox()
    panel.raster._point(view.mapViewToScene(QPointF(x, 0.5)))
    assert panel.raster._words.isVisible()


def test_pauses_and_the_playhead_are_marked(panel: TimelinePanel) -> None:
    script = EventScript()
    script.sequence()
    for _ in range(4):
        script.step()
    script.state(EngineState.PAUSED)
    script.state(EngineState.RUNNING)
    script.step()
    half = snapshot_of(script.events[:-5])
    show(panel, Moment(snapshot=half, newest=snapshot_of(script.events)))
    assert panel.lanes.playhead_ns == panel.raster.playhead_ns == half.t_ns
    assert len(panel.lanes.pauses[0]) == 1
    panel.grab()


def test_following_shows_what_was_done_since_the_engine_rested(panel: TimelinePanel) -> None:
    events = stepped_by_hand().events
    kinds = (DraftProposed, StepCommitted)
    told = [i for i, event in enumerate(events) if isinstance(event, kinds)]
    for newest in told[-6:]:  # three steps, stopped after the draft and after the commit
        digest = show(panel, moment_of(events[: newest + 1]))
        low, high = panel.lanes.range_ns
        cells = panel.raster.cells
        assert cells is not None
        own = digest.tokens.step == digest.tokens.step[-1]
        width = cells.end_ns[own] - cells.start_ns[own]
        assert (width > 0.4 * (high - low)).all()
        assert (cells.start_ns[own] >= low).all()
        assert (cells.end_ns[own] <= high).all()


def test_plain_decoding_has_no_raster(panel: TimelinePanel) -> None:
    show(panel, moment_of(plain()))
    assert panel.raster.isHidden()
    assert panel.lanes.getPlotItem().getAxis("bottom").isVisible()
    show(panel, steps(4))
    assert not panel.raster.isHidden()
    assert not panel.lanes.getPlotItem().getAxis("bottom").isVisible()


def test_it_is_painted_in_both_themes(panel: TimelinePanel, look: Look) -> None:
    show(panel, steps(40))
    pictures = []
    for _ in in_both_themes(panel, look):
        theme = look.theme
        image = panel.grab().toImage()
        colours = {
            image.pixelColor(x, y).name().upper()
            for x in range(0, image.width(), 3)
            for y in range(0, image.height(), 2)
        }
        assert {theme.accepted, theme.rejected, theme.verify, theme.draft} <= colours
        pictures.append(colours)
    assert pictures[0] != pictures[1]


def test_a_long_session_is_painted_as_columns(panel: TimelinePanel, look: Look) -> None:
    snapshot = long_snapshot(20_000)
    moment = Moment(snapshot=snapshot, newest=snapshot)
    panel.state.look_at((0, snapshot.t_ns))
    digest = show(panel, moment)
    assert digest.counts is not None
    image = panel.grab().toImage()
    column = {image.pixelColor(image.width() // 2, y).name().upper() for y in range(image.height())}
    assert {look.theme.accepted, look.theme.rejected, look.theme.verify} <= column


def test_another_size_asks_for_another_digest(panel: TimelinePanel, qtbot: QtBot) -> None:
    for _ in range(2):  # the first drawing gives the axes their places
        show(panel, steps(40))
        panel.grab()
    assert not panel.has_moved()
    panel.resize(1800, 320)
    qtbot.waitUntil(lambda: panel.lanes.width_px > 1000)
    assert panel.has_moved()


def test_values_can_be_copied(panel: TimelinePanel) -> None:
    assert panel.lanes.csv() == "\n"
    show(panel, steps(4))
    assert panel.raster.csv().splitlines()[0].startswith("step,sequence_id,start_ns")
    assert len(panel.raster.csv().splitlines()) == 1 + 8
    assert panel.lanes.csv().count("verify") == 4


def gammas_apart() -> EventScript:
    """Two sequences one after the other, the first at gamma 4, the second at 7 after a pause."""
    script = EventScript(n_blocks=256)
    for gamma in (4, 7):
        sequence_id = script.sequence()
        for _ in range(20):
            script.step(sequence_id, drafted=gamma, accepted=2)
        script.finish_sequence(sequence_id)
        script.state(EngineState.PAUSED)
        script.state(EngineState.RUNNING)
    return script


def test_a_token_of_the_last_prompt_leaves_the_fates_of_the_first(panel: TimelinePanel) -> None:
    script = gammas_apart()
    half = len(script.events) // 2
    show(panel, moment_of(script.events[:half], is_live=True))
    panel.hide()
    script.finish()
    moment = moment_of(script.events)
    panel.state.select_token(TokenRef(sequence_id=1, step=39, draft_index=3))
    panel.resize(700, 240)
    panel.show()
    ends = step_ends(moment.snapshot)
    for window in ((ends[0], ends[9]), (0, ends[19]), (ends[15], ends[25])):
        panel.state.look_at((int(window[0]), int(window[1])))
        show(panel, moment)
        assert panel.raster.n_positions == 7
        cells = panel.raster.cells
        assert cells is not None
        is_seen = (cells.end_ns > window[0]) & (cells.start_ns < window[1])
        assert is_seen.any()
        picture = panel.raster.grab().toImage()
        places = product(range(60, picture.width(), 2), range(picture.height()))
        inks = {picture.pixelColor(*place).name().upper() for place in places}
        assert panel.theme.accepted in inks
