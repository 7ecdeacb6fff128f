"""What the window costs and keeps up with, measured offscreen: ``specscope bench --suite ui``.

Each measurement runs in a process of its own (``python -m specscope.window_bench CASE``), so that
none is warmed by another.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil

N_DRAFT_TOKENS = 1_000_000
FEED_STEPS_PER_S = 2_000
FEED_S = 60.0
PAIRS_PER_ROUND = 30
_SETTLED_S = 10.0
_START_PAGE_FRAMES = 40
_SIZE = (1720, 1050)

LIMITS: Mapping[str, float] = {
    "start_s": 1.5,
    "first_paint_anew_s": 0.5,
    "first_paint_s": 0.5,
    "frame_p95_ms": 33.0,
    "heartbeat_gap_ms": 200.0,
    "rss_growth_mb": 50.0,
    "n_lost": 0,
    "beside_cost": 0.05,
}
"""What each figure may be at most."""


def run_window_bench(
    *,
    n_draft_tokens: int = N_DRAFT_TOKENS,
    feed_s: float = FEED_S,
    n_rounds: int = 3,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """All cases; figures by name, each with its limit and whether it holds."""
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, _compiled(Path(folder) / "compiled"):
        say("start page")
        figures |= _start()
        say(f"a session of {n_draft_tokens:,} draft tokens: making it up")
        path = Path(folder) / "long.specscope"
        _child("make", str(path), str(n_draft_tokens))
        data = Path(folder) / "data"  # not the user's own: nothing is known of the session there
        say("opening it for the first time")
        figures["first_paint_anew_s"] = _child("frames", str(path), data=data)["first_paint_s"]
        say("opening it again, panning, zooming and playing it")
        figures |= _child("frames", str(path), data=data)
        say(f"taking in {FEED_STEPS_PER_S:,} steps a second for {feed_s:g} s")
        figures |= _child("feed", str(feed_s))
    say("a run that is drawn and not, prompt by prompt")
    figures |= _beside(n_rounds * PAIRS_PER_ROUND)
    verdicts = {
        name: {"value": figures[name], "limit": limit, "holds": figures[name] <= limit}
        for name, limit in LIMITS.items()
    }
    return {"figures": figures, "verdicts": verdicts, "n_draft_tokens": n_draft_tokens}


def _start() -> dict[str, Any]:
    """From the command line to a painted start page, the second time, and whether torch came
    along."""
    _child("start")  # whatever is read or compiled once
    begun = time.perf_counter()  # one clock for all processes of a machine
    result = _child("start")
    return {"start_s": result["painted_at_s"] - begun, "has_torch": result["has_torch"],
            "process_s": time.perf_counter() - begun}  # fmt: skip


def _beside(n_pairs: int) -> dict[str, Any]:
    found = _child("beside", str(n_pairs))
    return {
        "beside_cost": found["cost"],
        "beside_cost_error": found["standard_error"],
        "beside_costs": found["costs"],
        "beside_has_own_core": found["has_own_core"],
    }


@contextmanager
def _compiled(folder: Path) -> Iterator[None]:
    """Children find their modules compiled, as those of an installed program are: where Python is
    told not to keep what it compiles, it is kept in ``folder`` for so long."""
    forbids = "PYTHONDONTWRITEBYTECODE"
    if not os.environ.get(forbids):
        yield
        return
    told = os.environ.pop(forbids)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder)
    try:
        _child("frames", str(_example()), data=folder)  # compiles what is loaded
        yield
    finally:
        os.environ[forbids] = told
        del os.environ["PYTHONPYCACHEPREFIX"]


def _example() -> Path:
    from specscope.wiring import LocalWorkshop

    return LocalWorkshop().example()


def _child(case: str, *arguments: str, data: Path | None = None) -> dict[str, Any]:
    """What a case found in a process of its own; ``data`` holds its library, preferences and kept
    columns, the user's own by default."""
    environment = {
        **os.environ, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": "1",
    }  # fmt: skip
    if data is not None:
        environment["SPECSCOPE_DATA_DIR"] = str(data)
    done = subprocess.run(
        [sys.executable, "-m", "specscope.window_bench", case, *arguments],
        env=environment, check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


# --- cases, each in a process of its own ---------------------------------------------------------


def _case_start() -> dict[str, Any]:
    application = _application()
    window = _window()
    window.show()
    application.processEvents()
    window.grab()
    painted = time.perf_counter()
    is_heavy = "torch" in sys.modules
    _end(window)
    return {"painted_at_s": painted, "has_torch": is_heavy}


def _case_make(path: str, n_draft_tokens: str) -> dict[str, Any]:
    from itertools import islice

    from sessions.recorder import Recorder
    from sessions.synthetic import synthetic_events

    recorder = Recorder(Path(path))
    events = synthetic_events(int(n_draft_tokens))
    while batch := list(islice(events, 5000)):
        recorder.consume(batch)
        recorder.flush(60.0)
    recorder.close()
    return {"file_mb": Path(path).stat().st_size / 1e6}


def _case_frames(path: str) -> dict[str, Any]:
    """Open, wait until every card shows it, then pan, zoom and play while every frame is timed."""
    application = _application()
    window = _window()
    window.show()
    application.processEvents()
    begun = time.perf_counter()
    window.open_sessions([Path(path)])
    first_paint_s = 0.0
    opening_ms: list[float] = []
    while not _is_whole(window):
        at = time.perf_counter()
        window.clock.tick()
        application.processEvents()
        opening_ms.append((time.perf_counter() - at) * 1e3)
        if not first_paint_s and _shows_something(window):
            window.grab()
            first_paint_s = time.perf_counter() - begun
    opened_s = time.perf_counter() - begun
    shown = window.controller.shown
    assert shown is not None
    length = shown.end_ns - shown.begin_ns
    frames: list[float] = []
    shares = (1.0, 0.3, 0.05, 0.002, 0.00005)
    for share in shares:
        shown.playhead.scrub(shown.begin_ns + length // 3)
        shown.playhead.play(speed=10.0)
        for index in range(60):
            middle = shown.playhead.t_ns + round(index * length * share / 600)
            half = max(1_000_000, round(length * share / 2))
            window.state.look_at((middle - half, middle + half))
            at = time.perf_counter()
            window.clock.tick()
            application.processEvents()
            frames.append((time.perf_counter() - at) * 1e3)
            time.sleep(max(0.0, 0.033 - frames[-1] / 1e3))
    rss_mb = psutil.Process().memory_info().rss / 1e6
    _end(window)
    return {
        "first_paint_s": first_paint_s,
        "opened_s": opened_s,
        "opening_frame_max_ms": max(opening_ms),
        "frame_p50_ms": float(np.percentile(frames, 50)),
        "frame_p95_ms": float(np.percentile(frames, 95)),
        "frame_max_ms": max(frames),
        "open_rss_mb": rss_mb,
    }


def _shows_something(window: Any) -> bool:
    docks = window.stage.docks.values()
    return any(dock.is_seen and dock.is_made and not dock.panel.is_empty for dock in docks)


def _is_whole(window: Any) -> bool:
    """Whether all was read, and every card that is seen shows it, or says why there is nothing."""
    docks = [dock for dock in window.stage.docks.values() if dock.is_seen]
    return window.controller.sessions[0].session.is_over and all(
        dock.is_made and dock.panel.digested is not None for dock in docks
    )


def _case_feed(seconds: str) -> dict[str, Any]:
    """A session that grows by thousands of steps a second, as a fast engine would tell it."""
    from engine.wire.events import StepCommitted
    from sessions.session import Session
    from sessions.spill import Spill
    from sessions.synthetic import synthetic_events
    from ui.open_session import OpenSession
    from ui.workshop import Started

    duration = float(seconds)
    source = _PacedSource(
        synthetic_events(round(FEED_STEPS_PER_S * duration * 4)), StepCommitted, FEED_STEPS_PER_S
    )
    application = _application()
    window = _window()
    window.show()
    for _ in range(_START_PAGE_FRAMES):  # a run is begun there: by then all is loaded
        window.clock.tick()
        application.processEvents()
    live = Session(source, spill=Spill.of_user())
    session = OpenSession(Started("fed", live, None), is_live=True)
    window.controller.take(session)
    window.lay_out("watch", is_fresh=True)
    source.begin()
    process = psutil.Process()
    gaps: list[float] = []
    settled_mb = settled_table_mb = 0.0
    begun = last = time.perf_counter()
    while (now := time.perf_counter()) - begun < duration:
        window.clock.tick()
        application.processEvents()
        at = time.perf_counter()
        gaps.append((at - last) * 1e3)
        last = at
        if not settled_mb and now - begun > min(_SETTLED_S, duration / 3):
            settled_mb = process.memory_info().rss / 1e6
            settled_table_mb = _table_mb(session)
        time.sleep(max(0.0, 0.033 - (at - now)))
    rss_mb, table_mb = process.memory_info().rss / 1e6, _table_mb(session)
    while session.session.advance(100.0):
        pass
    n_folded = len(session.newest().steps)
    n_missing = int(session.newest().gaps["n_missing"].sum()) if len(session.newest().gaps) else 0
    _end(window)
    return {
        "n_steps_fed": source.n_steps,
        "n_lost": source.n_steps - n_folded + n_missing,
        "heartbeat_gap_ms": max(gaps),
        "heartbeat_p95_ms": float(np.percentile(gaps, 95)),
        "rss_growth_mb": rss_mb - settled_mb,
        "table_growth_mb": table_mb - settled_table_mb,
    }


def _case_beside(n_pairs: str) -> dict[str, Any]:
    """A run of the bundled pair in the window, which draws and rests in turn."""
    from itertools import cycle, islice

    from specscope.beside_bench import cost_beside
    from specscope.wiring import LocalWorkshop

    application = _application()
    window = _window()
    window.show()
    prompts = list(islice(cycle(LocalWorkshop().prompts()["code"]), int(n_pairs)))
    found = cost_beside(window, application, prompts)
    _end(window)
    return found


class _PacedSource:
    """Events that become due as time passes, so many steps a second."""

    def __init__(self, events: Any, step_kind: type, steps_per_s: int) -> None:
        self._events = events
        self._step_kind = step_kind
        self._steps_per_s = steps_per_s
        self._begun: float | None = None
        self._is_over = False
        self.n_steps = 0

    def begin(self) -> None:
        self._begun = time.perf_counter()

    def poll(self, limit: int) -> list[Any]:
        if self._begun is None or self._is_over:
            return []
        due = (time.perf_counter() - self._begun) * self._steps_per_s
        events: list[Any] = []
        while len(events) < limit and self.n_steps < due:
            event = next(self._events, None)
            if event is None:
                self._is_over = True
                break
            events.append(event)
            self.n_steps += isinstance(event, self._step_kind)
        return events

    @property
    def exhausted(self) -> bool:
        return self._is_over

    def close(self) -> None:
        self._is_over = True


def _table_mb(session: Any) -> float:
    return float(sum(table.n_bytes for table in session.session.model.tables.values()) / 1e6)


def _application() -> Any:
    """The window's own, silent about what the offscreen platform says of every window."""
    from PySide6.QtCore import qInstallMessageHandler

    from specscope.app import make_application, say_qt_message

    qInstallMessageHandler(say_qt_message)
    return make_application()


def _window() -> Any:
    from specscope.app import make_window
    from ui.preferences import Preferences

    folder = tempfile.mkdtemp(prefix="specscope-bench-")
    window = make_window(preferences=Preferences(Path(folder) / "window.json"))
    window.resize(*_SIZE)
    return window


def _end(window: Any) -> None:
    window.close()
    window.deleteLater()


def _main() -> None:
    case, *arguments = sys.argv[1:]
    cases: dict[str, Callable[..., dict[str, Any]]] = {
        "start": _case_start, "make": _case_make, "frames": _case_frames, "feed": _case_feed,
        "beside": _case_beside,
    }  # fmt: skip
    print(json.dumps(cases[case](*arguments)), flush=True)


if __name__ == "__main__":
    _main()
