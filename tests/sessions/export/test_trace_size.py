"""The size that is foretold is about the size that is written."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.wire.events import SpansMeasured
from sessions.export.chrome_trace import write_chrome_trace
from sessions.export.options import ExportOptions, StepRange
from sessions.export.trace_size import TraceCounts
from tests.support.export_streams import gpu_session, plain_session
from tests.support.running_engine import RunningEngine
from tests.support.toy_model import ToyModel


def toy_run() -> list:
    running = RunningEngine(ToyModel(24, seed=1), ToyModel(24, seed=2), gamma=6, max_new_tokens=200)
    return running.run([3, 1, 4])


def on_device() -> list:
    return [
        replace(event, gpu_start_ns=event.start_ns, gpu_ns=event.host_ns)
        if isinstance(event, SpansMeasured)
        else event
        for event in gpu_session(100)
    ]


@pytest.mark.parametrize("per_step", [False, True])
@pytest.mark.parametrize("name", ["out.json", "out.json.gz"])
@pytest.mark.parametrize(
    "make", [lambda: plain_session(200), lambda: gpu_session(100), on_device, toy_run]
)
def test_it_is_right_within_a_third(make, name: str, per_step: bool, tmp_path: Path) -> None:
    events = make()
    path = tmp_path / name
    write_chrome_trace(events, path, options=ExportOptions(per_step=per_step))
    is_gzipped = path.suffix == ".gz"
    foretold = TraceCounts.of(events).trace_bytes(per_step=per_step, is_gzipped=is_gzipped)
    size = path.stat().st_size
    if is_gzipped:  # how well it packs depends on what the numbers are
        assert size / 3 < foretold < size * 3
    else:
        assert size / 1.34 < foretold < size * 1.34


def test_a_part_is_smaller() -> None:
    events = plain_session(100)
    whole, part = TraceCounts.of(events), TraceCounts.of(events, StepRange(10, 19))
    assert part.n_steps == 10
    assert part.trace_bytes() < whole.trace_bytes() / 8
