"""The Chrome trace, read back by a parser that forgives nothing."""

from itertools import pairwise
from pathlib import Path

import msgspec

from sessions.export.chrome_trace import write_chrome_trace
from sessions.export.options import StepRange, TimeRange
from tests.support.event_script import EventScript
from tests.support.export_streams import (
    clear_spans,
    gpu_session,
    left_in,
    long_session,
    plain_session,
    two_sequences,
    with_clear_spans,
)
from tests.support.running_engine import RunningEngine
from tests.support.toy_model import ToyModel
from tests.support.trace_reader import read_trace
from tests.support.written_exports import measured, trace_ranges, without_prefill, written_trace


def test_every_span_comes_back_to_the_nanosecond(tmp_path: Path) -> None:
    events = with_clear_spans(two_sequences())
    trace = written_trace(events, tmp_path)
    assert without_prefill(trace_ranges(trace)) == measured(events)
    assert {r.lane for r in trace.named("draft_forward")} == {"draft"}
    assert {r.lane for r in trace.named("verify")} == {"target"}
    assert {r.lane for r in trace.named("step")} == {"engine"}
    assert list(trace.lanes.values()) == ["engine", "draft", "target"]


def test_a_run_of_the_engine(tmp_path: Path) -> None:
    running = RunningEngine(
        ToyModel(24, seed=1), ToyModel(24, seed=2), gamma=3, max_new_tokens=12, batch=2
    )
    events = running.run([3, 1, 4], [1, 5, 9, 2])
    trace = written_trace(events, tmp_path)
    prefills = trace.named("prefill")
    assert without_prefill(trace_ranges(trace)) == [
        one for one in measured(events) if one[0] != "prefill"
    ]
    assert sorted((r.name, r.start_ns, r.end_ns) for r in prefills) == [
        one for one in measured(events) if one[0] == "prefill"
    ]
    blocks = [c["args"]["n"] for c in trace.counters if c["name"] == "target blocks"]
    assert max(blocks) > 0
    assert blocks[-1] == 0  # all were given back


def test_a_wall_clock_set_back_changes_nothing(tmp_path: Path) -> None:
    """Times are of the monotonic clock; the wall clock is read once and told once."""
    events = plain_session()
    back = msgspec.structs.replace(events[0], started_unix_ns=events[0].started_unix_ns - 5 * 10**9)
    assert trace_ranges(written_trace([back, *events[1:]], tmp_path)) == trace_ranges(
        written_trace(events, tmp_path)
    )


def test_no_steps_is_a_file_of_metadata_only(tmp_path: Path) -> None:
    script = EventScript()
    script.finish()
    trace = written_trace(script.events, tmp_path)
    assert trace.ranges == trace.instants == trace.counters == trace.flows == []
    assert trace.about["session_start_unix_ns"] == "1700000000000000000"


def test_an_absolute_start_of_19_digits_keeps_gaps_of_500_ns(tmp_path: Path) -> None:
    first = msgspec.structs.replace(
        EventScript().events[0], started_unix_ns=1_700_000_000_123_456_789
    )
    spans = [
        msgspec.structs.replace(
            clear_spans(i, 0, n_forwards=0), names=("step",), roles=(None,), start_ns=(i * 500,),
            host_ns=(100,), gpu_ns=(None,), n_flops=(None,), n_bytes=(None,), t_ns=i * 500 + 100,
        )
        for i in range(30)
    ]  # fmt: skip
    trace = written_trace([first, *spans], tmp_path)
    starts = [r.start_ns for r in trace.named("step")]
    assert starts[0] == 0
    assert [b - a for a, b in pairwise(starts)] == [500] * 29
    assert trace.about["session_start_unix_ns"] == "1700000000123456789"


def test_each_session_has_a_process_of_its_own(tmp_path: Path) -> None:
    events = plain_session(1)
    other = msgspec.structs.replace(events[0], started_unix_ns=events[0].started_unix_ns + 1)
    first = written_trace(events, tmp_path)
    assert first.process_id == written_trace(events, tmp_path).process_id
    assert first.process_id != written_trace([other, *events[1:]], tmp_path).process_id
    assert 0 < first.process_id <= 2**22


def test_gzip_by_name(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.json", tmp_path / "a.json.gz"
    write_chrome_trace(plain_session(50), plain)
    write_chrome_trace(plain_session(50), packed)
    assert packed.stat().st_size < plain.stat().st_size / 4
    assert read_trace(packed) == read_trace(plain)
    first = packed.read_bytes()
    write_chrome_trace(plain_session(50), packed)
    assert packed.read_bytes() == first


def test_a_part_of_the_steps(tmp_path: Path) -> None:
    events = two_sequences()
    trace = written_trace(events, tmp_path, part=StepRange(1, 2))
    assert {r.args["step"] for r in trace.named("verify")} == {1, 2}
    whole = written_trace(events, tmp_path)
    counted = {c["t_ns"]: c["args"] for c in whole.counters if c["name"] == "target blocks"}
    for counter in trace.counters:
        if counter["name"] == "target blocks":  # as in the whole, not from 0
            assert counter["args"] == counted[counter["t_ns"]]


def test_a_part_of_the_time(tmp_path: Path) -> None:
    events = with_clear_spans(plain_session(5))
    verify = written_trace(events, tmp_path).named("verify")[3]
    part = TimeRange(verify.start_ns, verify.end_ns)
    assert [r.args["step"] for r in written_trace(events, tmp_path, part=part).named("verify")] == [
        3
    ]


def test_per_step_only(tmp_path: Path) -> None:
    trace = written_trace(gpu_session(), tmp_path, per_step=True)
    assert {r.name for r in trace.ranges} == {
        "step", "draft", "verify", "sample", "commit", "prefill",
    }  # fmt: skip
    assert not trace.instants
    assert not any("sequences" in r.args for r in trace.ranges)
    assert len(trace.flows) == 3


def test_a_long_session_is_written_as_it_is_read(tmp_path: Path) -> None:
    write_chrome_trace(long_session(300), tmp_path / "out.json")
    assert len(read_trace(tmp_path / "out.json").named("step")) == 300
    assert left_in(tmp_path) == ["out.json"]
