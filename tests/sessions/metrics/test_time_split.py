"""Where the time of steps and sessions went: parts that make the whole."""

import numpy as np
import pytest
from msgspec.structs import replace

from engine.wire.events import (
    CalibrationMeasured,
    EngineState,
    EngineStateChanged,
    Event,
    Role,
    SpansMeasured,
)
from sessions.metrics.time_split import paused_until, session_time, time_split
from tests.sessions.played import drafted, model_of, snapshot_of
from tests.support.event_script import TICK_NS, EventScript


def spans(
    step: int, start_ns: int, *, ordinal: int, gpu: bool = False, t_ns: int | None = None
) -> SpansMeasured:
    """A step of 100 ns: draft 30 (two forwards of 10), verify 40, sample 15, commit 5."""
    names = ("step", "draft", "draft_forward", "draft_forward", "verify", "sample", "commit")
    starts, lengths = (0, 5, 5, 20, 40, 80, 95), (100, 30, 10, 10, 40, 15, 5)
    nothing: tuple[int | None, ...] = (None,) * 7
    return SpansMeasured(
        ordinal=ordinal,
        t_ns=start_ns + 200 if t_ns is None else t_ns,
        step=step,
        names=names,
        roles=(None, Role.DRAFT, Role.DRAFT, Role.DRAFT, Role.TARGET, None, None),
        start_ns=tuple(start_ns + start for start in starts),
        host_ns=lengths,
        gpu_ns=tuple(2 * length for length in lengths) if gpu else nothing,
        n_flops=nothing,
        n_bytes=nothing,
    )


def state(value: EngineState, *, ordinal: int, t_ns: int) -> Event:
    return EngineStateChanged(ordinal=ordinal, t_ns=t_ns, state=value)


def test_the_parts_make_the_step() -> None:
    split = time_split(snapshot_of([spans(0, 0, ordinal=0), spans(1, 300, ordinal=1)]))
    assert split is not None
    assert (split.clock, split.n_steps, split.n_draft_forwards) == ("host", 2, 4)
    assert (split.draft_forward_ns, split.draft_rest_ns) == (40, 20)
    assert (split.verify_ns, split.sample_ns, split.commit_ns, split.other_ns) == (80, 30, 10, 20)
    assert split.whole_ns == 200
    assert split.overhead_share == pytest.approx((200 - 40 - 80) / 200)
    assert split.share(split.draft_ns) == pytest.approx(0.3)


def test_the_forwards_of_a_captured_draft_are_counted() -> None:
    measured = replace(spans(0, 0, ordinal=0), n_forwards=(1, 1, 3, 1, 1, 1, 1))
    split = time_split(snapshot_of([measured]))
    assert split is not None
    assert split.n_draft_forwards == 4


def test_the_devices_clock_is_used_where_every_span_has_it() -> None:
    measured = spans(0, 0, ordinal=0, gpu=True)
    split = time_split(snapshot_of([measured]))
    assert split is not None
    assert (split.clock, split.whole_ns) == ("device", 200)
    on_host = time_split(snapshot_of([measured]), clock="host")
    assert on_host is not None
    assert on_host.whole_ns == 100
    mixed = snapshot_of([measured, spans(1, 300, ordinal=1)])
    assert time_split(mixed, clock="device") is None
    either = time_split(mixed)
    assert either is not None
    assert either.clock == "host"


def test_a_pause_inside_a_step_is_no_work() -> None:
    events = [
        state(EngineState.RUNNING, ordinal=0, t_ns=0),
        state(EngineState.PAUSED, ordinal=1, t_ns=36),
        state(EngineState.RUNNING, ordinal=2, t_ns=39),
        spans(0, 0, ordinal=3),
    ]
    split = time_split(snapshot_of(events))
    assert split is not None
    assert split.whole_ns == 97
    assert split.other_ns == 10 - 3


def test_pauses_add_up_over_time() -> None:
    events = [
        state(EngineState.PAUSED, ordinal=0, t_ns=10),
        state(EngineState.RUNNING, ordinal=1, t_ns=15),
        state(EngineState.PAUSED, ordinal=2, t_ns=20),
    ]
    model = model_of(events)
    moments = np.array([0, 10, 12, 15, 19, 20, 23])
    assert paused_until(model.snapshot(30), moments).tolist() == [0, 0, 2, 5, 5, 5, 8]
    assert paused_until(snapshot_of([]), moments).tolist() == [0] * 7


def test_without_spans_there_is_no_split() -> None:
    assert time_split(snapshot_of(drafted([1], 2))) is None
    assert time_split(snapshot_of([])) is None


def test_a_scripted_session_is_accounted_for() -> None:
    script = EventScript()
    script.say(
        CalibrationMeasured(
            context_length=0, draft_forward_ns=1, target_widths=(1,), target_forward_ns=(9,),
            elapsed_ns=5_000,
        )
    )  # fmt: skip
    script.sequence("ab")  # started at event 7
    script.say(
        CalibrationMeasured(
            context_length=0, draft_forward_ns=1, target_widths=(1, 2), target_forward_ns=(9, 9),
            elapsed_ns=700,
        )
    )  # fmt: skip
    script.step(drafted=2, accepted=2)
    script.state(EngineState.PAUSED)
    script.state(EngineState.RUNNING)
    script.step(drafted=2, accepted=2)
    snapshot = snapshot_of(script.events)
    time = session_time(snapshot)
    first, last = int(snapshot.sequences["t_ns"][0]), int(snapshot.steps["t_ns"][-1])
    assert time.whole_ns == last - first
    assert time.step_ns == int(snapshot.steps["step_ns"].sum())
    assert time.prefill_ns == int(snapshot.prefills["host_ns"].sum()) > 0
    assert time.calibration_ns == 700
    assert time.paused_ns == TICK_NS
    parts = (time.step_ns, time.prefill_ns, time.calibration_ns, time.paused_ns, time.other_ns)
    assert sum(parts) == time.whole_ns
    assert session_time(snapshot_of([])).whole_ns == 0
