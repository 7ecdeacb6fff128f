"""The file says what it is, and what it does not hold."""

from pathlib import Path

import msgspec

from engine.wire.events import (
    EventsDropped,
    LogEmitted,
    ModelLoaded,
)
from sessions.export.options import StepRange
from tests.support.event_script import EventScript
from tests.support.export_streams import (
    gpu_session,
    plain_session,
)
from tests.support.written_exports import written_nsys


def test_a_device_clock_that_is_early_is_put_right_and_noted(tmp_path: Path) -> None:
    tables = written_nsys(gpu_session(lateness_ns=-400), tmp_path)
    assert "moved later by up to 401 ns" in tables.notes()


def test_operators_of_a_cpu_are_no_kernels(tmp_path: Path) -> None:
    events = [
        msgspec.structs.replace(event, device="cpu") if isinstance(event, ModelLoaded) else event
        for event in gpu_session()
    ]
    tables = written_nsys(events, tmp_path)
    assert tables["CUPTI_ACTIVITY_KIND_KERNEL"] == []
    assert "21 CPU operators" in tables.notes()


def test_what_was_lost_and_logged_is_said(tmp_path: Path) -> None:
    script = EventScript()
    script.say(EventsDropped(n_events=7, kinds=("SpansMeasured",)))
    script.say(LogEmitted(level="error", message="No such sequence."))
    script.say(LogEmitted(level="info", message="All is well."))
    script.finish()
    tables = written_nsys(script.events, tmp_path)
    assert "7 measurements were lost (SpansMeasured)" in tables.notes()
    assert "No such sequence." in tables.notes()
    assert "All is well." not in tables.notes()
    assert [r["severity"] for r in tables["DIAGNOSTIC_EVENT"] if "lost" in r["text"]] == [2]


def test_a_part(tmp_path: Path) -> None:
    events = plain_session(6)
    tables = written_nsys(events, tmp_path, part=StepRange(2, 3))
    steps = {row["int64Value"] for row in tables.ranges() if row["text"] != "prefill"}
    assert steps == {2, 3}
    assert "steps 2 to 3" in tables.notes()
