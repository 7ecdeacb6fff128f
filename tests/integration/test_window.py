"""The window with the real engine behind it: run, paused, stepped, killed, closed in the middle."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.wire.config import RunConfig
from engine.wire.events import EndReason, EngineState
from sessions.library import Library
from sessions.session_file import SessionFile
from sessions.tables import END_CODES
from specscope.app import make_window
from specscope.wiring import LocalWorkshop
from ui.main_window import MainWindow
from ui.preferences import Preferences
from ui.run_order import OrderedPrompt, RunOrder

PATIENCE_S = 120.0
PROMPTS = (
    OrderedPrompt("def quicksort(items):", label="code"),
    OrderedPrompt('[\n  {\n    "device": "sensor-25",', label="json"),
)

pytestmark = pytest.mark.slow


class Driven:
    def __init__(self, window: MainWindow) -> None:
        self.window = window

    def until(self, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not is_so():
            assert time.monotonic() < deadline, self.window.banner.text or "it took too long"
            self.window.clock.tick()
            time.sleep(0.005)

    @property
    def n_steps(self) -> int:
        moment = self.window.controller.moment()
        return 0 if moment is None else len(moment.newest.steps)

    def run(self, *drafts: str, max_new_tokens: int = 24, text: str = "") -> None:
        prompts = (OrderedPrompt(text),) if text else PROMPTS
        configs = tuple(
            RunConfig(draft=draft, max_new_tokens=max_new_tokens, n_threads=1, ignore_eos=True)
            for draft in drafts
        )
        self.window.run(RunOrder(configs=configs, prompts=prompts))


@pytest.fixture
def driven(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Driven]:
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(tmp_path))
    workshop = LocalWorkshop(Library(tmp_path / "sessions"))
    window = make_window(workshop, Preferences(tmp_path / "window.json"))
    window.clock.raises = True
    qtbot.addWidget(window)
    window.resize(1500, 950)
    window.show()
    yield Driven(window)
    window.close()


def test_the_bundled_pair_runs_to_its_end_and_is_kept(driven: Driven) -> None:
    driven.run("bundled-draft")
    driven.until(lambda: driven.n_steps > 0 and not driven.window.controller.is_running)
    shown = driven.window.controller.shown
    assert shown is not None
    newest = shown.newest()
    assert len(newest.output_tokens) == 48
    assert newest.ends["reason"].tolist() == [END_CODES[EndReason.FINISHED]]
    assert newest.sequences.texts("label")[:1] == ["code"]
    path = shown.path
    assert path is not None
    driven.window.close()
    with SessionFile.open(path) as file:
        assert file.summary().end_reason is EndReason.FINISHED
        assert file.summary().figures is not None


def test_the_engine_is_paused_and_stepped_by_halves(driven: Driven) -> None:
    driven.run("bundled-draft", max_new_tokens=600)
    driven.until(lambda: driven.n_steps > 2)
    bar, controller = driven.window.run_bar, driven.window.controller
    bar.toggle_engine()
    driven.until(lambda: controller.engine_state()[0] is EngineState.PAUSED)
    moment = controller.moment()
    assert moment is not None
    before = (len(moment.newest.drafts), len(moment.newest.steps))
    bar.step_engine()
    bar.step_engine()
    driven.until(lambda: driven.n_steps > before[1])
    after = controller.moment()
    assert after is not None
    assert len(after.newest.steps) == before[1] + 1
    bar.toggle_engine()
    driven.until(lambda: driven.n_steps > before[1] + 3)


def test_gamma_and_sampling_change_while_it_runs(driven: Driven) -> None:
    driven.run("bundled-draft", max_new_tokens=600)
    driven.until(lambda: driven.n_steps > 2)
    bar = driven.window.run_bar
    bar.gamma_box.setValue(2)
    bar._send_gamma()

    def is_in_force() -> bool:
        moment = driven.window.controller.moment()
        return moment is not None and int(moment.newest.steps["gamma"][-1]) == 2

    driven.until(is_in_force)
    driven.until(lambda: bar.gamma.text().endswith(" 2"))


def test_a_killed_engine_leaves_the_session_and_a_new_run_begins(driven: Driven) -> None:
    driven.run("bundled-draft", max_new_tokens=600)
    driven.until(lambda: driven.n_steps > 2)
    pid = driven.window.controller.engine_process_id
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    driven.until(lambda: not driven.window.controller.is_running)
    assert "SIGKILL" in driven.window.banner.text
    shown = driven.window.controller.shown
    assert shown is not None
    assert len(shown.newest().steps) > 2
    driven.run("ngram")
    driven.until(lambda: driven.n_steps > 0 and not driven.window.controller.is_running)
    assert driven.window.banner.isHidden()


def test_drafts_are_compared_with_the_baseline_first(driven: Driven) -> None:
    driven.run("bundled-draft", "none")
    driven.until(
        lambda: (
            len(driven.window.controller.sessions) == 2 and not driven.window.controller.is_running
        )
    )
    moment = driven.window.controller.moment()
    assert moment is not None
    assert [each.name for each in moment.others] == ["none", "bundled-draft"]
    texts = ["".join(e.snapshot.output_tokens.texts("text")) for e in moment.others]
    assert texts[0] == texts[1]
    assert driven.window.stage.layout_key == "compare"


def test_closing_in_the_middle_saves_and_leaves_no_process(driven: Driven) -> None:
    driven.run("bundled-draft", max_new_tokens=900, text="def f(x):")
    driven.until(lambda: driven.n_steps > 2)
    shown = driven.window.controller.shown
    pid = driven.window.controller.engine_process_id
    assert shown is not None
    assert shown.path is not None
    assert pid is not None
    begun = time.monotonic()
    driven.window.close()
    assert time.monotonic() - begun < 4.0  # two on a quiet machine
    assert not Path(f"/proc/{pid}").exists()
    with SessionFile.open(shown.path) as file:
        assert file.summary().end_reason is EndReason.STOPPED


def test_closing_while_models_load_leaves_no_process(driven: Driven) -> None:
    driven.run("bundled-draft")
    driven.until(lambda: driven.window.controller.live is not None)
    pid = driven.window.controller.engine_process_id
    driven.window.close()
    assert not Path(f"/proc/{pid}").exists()
