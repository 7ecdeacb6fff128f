"""Wiring: engines as processes, recordings and files, for the window."""

import dataclasses
import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from engine.wire.client import EngineClient
from engine.wire.config import RunConfig
from engine.wire.events import EndReason
from engine.wire.nsight import NsysProgram
from sessions.column_cache import ColumnCache
from sessions.library import Library
from sessions.opening import StoredSession
from sessions.session_errors import SessionFileError
from sessions.spill import Spill
from sessions.tables import END_CODES
from specscope import wiring
from specscope.wiring import EngineRun, LocalWorkshop
from ui.run_order import OrderedPrompt, RunOrder
from ui.workshop import Started

FAKE = "tests.support.fake_engine"
PATIENCE_S = 60.0


def order_of(*drafts: str, text: str = "steps 3", is_recorded: bool = True) -> RunOrder:
    configs = tuple(RunConfig(target="fake", draft=draft) for draft in drafts)
    prompts = (OrderedPrompt(text, label="code"),)
    return RunOrder(configs=configs, prompts=prompts, is_recorded=is_recorded, name="a run")


@pytest.fixture(autouse=True)
def _any_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fake engine's models are nowhere."""
    monkeypatch.setattr(wiring, "model_refusal", lambda name: "")


@pytest.fixture
def workshop(tmp_path: Path) -> LocalWorkshop:
    return LocalWorkshop(Library(tmp_path), program=FAKE)


@pytest.fixture
def start(workshop: LocalWorkshop) -> Iterator[Callable[[RunOrder], EngineRun]]:
    runs: list[EngineRun] = []

    def begin(order: RunOrder) -> EngineRun:
        runs.append(workshop.start(order))
        return runs[-1]

    yield begin
    for run in runs:
        run.close()


def next_of(run: EngineRun) -> Started:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if started := run.next_session():
            return started
        assert run.problem == ""
        time.sleep(0.01)
    pytest.fail("no session came")


def finish(started: Started) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not started.session.is_over and time.monotonic() < deadline:
        if not started.session.advance(10.0):
            time.sleep(0.01)
    assert started.session.is_over


def test_sessions_come_one_after_the_other_and_are_recorded(
    start: Callable[[RunOrder], EngineRun], workshop: LocalWorkshop
) -> None:
    run = start(order_of("a", "b", "none"))
    names = []
    for _ in range(3):
        started = next_of(run)
        names.append(started.name)
        assert run.next_session() is None
        finish(started)
        started.session.close()
        assert started.path is not None
        kept = workshop.open(started.path)
        while not kept.session.is_over:
            kept.session.advance(100.0)
        assert len(kept.session.snapshot().steps) == 3
        assert kept.session.snapshot().sequences.text("label", 0) == "code"
        kept.session.close()
    assert names == ["a run: a", "a run: b", "a run: none"]
    assert not run.has_next
    assert run.next_session() is None


def test_a_recording_keeps_its_columns(
    start: Callable[[RunOrder], EngineRun],
    workshop: LocalWorkshop,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        ColumnCache, "of_user", lambda: ColumnCache(tmp_path / "columns", min_events=1)
    )
    started = next_of(start(order_of("a")))
    finish(started)
    started.session.close()
    assert started.path is not None
    kept = workshop.open(started.path)
    while not kept.session.is_over:
        kept.session.advance(100.0)
    assert isinstance(kept.session, StoredSession)
    assert kept.session.is_from_cache
    assert len(kept.session.snapshot().steps) == len(started.session.snapshot().steps) == 3
    kept.session.close()


@pytest.mark.parametrize("is_recorded", [False, True])
def test_a_run_may_grow_for_hours(
    start: Callable[[RunOrder], EngineRun], monkeypatch: pytest.MonkeyPatch, is_recorded: bool
) -> None:
    """Its columns ask for room on disk, and not for memory alone."""
    asked: list[int] = []
    monkeypatch.setattr(Spill, "columns", lambda self, dtypes, n_rows: asked.append(n_rows))
    started = next_of(start(order_of("a", is_recorded=is_recorded)))
    finish(started)
    started.session.close()
    assert asked


def test_a_run_that_is_not_recorded_leaves_no_file(
    start: Callable[[RunOrder], EngineRun], tmp_path: Path
) -> None:
    started = next_of(start(order_of("a", is_recorded=False)))
    finish(started)
    started.session.close()
    assert started.path is None
    assert list(tmp_path.iterdir()) == []


def test_hanging_up_ends_the_session_as_stopped(
    start: Callable[[RunOrder], EngineRun],
) -> None:
    run = start(order_of("a", "b", text="forever"))
    started = next_of(run)
    while not len(started.session.snapshot().steps):
        started.session.advance(10.0)
    run.hang_up()
    finish(started)
    reasons = started.session.snapshot().ends["reason"]
    started.session.close()
    assert reasons.tolist() == [END_CODES[EndReason.STOPPED]]
    assert not run.has_next


def test_the_same_draft_twice_is_told_apart(start: Callable[[RunOrder], EngineRun]) -> None:
    run = start(order_of("a", "a"))
    names = []
    for _ in range(2):
        started = next_of(run)
        names.append(started.name)
        finish(started)
        started.session.close()
    assert names == ["a run: a", "a run: a #2"]


def test_closing_before_the_engine_is_up_leaves_nothing(
    start: Callable[[RunOrder], EngineRun],
) -> None:
    start(order_of("a")).close()


def test_a_program_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    run = LocalWorkshop(Library(tmp_path), program="engine.no_such_program").start(order_of("a"))
    deadline = time.monotonic() + PATIENCE_S
    while not run.problem and time.monotonic() < deadline:
        time.sleep(0.01)
    assert "no_such_program" in run.problem
    assert run.next_session() is None
    run.close()


def test_a_file_that_is_no_session_is_refused(workshop: LocalWorkshop, tmp_path: Path) -> None:
    path = tmp_path / "a.specscope"
    path.write_bytes(b"no session")
    with pytest.raises(SessionFileError):
        workshop.open(path)
    assert path.read_bytes() == b"no session"


def test_what_the_window_offers(workshop: LocalWorkshop) -> None:
    assert set(workshop.prompts()) == {"json", "code", "prose"}
    assert workshop.targets()[0].is_here
    assert workshop.look_around().recent == []
    assert {name for name, _ in workshop.look_around().machine} >= {"GPU", "Processor", "Memory"}


def test_the_same_draft_twice_is_kept_twice_under_the_names_of_the_run(
    start: Callable[[RunOrder], EngineRun], workshop: LocalWorkshop
) -> None:
    run = start(order_of("a", "a"))
    kept: dict[str, Path | None] = {}
    for _ in range(2):
        started = next_of(run)
        finish(started)
        started.session.close()
        status = run.recorder_status(started)
        assert status is not None
        assert status.error == ""
        assert started.session.errors == ()
        kept[started.name] = started.path
    found = {e.summary.name: e.path for e in workshop.library.entries() if e.summary is not None}
    assert found == kept
    assert set(found) == {"a run: a", "a run: a #2"}


def test_an_engine_that_does_not_connect_is_given_up_at_once(tmp_path: Path) -> None:
    workshop = LocalWorkshop(Library(tmp_path), program="tests.support.silent_program")
    run = workshop.start(order_of("a"))
    time.sleep(0.3)
    begun = time.monotonic()
    run.hang_up()
    assert not run.has_next
    run.close()
    assert time.monotonic() - begun < 5.0
    assert run.process_id is None
    assert run.problem == ""


def test_hanging_up_while_it_connects_is_not_lost(
    workshop: LocalWorkshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = threading.Event()
    may_go = threading.Event()
    closed: list[float | None] = []

    class Connected:
        exhausted = False
        process_id = 1

        def hang_up(self) -> None:
            told.set()

        def close(self, *, patience_s: float | None = None) -> None:
            closed.append(patience_s)

    def connect(*configs: object, **options: object) -> Connected:
        may_go.wait(PATIENCE_S)
        return Connected()

    monkeypatch.setattr(EngineClient, "start", connect)
    run = workshop.start(order_of("a"))
    run.hang_up()
    may_go.set()
    assert told.wait(PATIENCE_S)
    run.close()
    assert closed == [1.0]


def test_whatever_goes_wrong_at_the_start_is_a_problem(
    workshop: LocalWorkshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*configs: object, **options: object) -> None:
        raise ValueError("no socket")

    monkeypatch.setattr(EngineClient, "start", fail)
    run = workshop.start(order_of("a"))
    deadline = time.monotonic() + PATIENCE_S
    while not run.problem and time.monotonic() < deadline:
        time.sleep(0.01)
    run.close()
    assert run.problem == "The engine could not be started: ValueError: no socket."


def test_a_profiler_is_waited_for_as_long_as_its_report_takes(
    workshop: LocalWorkshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[float | None] = []

    class Connected:
        process_id = 1

        def close(self, *, patience_s: float | None = None) -> None:
            closed.append(patience_s)

    monkeypatch.setattr(wiring, "find_nsys", lambda: NsysProgram("nsys"))
    monkeypatch.setattr(EngineClient, "start", lambda *configs, **options: Connected())
    order = dataclasses.replace(order_of("a"), nsys_report=tmp_path / "a.nsys-rep")
    run = workshop.start(order)
    while run.process_id is None:
        time.sleep(0.01)
    run.close(patience_s=0.4)
    assert closed == [None]


def test_no_engine_is_started_on_a_model_that_cannot_be(
    workshop: LocalWorkshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "model_refusal", lambda name: "No such draft." * (name == "b"))
    run = workshop.start(order_of("a", "b"))
    deadline = time.monotonic() + PATIENCE_S
    while not run.problem and time.monotonic() < deadline:
        time.sleep(0.01)
    assert run.problem == "No such draft."
    assert (run.next_session(), run.process_id) == (None, None)
    assert list(tmp_path.iterdir()) == []
    run.close()


def prepared_process(workshop: LocalWorkshop) -> psutil.Process:
    assert workshop._prepared is not None
    assert workshop._prepared._process is not None
    return psutil.Process(workshop._prepared._process.pid)


def test_an_engine_is_prepared_once_and_taken_by_the_next_run(
    workshop: LocalWorkshop, start: Callable[[RunOrder], EngineRun]
) -> None:
    workshop.prepare()
    process = prepared_process(workshop)
    workshop.prepare()
    assert prepared_process(workshop) == process
    run = start(order_of("ngram", text="forever", is_recorded=False))
    started = next_of(run)
    assert run.process_id == process.pid
    workshop.prepare()
    assert workshop._prepared is None, "none beside a run: it would slow it"
    run.close()
    started.session.close()
    workshop.prepare()
    process = prepared_process(workshop)
    workshop.let_go()
    assert not process.is_running()


def test_one_that_has_ended_is_prepared_anew(workshop: LocalWorkshop) -> None:
    workshop.prepare()
    process = prepared_process(workshop)
    process.kill()
    while workshop._prepared is not None and workshop._prepared.is_ready:
        time.sleep(0.01)
    workshop.prepare()
    assert prepared_process(workshop) != process
    workshop.let_go()


def test_a_prepared_engine_goes_with_a_run_that_cannot_start(
    workshop: LocalWorkshop,
    start: Callable[[RunOrder], EngineRun],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wiring, "model_refusal", lambda name: f"There is no model {name}.")
    workshop.prepare()
    process = prepared_process(workshop)
    run = start(order_of("ngram"))
    run._starter.join(PATIENCE_S)
    assert run.problem == "There is no model fake."
    assert run.is_over
    assert not process.is_running()


def test_a_prepared_engine_goes_with_an_order_that_is_refused(
    workshop: LocalWorkshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*names: str) -> Path:
        raise SessionFileError("no room")

    monkeypatch.setattr(workshop.library, "new_path", refuse)
    workshop.prepare()
    process = prepared_process(workshop)
    with pytest.raises(SessionFileError):
        workshop.start(order_of("ngram"))
    assert not process.is_running()


def test_a_run_that_is_over_is_not_kept(
    workshop: LocalWorkshop, start: Callable[[RunOrder], EngineRun]
) -> None:
    run = workshop.start(order_of("ngram"))
    started = next_of(run)
    finish(started)
    run.close()
    started.session.close()
    kept = weakref.ref(started.session)
    del run, started
    gc.collect()
    assert kept() is None
