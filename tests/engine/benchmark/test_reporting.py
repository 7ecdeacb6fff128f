"""What is switched on is told, and only then."""

import io
import time

import pytest

from engine.benchmark.reporting import EventFile, Reporting, SwitchedSink
from engine.telemetry.spans import VERIFY
from engine.wire.codec import decode_event
from engine.wire.events import HostSampled, LogEmitted, Role, SpansMeasured


def log() -> LogEmitted:
    return LogEmitted(level="info", message="x")


def wait_for(words: bytes, file: io.BytesIO, *, limit_s: float = 30.0) -> None:
    """Until they are in the file, however busy the machine is."""
    end_s = time.monotonic() + limit_s
    while words not in file.getvalue():
        assert time.monotonic() < end_s, f"no {words!r} in {limit_s} s"
        time.sleep(0.01)


def step(reporting: Reporting) -> None:
    """One span and one event, as a step has them."""
    with reporting.spans.span(VERIFY, Role.TARGET) as span:
        pass
    span.count(1, 2)
    span.n_forwards = 3
    reporting.spans.flush(0)
    reporting.emitter.say(log())


def test_the_sink_drops_what_nobody_takes() -> None:
    taken: list[object] = []
    sink = SwitchedSink()
    sink(log())
    sink.take = taken.append
    sink(log())
    assert len(taken) == 1


def test_the_file_counts_events_told_singly_and_together() -> None:
    file = io.BytesIO()
    events = EventFile(file)
    event = LogEmitted(level="info", message="x", ordinal=0, t_ns=0)
    events.write(event)
    assert decode_event(file.getvalue().strip()) == event
    events.send_bytes(b"one\ntwo")
    assert events.n_events == 3
    assert events.n_bytes == len(file.getvalue())


@pytest.mark.parametrize(("way", "n_events"), [("silent", 0), ("dropped", 0), ("written", 2)])
def test_each_way_tells_what_it_is_to_tell(way: str, n_events: int) -> None:
    reporting = Reporting(io.BytesIO())
    with getattr(reporting, way)():
        assert reporting.spans.is_on == (way != "silent")
        step(reporting)
    assert not reporting.spans.is_on
    step(reporting)
    assert reporting.events.n_events == n_events
    assert reporting.spans.opened == []


def test_everything_is_what_the_worker_has() -> None:
    file = io.BytesIO()
    reporting = Reporting(file)
    with reporting.everything(gpu_uuid=None):
        step(reporting)
        wait_for(b"HostSampled", file)
    kinds = {type(decode_event(line)) for line in file.getvalue().splitlines()}
    assert kinds == {SpansMeasured, LogEmitted, HostSampled}
    n_bytes = reporting.events.n_bytes
    step(reporting)
    assert reporting.events.n_bytes == n_bytes, "all was sent when the way ended"


def test_samples_are_left_out_where_they_are_not_wanted() -> None:
    file = io.BytesIO()
    with Reporting(file).everything(gpu_uuid=None, has_samplers=False):
        time.sleep(0.15)
    assert file.getvalue() == b""


def test_the_device_s_clock_and_samples_are_on_for_as_long_as_the_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[str] = []

    class Sampler:
        def __init__(self, emitter: object, uuid: str) -> None:
            seen.append(uuid)

        def __enter__(self) -> None:
            seen.append("on")

        def __exit__(self, *error: object) -> None:
            seen.append("off")

    class Timer:
        def __init__(self, now_ns: object) -> None:
            seen.append("timer")

        def align(self) -> None:
            seen.append("aligned")

    monkeypatch.setattr("engine.benchmark.reporting.GpuSampler", Sampler)
    monkeypatch.setattr("engine.benchmark.reporting.CudaTimer", Timer)
    reporting = Reporting(io.BytesIO())
    for _ in range(2):
        with reporting.everything(gpu_uuid="0-1"):
            assert reporting.spans.gpu_timer is not None
        assert reporting.spans.gpu_timer is None
    assert seen == ["timer", "aligned", "0-1", "on", "off", "0-1", "on", "off"]
