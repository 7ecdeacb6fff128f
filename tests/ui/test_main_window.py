"""The window, driven offscreen: sessions opened, runs begun, cards seen, everything ended."""

import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from engine.wire.commands import Pause
from engine.wire.config import RunConfig
from engine.wire.events import EndReason, FinishReason, SessionEnded
from tests.support.event_script import EventScript
from tests.support.scripted_sessions import ScriptedEngine, ScriptedWorkshop, script_of
from tests.ui.library.test_library_form import row
from ui.dialogs.export_dialog import ExportDialog
from ui.dialogs.shortcut_sheet import ShortcutSheet
from ui.layouts import PRESETS, Preset
from ui.look import Look
from ui.main_window import MainWindow
from ui.panels.library import LibraryPanel
from ui.preferences import Preferences
from ui.run_order import OrderedPrompt, RunOrder

ORDER = RunOrder(configs=(RunConfig(),), prompts=(OrderedPrompt("a"),), is_recorded=False)


class Driven:
    """A window whose clock is ticked by hand."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.folder = folder
        self.workshop = ScriptedWorkshop()
        self.preferences = Preferences(folder / "window.json")
        self.look = Look("dark")
        self.look.apply()
        self.window = MainWindow(self.workshop, self.preferences, self.look)
        self.window.clock.raises = True
        qtbot.addWidget(self.window)
        self.window.resize(1500, 950)
        self.window.show_start()
        self.window.show()
        qtbot.waitExposed(self.window)
        self._qtbot = qtbot

    def tick(self, n: int = 4) -> None:
        """Frames, until the digests at hand are drawn."""
        for _ in range(n):
            self.window.clock.tick()
        deadline = time.monotonic() + 30.0
        while self._is_busy and time.monotonic() < deadline:
            self.window.clock.tick()
            time.sleep(0.002)

    @property
    def _is_busy(self) -> bool:
        analyst = self.window.clock.analyst
        return any(analyst.is_busy(panel.key) for panel in self.window.visible_panels())

    def engine(self) -> ScriptedEngine:
        engine = ScriptedEngine([script_of()])
        self.workshop.engines.append(engine)
        return engine


@pytest.fixture
def driven(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Driven]:
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(tmp_path))
    driven = Driven(qtbot, tmp_path)
    yield driven
    driven.window.close()


def test_it_opens_on_the_start_page(driven: Driven) -> None:
    driven.tick()
    window = driven.window
    assert window.pages.currentWidget() is window.start


def test_the_start_page_fills_itself_beside_the_picture(driven: Driven) -> None:
    deadline = time.monotonic() + 10.0
    while "none" not in driven.window.start._machine.text() and time.monotonic() < deadline:
        driven.tick(1)
        time.sleep(0.01)
    assert "none" in driven.window.start._machine.text()


@pytest.mark.parametrize("key", ["watch", "memory", "why", "compare", "sessions"])
@pytest.mark.parametrize("theme", ["dark", "light"])
def test_every_layout_draws_the_example_in_both_themes(
    driven: Driven, key: str, theme: str
) -> None:
    driven.look.choose("light" if theme == "dark" else "dark")
    driven.window.open_example()
    driven.window.lay_out(key)
    driven.tick(8)
    driven.look.choose(theme)  # type: ignore[arg-type]
    driven.tick(3)
    image = driven.window.grab().toImage()
    assert image.pixelColor(2, image.height() // 2).name() == driven.look.theme.window.lower()
    assert driven.window.banner.isHidden()


def test_a_kind_of_prompts_runs_the_bundled_pair(driven: Driven) -> None:
    engine = driven.engine()
    driven.window.start.kind_buttons["code"].click()
    order = driven.workshop.orders[0]
    assert [prompt.text for prompt in order.prompts] == ["def a", "def b"]
    assert order.configs[0].target == "bundled-target"
    driven.tick(1)
    engine.say()
    driven.tick(8)
    window = driven.window
    assert window.pages.currentWidget() is window.stage
    assert window.stage.tiles.tiles[3].figure.text() == "2.67"


def test_while_an_engine_starts_every_card_says_what_will_come(driven: Driven) -> None:
    driven.workshop.engines.append(ScriptedEngine([script_of()], is_up=False))
    driven.window.run(ORDER)
    driven.tick(40)
    assert driven.window.controller.is_starting
    panels = [panel for panel in driven.window.visible_panels() if panel.key != "tiles"]
    assert len(panels) >= 6
    for panel in panels:
        assert panel.is_empty, panel.key
        words = panel._placeholder.text()
        assert words.startswith("The engine starts and loads its models."), panel.key
        assert "Start a run" not in words


def test_cards_of_several_sessions_await_no_engine_that_decodes(driven: Driven) -> None:
    engine = driven.engine()
    driven.window.run(ORDER)
    driven.window.lay_out("compare", is_fresh=True)
    driven.tick(1)
    engine.say(30)
    driven.tick(20)
    panels = [p for p in driven.window.visible_panels() if p.key.startswith("comparison")]
    assert panels
    for panel in panels:
        assert "The engine starts" not in panel._placeholder.text(), panel.key


def cut_short_script() -> EventScript:
    script = EventScript()
    script.sequence("ab")
    for _ in range(3):
        script.step(drafted=2, accepted=1)
    script.finish_sequence(reason=FinishReason.CONTEXT)
    return script


def test_a_run_whose_context_was_full_says_so_when_it_ends(driven: Driven) -> None:
    script = cut_short_script()
    script.finish()
    engine = ScriptedEngine([script])
    driven.workshop.engines.append(engine)
    driven.window.run(ORDER)
    driven.tick(1)
    engine.say()
    driven.tick()
    assert "the target's context is full" in driven.window.banner.text
    assert driven.window.banner.property("kind") == "note"


def test_settings_that_the_engine_refuses_leave_its_sentence_alone(driven: Driven) -> None:
    script = EventScript()
    script.say(SessionEnded(reason=EndReason.FAILED, detail="There is no such model."))
    engine = ScriptedEngine([script])
    driven.workshop.engines.append(engine)
    driven.window.run(ORDER)
    driven.tick(1)
    engine.say()
    driven.tick()
    assert driven.window.banner.text == "There is no such model."
    assert driven.window.controller.sessions == ()


def test_a_crash_is_told_and_no_notice_takes_its_place(driven: Driven) -> None:
    engine = ScriptedEngine([cut_short_script()])
    driven.workshop.engines.append(engine)
    driven.window.run(ORDER)
    driven.tick(1)
    engine.say()
    engine.die("last words")
    driven.tick()
    assert "last words" in driven.window.banner.text


def test_a_session_that_is_not_there_is_told_in_the_banner(driven: Driven) -> None:
    driven.window.open_sessions([Path("missing.specscope")])
    assert "missing" in driven.window.banner.text
    assert driven.window.pages.currentWidget() is driven.window.start


def test_a_killed_engine_is_told_and_another_run_can_begin(driven: Driven) -> None:
    engine = driven.engine()
    driven.window.run(ORDER)
    driven.tick(1)
    engine.say(30)
    driven.tick()
    engine.die("The engine was ended by SIGKILL.\nlast words")
    driven.tick()
    assert "last words" in driven.window.banner.text
    second = driven.engine()
    driven.window.run_again()
    driven.tick(1)
    second.say()
    driven.tick()
    assert driven.window.banner.isHidden()
    assert driven.window.controller.shown is not None


def test_pausing_the_picture_does_not_pause_the_engine(driven: Driven) -> None:
    engine = driven.engine()
    driven.window.run(ORDER)
    driven.tick(1)
    engine.say(30)
    driven.tick()
    shown = driven.window.controller.shown
    assert shown is not None
    shown.playhead.pause()
    at = shown.playhead.t_ns
    engine.say()
    driven.tick()
    assert shown.playhead.t_ns == at < shown.end_ns
    assert Pause() not in engine.sent


def test_closing_in_the_middle_of_a_run_ends_everything_at_once(driven: Driven) -> None:
    engine = driven.engine()
    driven.window.run(ORDER)
    driven.tick(1)
    engine.say(30)
    driven.tick()
    begun = time.monotonic()
    driven.window.close()
    assert time.monotonic() - begun < 2.0
    assert engine.is_closed
    assert driven.window.controller.sessions == ()


def test_what_is_remembered_comes_back(driven: Driven, qtbot: QtBot, tmp_path: Path) -> None:
    driven.window.open_example()
    driven.window.lay_out("why")
    driven.tick()
    driven.window.stage.docks["waterfall"].hide()
    driven.window.toggle_refused()
    driven.window.transport.go_first()
    driven.window.transport.bookmark()
    driven.window.choose_theme()
    driven.window.close()
    again = Driven(qtbot, tmp_path)
    again.window.open_example()
    again.tick()
    shown = again.window.controller.shown
    assert shown is not None
    assert again.window.stage.layout_key == "why"
    assert again.window.stage.docks["waterfall"].isHidden()
    assert not again.window.state.now.shows_refused
    assert shown.bookmarks == [shown.begin_ns]
    assert again.preferences.values.theme == driven.look.choice
    again.window.close()


def test_two_sessions_are_compared_and_one_is_closed(driven: Driven) -> None:
    driven.workshop.scripts["other"] = script_of(3)
    driven.window.open_sessions([Path("example.specscope"), Path("other.specscope")])
    driven.tick()
    stage = driven.window.stage
    assert stage.layout_key == "compare"
    assert stage.tabs.count() == 2
    assert stage.tabs.isVisible()
    stage.tab_closed.emit(1)
    driven.tick()
    assert not stage.tabs.isVisible()
    driven.window.close_session()
    assert driven.window.pages.currentWidget() is driven.window.start


def test_escape_closes_the_banner_then_lets_go_of_the_step(driven: Driven) -> None:
    driven.window.banner.say("A problem.")
    driven.window.state.select_step(3)
    driven.window.escape()
    assert driven.window.state.now.step == 3
    driven.window.escape()
    assert driven.window.state.now.step is None


def test_what_is_selected_in_the_library_is_exported(driven: Driven) -> None:
    window = driven.window
    window.open_example()

    def exported() -> str:
        window.export()
        (dialog,) = window.findChildren(ExportDialog)
        told = dialog.windowTitle()
        dialog.done(0)
        QApplication.sendPostedEvents(dialog, QEvent.Type.DeferredDelete)
        return told

    window.lay_out("sessions")
    driven.tick(20)
    library = window.stage.docks["sessions"].panel
    assert isinstance(library, LibraryPanel)
    library.table.show()
    library.table.show_rows([row("anna"), row("berta")])
    assert exported() == "Export example"
    library.table.select([Path("berta.specscope")])
    assert exported() == "Export berta"
    window.lay_out("watch")
    driven.tick()
    assert exported() == "Export example"  # what is out of sight is not meant


def test_an_unrecorded_session_cannot_be_exported_and_says_so(driven: Driven) -> None:
    driven.window.export()
    assert "recorded" in driven.window.toast.text()


def test_the_shortcut_sheet_opens(driven: Driven) -> None:
    driven.window.shortcut_sheet()
    assert len(driven.window.findChildren(ShortcutSheet)) == 1


@pytest.mark.parametrize("geometry", ["abc", "é", "AAAA", "=="])
def test_a_geometry_that_is_none_does_no_harm(
    driven: Driven, qtbot: QtBot, tmp_path: Path, geometry: str
) -> None:
    driven.window.close()
    driven.preferences.values.geometry = geometry
    driven.preferences.save()
    assert Driven(qtbot, tmp_path).window.width() > 400


def test_bookmarks_are_kept_when_another_session_is_opened(driven: Driven) -> None:
    driven.workshop.scripts["other"] = script_of(3)
    driven.window.open_example()
    driven.tick()
    driven.window.transport.go_first()
    driven.window.transport.bookmark()
    driven.window.open_sessions([Path("other.specscope")])
    driven.window.open_sessions([Path("elsewhere/example.specscope")])
    assert driven.window.controller.sessions[0].bookmarks == []
    driven.window.open_example()
    assert len(driven.window.controller.sessions[0].bookmarks) == 1


def test_nothing_of_the_session_before_stays_when_all_is_closed(driven: Driven) -> None:
    driven.window.open_example()
    driven.tick(6)
    driven.window.close_session()
    driven.window.lay_out("watch")
    driven.tick(3)
    assert driven.window.stage.tiles.tiles[3].figure.text() == "n/a"
    assert driven.window.transport.step_chip.text() == "no steps"


def test_no_notice_and_no_layout_changes_the_windows_size(driven: Driven) -> None:
    window = driven.window
    window.resize(1280, 720)
    window.open_example()
    for preset in PRESETS:
        window.lay_out(preset.key)
        window.say("A word.")
        window.banner.say("One line.\nAnother.\nA third.")
        window.state.narrow(0)
        driven.tick()
        assert (window.width(), window.height()) == (1280, 720)
        assert window.stage.transport.geometry().bottom() < window.stage.height()
        window.banner.hide()
        window.state.narrow(None)


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
def test_a_small_window_squeezes_no_card_and_keeps_its_bars(driven: Driven, preset: Preset) -> None:
    window = driven.window
    window.open_example()
    window.resize(900, 500)
    window.lay_out(preset.key)
    for _ in range(10):  # cards are made one a frame, and each may want more room
        driven.tick(2)
        QApplication.processEvents()
    assert window.size().toTuple() == (900, 500)
    transport = window.transport
    bottom = transport.mapTo(window, transport.rect().bottomLeft()).y()
    assert bottom < window.height()
    assert window.run_bar.height() >= window.run_bar.minimumSizeHint().height()
    docks = [dock for dock in window.stage.docks.values() if not dock.isHidden()]
    fronts = [dock for dock in docks if dock.x() >= 0]  # one behind a tab lies out of sight
    assert fronts
    for dock in fronts:
        least = dock.minimumSizeHint()
        assert least == least.boundedTo(dock.size()), dock.title
    for one, other in combinations(fronts, 2):
        assert not one.geometry().intersects(other.geometry()), (one.title, other.title)
