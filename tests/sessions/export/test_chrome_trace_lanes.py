"""Lanes, kernels and arrows of a Chrome trace, and the faults other exporters had."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.wire.events import Event, Role, SessionEnded, SpansMeasured
from sessions.export.chrome_trace import write_chrome_trace
from sessions.export.chrome_trace_lanes import TraceRanges
from tests.support.event_script import EventScript
from tests.support.export_streams import (
    cancelled_inside_verify,
    clear_spans,
    gpu_session,
    long_session,
    plain_session,
    with_clear_spans,
)
from tests.support.trace_reader import read_trace
from tests.support.written_exports import measured, trace_ranges, without_prefill, written_trace


def test_arrows_lead_from_each_draft_to_its_verify(tmp_path: Path) -> None:
    trace = written_trace(with_clear_spans(plain_session(5)), tmp_path)
    assert [(a.name, b.name) for a, b in trace.flows] == [("draft", "verify")] * 5
    assert all(a.args["step"] == b.args["step"] for a, b in trace.flows)
    assert all(a.end_ns <= b.start_ns for a, b in trace.flows)


def test_kernels_have_a_lane_a_stream(tmp_path: Path) -> None:
    trace = written_trace(gpu_session(), tmp_path)
    kernels = trace.on("GPU stream 7")
    assert len(kernels) == 21
    assert all(r.name == f"void ours::{r.args['span']}_kernel<float>(float*)" for r in kernels)


def test_an_interrupted_verify_is_closed_at_the_last_known_time(tmp_path: Path) -> None:
    events = cancelled_inside_verify()
    trace = written_trace(events, tmp_path)
    open_ranges = [r for r in trace.ranges if r.args.get("incomplete")]
    assert [r.name for r in open_ranges] == ["step", "verify"]
    assert {r.end_ns for r in open_ranges} == {events[-1].t_ns}
    assert all(r.args["incomplete"] is True for r in open_ranges)
    assert trace.about["n_incomplete_ranges"] == 2


def on_device(events: list[Event], *, late_ns: int = 100) -> list[Event]:
    """The spans with times on the device, which is that late; the innermost were not timed."""
    return [
        msgspec.structs.replace(
            event,
            gpu_start_ns=tuple(
                None if name == "sample" else start + late_ns
                for name, start in zip(event.names, event.start_ns, strict=True)
            ),
            gpu_ns=tuple(
                None if name == "sample" else host_ns - 50
                for name, host_ns in zip(event.names, event.host_ns, strict=True)
            ),
        )
        if isinstance(event, SpansMeasured)
        else event
        for event in events
    ]


@pytest.mark.parametrize("per_step", [False, True])
def test_spans_that_were_timed_on_the_device_have_lanes_there(
    tmp_path: Path, per_step: bool
) -> None:
    events = with_clear_spans(plain_session(5))
    alone = written_trace(events, tmp_path, per_step=per_step)
    trace = written_trace(on_device(events), tmp_path, per_step=per_step)
    lanes = {"GPU engine": None, "GPU draft": Role.DRAFT, "GPU target": Role.TARGET}
    for lane, role in lanes.items():
        expected = [
            (name, start_ns + 100, start_ns + 50 + host_ns, event.step)
            for event in events
            if isinstance(event, SpansMeasured)
            for name, span_role, start_ns, host_ns in zip(
                event.names, event.roles, event.start_ns, event.host_ns, strict=True
            )
            if span_role is role and name != "sample"
            if not (per_step and name == "draft_forward")
        ]
        told = [(r.name, r.start_ns, r.end_ns, r.args["step"]) for r in trace.on(lane)]
        assert told == expected
        assert len(told) >= 5
    host = [r for r in trace.ranges if r.lane not in lanes]
    assert [(r.name, r.start_ns, r.end_ns, r.lane) for r in host] == [
        (r.name, r.start_ns, r.end_ns, r.lane) for r in alone.ranges
    ]


def test_kernels_before_their_span_are_moved_on_a_lane_of_their_own(tmp_path: Path) -> None:
    trace = written_trace(gpu_session(1, lateness_ns=-400), tmp_path)
    (step,) = trace.named("step")
    kernels = trace.on("GPU stream 7")
    assert min(r.start_ns for r in kernels) == step.start_ns + 1
    assert trace.about["largest_kernel_shift_ns"] == 401


def test_ranges_of_300_ns_back_to_back(tmp_path: Path) -> None:
    """10,000 steps whose spans touch; types, values and arrows survive."""
    events: list[Event] = [EventScript().events[0]]
    expected = []
    for step in range(10_000):
        at = step * 900
        rows = [("step", None, at, 900), ("draft", "draft", at, 300)]
        rows += [("verify", "target", at + 300, 300), ("sample", None, at + 600, 300)]
        expected += [(name, start, start + length) for name, _, start, length in rows]
        spans = clear_spans(step, at, n_forwards=0)  # step, draft, verify, sample, commit
        names, _, starts, lengths = zip(*rows, strict=True)
        nothing = (None,) * 4
        events.append(
            msgspec.structs.replace(
                spans, names=names, roles=(spans.roles[0], *spans.roles[1:4]), start_ns=starts,
                host_ns=lengths, gpu_ns=nothing, n_flops=nothing, n_bytes=nothing,
                ordinal=step + 1, t_ns=at + 900,
            )
        )  # fmt: skip
    events.append(SessionEnded(reason="finished", ordinal=10_001, t_ns=9_000_000))
    path = tmp_path / "out.json"
    write_chrome_trace(events, path)
    text = path.read_text()
    assert '"ts":0.300,"dur":0.300' in text
    assert '"ts":' in text
    assert '"ts":"' not in text
    # Reading 10,000 arrows back one by one would be quadratic: their ends are compared as text.
    assert text.count('"ph":"s"') == text.count('"ph":"f"') == 10_000
    short = tmp_path / "short.json"
    write_chrome_trace(events[:1001], short)
    trace = read_trace(short)
    assert without_prefill(trace_ranges(trace)) == sorted(expected[:4000])
    assert [(a.name, b.name) for a, b in trace.flows] == [("draft", "verify")] * 1000
    assert all(a.end_ns == b.start_ns for a, b in trace.flows)
    assert len(trace.lanes) == 3  # touching is not crossing: no lane more


def test_spans_that_overlap_by_one_nanosecond_are_kept_apart(tmp_path: Path) -> None:
    spans = clear_spans(0, 0, n_forwards=0)
    overlapping = msgspec.structs.replace(
        spans, names=("step", "sample", "commit"), roles=(None, None, None),
        start_ns=(0, 10, 19), host_ns=(100, 10, 30), gpu_ns=(None,) * 3, n_flops=(None,) * 3,
        n_bytes=(None,) * 3, t_ns=100,
    )  # fmt: skip
    trace = written_trace([EventScript().events[0], overlapping], tmp_path)
    assert without_prefill(trace_ranges(trace)) == [
        ("commit", 19, 49),
        ("sample", 10, 20),
        ("step", 0, 100),
    ]
    assert {r.name: r.lane for r in trace.ranges} == {
        "step": "engine", "sample": "engine", "commit": "engine (2)",
    }  # fmt: skip


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 15), st.integers(0, 6)), max_size=15))
def test_whatever_the_spans_each_lane_nests(
    tmp_path: Path, rows: list[tuple[int, int, int]]
) -> None:
    template = clear_spans(0, 0, n_forwards=2)
    nothing = (None,) * len(rows)
    spans = msgspec.structs.replace(
        template,
        names=tuple(template.names[kind] for _, _, kind in rows),
        roles=tuple(template.roles[kind] for _, _, kind in rows),
        start_ns=tuple(start for start, _, _ in rows),
        host_ns=tuple(length for _, length, _ in rows),
        gpu_ns=nothing,
        n_flops=nothing,
        n_bytes=nothing,
        t_ns=100,
    )
    assert trace_ranges(written_trace([EventScript().events[0], spans], tmp_path)) == measured(
        [spans]
    )


def test_steps_written_at_once_are_those_written_range_by_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lines(name: str) -> list[str]:
        write_chrome_trace(long_session(50), tmp_path / name)
        return sorted(line.rstrip(",") for line in (tmp_path / name).read_text().splitlines())

    at_once = lines("at_once")
    monkeypatch.setattr(TraceRanges, "add_step", lambda *_: False)
    assert lines("one_by_one") == at_once
    assert len(at_once) > 300
