"""The Chrome trace, read back by a parser that forgives nothing."""

from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.wire.events import (
    DraftVerified,
    Event,
    Fate,
    SessionEnded,
    SpansMeasured,
    StepCommitted,
)
from sessions.export.chrome_trace import write_chrome_trace
from sessions.export.options import ExportOptions, StepRange, TimeRange
from tests.support.event_script import EventScript
from tests.support.export_streams import (
    cancelled_inside_verify,
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
from tests.support.trace_reader import Trace, read_trace


def written(events: list[Event], tmp_path: Path, **options: object) -> Trace:
    path = tmp_path / "out.json"
    write_chrome_trace(events, path, options=ExportOptions(**options))
    return read_trace(path)


def measured(events: list[Event]) -> list[tuple[str, int, int]]:
    return sorted(
        (name, start, start + host)
        for event in events
        if isinstance(event, SpansMeasured)
        for name, start, host in zip(event.names, event.start_ns, event.host_ns, strict=True)
    )


def told(trace: Trace) -> list[tuple[str, int, int]]:
    return sorted((r.name, r.start_ns, r.end_ns) for r in trace.ranges if r.name != "prefill")


def test_every_span_comes_back_to_the_nanosecond(tmp_path: Path) -> None:
    events = with_clear_spans(two_sequences())
    trace = written(events, tmp_path)
    assert told(trace) == measured(events)
    assert {r.lane for r in trace.named("draft_forward")} == {"draft"}
    assert {r.lane for r in trace.named("verify")} == {"target"}
    assert {r.lane for r in trace.named("step")} == {"engine"}
    assert list(trace.lanes.values()) == ["engine", "draft", "target"]


def test_a_run_of_the_engine(tmp_path: Path) -> None:
    running = RunningEngine(
        ToyModel(24, seed=1), ToyModel(24, seed=2), gamma=3, max_new_tokens=12, batch=2
    )
    events = running.run([3, 1, 4], [1, 5, 9, 2])
    trace = written(events, tmp_path)
    prefills = trace.named("prefill")
    assert told(trace) == [one for one in measured(events) if one[0] != "prefill"]
    assert sorted((r.name, r.start_ns, r.end_ns) for r in prefills) == [
        one for one in measured(events) if one[0] == "prefill"
    ]
    blocks = [c["args"]["n"] for c in trace.counters if c["name"] == "target blocks"]
    assert max(blocks) > 0
    assert blocks[-1] == 0  # all were given back


def test_tokens_go_with_their_ranges(tmp_path: Path) -> None:
    events = with_clear_spans(two_sequences())
    trace = written(events, tmp_path)
    verdicts = [event for event in events if isinstance(event, DraftVerified)]
    found = [
        (r.args["step"], s["sequence_id"], s["token_ids"], s["fates"], s["token_texts"])
        for r in trace.named("verify")
        for s in r.args["sequences"]
    ]
    assert found == [
        (e.step, e.sequence_id, list(e.token_ids), [str(f) for f in e.fates], list(e.token_texts))
        for e in verdicts
    ]
    drafts = [s for r in trace.named("draft") for s in r.args["sequences"]]
    assert [float(p) for s in drafts for p in s["draft_probs"]] == [
        p for e in verdicts for p in e.draft_probs
    ]
    rejected = [i for i in trace.instants if i["name"] == "rejected"]
    assert [(i["t_ns"], i["args"]["position"]) for i in rejected] == [
        (e.t_ns, e.position + e.n_accepted) for e in verdicts if Fate.REJECTED in e.fates
    ]


def test_arrows_lead_from_each_draft_to_its_verify(tmp_path: Path) -> None:
    trace = written(with_clear_spans(plain_session(5)), tmp_path)
    assert [(a.name, b.name) for a, b in trace.flows] == [("draft", "verify")] * 5
    assert all(a.args["step"] == b.args["step"] for a, b in trace.flows)
    assert all(a.end_ns <= b.start_ns for a, b in trace.flows)


def test_acceptance_rolls(tmp_path: Path) -> None:
    trace = written(plain_session(2), tmp_path)
    rates = [c["args"]["acceptance_rate"] for c in trace.counters if "acceptance_rate" in c["args"]]
    assert [float(rate) for rate in rates] == [2 / 3, 4 / 6]  # two accepted, one rejected a step


def test_memory_is_counted(tmp_path: Path) -> None:
    trace = written(plain_session(1), tmp_path)
    assert [c["args"] for c in trace.counters if c["name"] == "host memory"] == [
        {"process_bytes": 5 << 20}
    ]
    names = {c["name"] for c in written(gpu_session(1), tmp_path).counters}
    assert "GPU 0 memory_used_bytes" in names
    assert "GPU 0 power_mw" not in names  # it was missing, which is not 0


def test_kernels_have_a_lane_a_stream(tmp_path: Path) -> None:
    trace = written(gpu_session(), tmp_path)
    kernels = trace.on("GPU stream 7")
    assert len(kernels) == 21
    assert all(r.name == f"void ours::{r.args['span']}_kernel<float>(float*)" for r in kernels)


# --- faults that other exporters had ---


def test_an_interrupted_verify_is_closed_at_the_last_known_time(tmp_path: Path) -> None:
    events = cancelled_inside_verify()
    trace = written(events, tmp_path)
    open_ranges = [r for r in trace.ranges if r.args.get("incomplete")]
    assert [r.name for r in open_ranges] == ["step", "verify"]
    assert {r.end_ns for r in open_ranges} == {events[-1].t_ns}
    assert all(r.args["incomplete"] is True for r in open_ranges)
    assert trace.about["n_incomplete_ranges"] == 2


def test_a_wall_clock_set_back_changes_nothing(tmp_path: Path) -> None:
    """Times are of the monotonic clock; the wall clock is read once and told once."""
    events = plain_session()
    back = msgspec.structs.replace(events[0], started_unix_ns=events[0].started_unix_ns - 5 * 10**9)
    assert told(written([back, *events[1:]], tmp_path)) == told(written(events, tmp_path))


def test_kernels_before_their_span_are_moved_on_a_lane_of_their_own(tmp_path: Path) -> None:
    trace = written(gpu_session(1, lateness_ns=-400), tmp_path)
    (step,) = trace.named("step")
    kernels = trace.on("GPU stream 7")
    assert min(r.start_ns for r in kernels) == step.start_ns + 1
    assert trace.about["largest_kernel_shift_ns"] == 401


def test_no_steps_is_a_file_of_metadata_only(tmp_path: Path) -> None:
    script = EventScript()
    script.finish()
    trace = written(script.events, tmp_path)
    assert trace.ranges == trace.instants == trace.counters == trace.flows == []
    assert trace.about["session_start_unix_ns"] == "1700000000000000000"


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
    assert told(trace) == sorted(expected[:4000])
    assert [(a.name, b.name) for a, b in trace.flows] == [("draft", "verify")] * 1000
    assert all(a.end_ns == b.start_ns for a, b in trace.flows)
    assert len(trace.lanes) == 3  # touching is not crossing: no lane more


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
    trace = written([first, *spans], tmp_path)
    starts = [r.start_ns for r in trace.named("step")]
    assert starts[0] == 0
    assert [b - a for a, b in pairwise(starts)] == [500] * 29
    assert trace.about["session_start_unix_ns"] == "1700000000123456789"


def test_spans_that_overlap_by_one_nanosecond_are_kept_apart(tmp_path: Path) -> None:
    spans = clear_spans(0, 0, n_forwards=0)
    overlapping = msgspec.structs.replace(
        spans, names=("step", "sample", "commit"), roles=(None, None, None),
        start_ns=(0, 10, 19), host_ns=(100, 10, 30), gpu_ns=(None,) * 3, n_flops=(None,) * 3,
        n_bytes=(None,) * 3, t_ns=100,
    )  # fmt: skip
    trace = written([EventScript().events[0], overlapping], tmp_path)
    assert told(trace) == [("commit", 19, 49), ("sample", 10, 20), ("step", 0, 100)]
    assert {r.name: r.lane for r in trace.ranges} == {
        "step": "engine", "sample": "engine", "commit": "engine (2)",
    }  # fmt: skip


def test_each_session_has_a_process_of_its_own(tmp_path: Path) -> None:
    events = plain_session(1)
    other = msgspec.structs.replace(events[0], started_unix_ns=events[0].started_unix_ns + 1)
    first = written(events, tmp_path)
    assert first.process_id == written(events, tmp_path).process_id
    assert first.process_id != written([other, *events[1:]], tmp_path).process_id
    assert 0 < first.process_id <= 2**22


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
    assert told(written([EventScript().events[0], spans], tmp_path)) == measured([spans])


# --- what is asked for ---


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
    trace = written(events, tmp_path, part=StepRange(1, 2))
    assert {r.args["step"] for r in trace.named("verify")} == {1, 2}
    whole = written(events, tmp_path)
    counted = {c["t_ns"]: c["args"] for c in whole.counters if c["name"] == "target blocks"}
    for counter in trace.counters:
        if counter["name"] == "target blocks":  # as in the whole, not from 0
            assert counter["args"] == counted[counter["t_ns"]]


def test_a_part_of_the_time(tmp_path: Path) -> None:
    events = with_clear_spans(plain_session(5))
    verify = written(events, tmp_path).named("verify")[3]
    part = TimeRange(verify.start_ns, verify.end_ns)
    assert [r.args["step"] for r in written(events, tmp_path, part=part).named("verify")] == [3]


def test_per_step_only(tmp_path: Path) -> None:
    trace = written(gpu_session(), tmp_path, per_step=True)
    assert {r.name for r in trace.ranges} == {
        "step", "draft", "verify", "sample", "commit", "prefill",
    }  # fmt: skip
    assert not trace.instants
    assert not any("sequences" in r.args for r in trace.ranges)
    assert len(trace.flows) == 3


def test_tokens_whose_ranges_were_lost_are_said_alone(tmp_path: Path) -> None:
    events = [event for event in plain_session(2) if not isinstance(event, SpansMeasured)]
    trace = written(events, tmp_path)
    assert [i["name"] for i in trace.instants if "sequences" in i["args"]] == [
        "draft tokens", "verify tokens", "draft tokens", "verify tokens",
    ]  # fmt: skip


def test_awkward_texts_are_json(tmp_path: Path) -> None:
    texts = ('"', "\x00\x1f", "\u2028", "é🙂")
    events = [
        msgspec.structs.replace(event, token_texts=texts)
        if isinstance(event, DraftVerified)
        else event
        for event in plain_session(1)
    ]
    (verify,) = written(events, tmp_path).named("verify")
    assert verify.args["sequences"][0]["token_texts"] == list(texts)


@pytest.mark.parametrize("per_step", [False, True])
def test_a_set_back_and_two_sequences(tmp_path: Path, per_step: bool) -> None:
    events = two_sequences()
    trace = written(events, tmp_path, per_step=per_step)
    assert [i["args"]["sequence_id"] for i in trace.instants if i["name"] == "set back"] == [1]
    n_steps = len({event.step for event in events if isinstance(event, StepCommitted)})
    assert len(trace.named("step")) == n_steps


def test_a_long_session_is_written_as_it_is_read(tmp_path: Path) -> None:
    write_chrome_trace(long_session(300), tmp_path / "out.json")
    assert len(read_trace(tmp_path / "out.json").named("step")) == 300
    assert left_in(tmp_path) == ["out.json"]
