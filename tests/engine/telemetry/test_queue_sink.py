import threading

import pytest

from engine.telemetry.emitter import Emitter
from engine.telemetry.queue_sink import BATCH_BYTES, QueueSink
from engine.wire.codec import decode_event
from engine.wire.events import Event, EventsDropped, HostSampled, LogEmitted, SpansMeasured


class Pipe:
    """A connection's end that keeps what was sent; closed, it takes nothing until opened."""

    def __init__(self, *, is_open: bool = True) -> None:
        self.messages: list[bytes] = []
        self.opened = threading.Event()
        self.is_waiting = threading.Event()
        if is_open:
            self.opened.set()

    def send_bytes(self, buf: bytes, /) -> None:
        self.is_waiting.set()
        self.opened.wait(10.0)
        self.messages.append(buf)

    def events(self) -> list[Event]:
        return [decode_event(line) for message in self.messages for line in message.split(b"\n")]


class BrokenPipe:
    def send_bytes(self, buf: bytes, /) -> None:
        raise BrokenPipeError


def log(message: str = "x") -> LogEmitted:
    return LogEmitted(level="info", message=message)


def sample() -> HostSampled:
    return HostSampled(
        process_cpu_pct=1.0,
        system_cpu_pct=1.0,
        process_memory_bytes=1,
        system_memory_used_bytes=1,
        system_memory_total_bytes=2,
    )


def spans() -> SpansMeasured:
    return SpansMeasured(
        step=0, names=(), roles=(), start_ns=(), host_ns=(), gpu_ns=(), n_flops=(), n_bytes=()
    )


def test_sends_all_in_order_and_several_at_once() -> None:
    pipe = Pipe()
    sink = QueueSink(pipe)
    emitter = Emitter(sink)
    for _ in range(1000):
        emitter.say(log())
    assert sink.close()
    assert [event.ordinal for event in pipe.events()] == list(range(1000))
    assert len(pipe.messages) < 100


def test_a_message_is_not_much_longer_than_allowed() -> None:
    pipe = Pipe()
    sink = QueueSink(pipe)
    emitter = Emitter(sink)
    for _ in range(40):
        emitter.say(log("x" * (BATCH_BYTES // 4)))
    assert sink.close()
    assert len(pipe.events()) == 40
    assert max(map(len, pipe.messages)) < 2 * BATCH_BYTES


def test_only_measurements_are_dropped_and_they_are_counted() -> None:
    pipe = Pipe(is_open=False)
    sink = QueueSink(pipe, max_waiting=10)
    emitter = Emitter(sink)
    emitter.say(log())
    assert pipe.is_waiting.wait(10.0)  # the reader is stuck; what follows waits
    for _ in range(10):
        emitter.say(log())
    for _ in range(3):
        emitter.say(sample())
    emitter.say(spans())
    for _ in range(5):
        emitter.say(log())
    sink.report_dropped(emitter.say)
    sink.report_dropped(emitter.say)
    pipe.opened.set()
    assert sink.close()
    events = pipe.events()
    assert [event.ordinal for event in events] == [*range(11), *range(15, 21)]
    [report] = [event for event in events if isinstance(event, EventsDropped)]
    assert (report.n_events, report.kinds) == (4, ("HostSampled", "SpansMeasured"))


def test_the_speaker_does_not_wait_for_a_reader_that_is_stuck() -> None:
    pipe = Pipe(is_open=False)
    sink = QueueSink(pipe)
    emitter = Emitter(sink)
    for _ in range(1000):
        emitter.say(log())
    assert not sink.close(timeout_s=0.05)
    pipe.opened.set()
    assert sink.close()
    assert len(pipe.events()) == 1000


def test_a_reader_that_has_gone_is_told_once() -> None:
    told: list[str] = []
    sink = QueueSink(BrokenPipe(), on_broken=lambda: told.append("broken"))
    emitter = Emitter(sink)
    for _ in range(100):
        emitter.say(log())
    assert sink.close()
    assert told == ["broken"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_event_that_cannot_be_encoded_breaks_the_stream() -> None:
    told: list[str] = []
    pipe = Pipe()
    sink = QueueSink(pipe, on_broken=lambda: told.append("broken"))
    emitter = Emitter(sink)
    emitter.say(LogEmitted(level="info", message=object()))  # type: ignore[arg-type]
    emitter.say(log())
    assert sink.close()
    assert told == ["broken"]
    assert pipe.messages == []
