"""The cost of events is measured on runs that differ in nothing else."""

import io

from engine.benchmark.events import SwitchedSink, run
from engine.wire.benchmark import BenchmarkSettings
from engine.wire.codec import decode_event
from engine.wire.config import RunConfig
from engine.wire.events import LogEmitted


def test_the_sink_writes_lines_when_on_and_nothing_when_off() -> None:
    file = io.BytesIO()
    sink = SwitchedSink(file)
    event = LogEmitted(level="info", message="x", ordinal=0, t_ns=0)
    sink(event)
    assert file.getvalue() == b""
    sink.is_on = True
    sink(event)
    assert decode_event(file.getvalue().strip()) == event
    assert (sink.n_events, sink.n_bytes) == (1, len(file.getvalue()))


def test_on_and_off_are_paired() -> None:
    settings = BenchmarkSettings(
        suite="events",
        config=RunConfig(max_new_tokens=16),
        prompts=("def f(x):\n", "import os\n"),
        n_rounds=2,
    )
    result = run(settings, progress=lambda _: None)
    assert result["events_on_vs_off"]["n"] == 4
    assert result["n_events"] > 4 * 16
    assert 100 < result["bytes_per_event"] < 2000
