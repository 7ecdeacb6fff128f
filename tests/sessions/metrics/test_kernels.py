"""Gaps between kernels, kernels by name, and what recording them cost."""

import pytest
from msgspec.structs import replace

from engine.wire.events import Event, KernelsRecorded, ModelLoaded, SpansMeasured, StepCommitted
from sessions.metrics.costs import MIN_PLAIN_SPANS, measured_costs
from sessions.metrics.counts import count
from sessions.metrics.kernels import (
    launch_gaps,
    recording_cost,
    tensor_core_share,
    uses_tensor_cores,
)
from sessions.metrics.over_time import engine_steps, tokens_per_second
from sessions.metrics.selection import Selection
from sessions.metrics.time_split import session_time, time_split
from tests.sessions.played import snapshot_of
from tests.support.event_script import EventScript


def session(
    *kernels: tuple[str, int, int, int], n_steps: int = 4, device: str = "cuda:0"
) -> list[Event]:
    """Step 1 of several has ``kernels``: name, start, length (ns) and index of their span. Each
    step takes 100 ns, the one that was recorded 300."""
    script = EventScript()
    script.sequence()
    for _ in range(n_steps):
        script.step()
    names, starts, lengths, spans = zip(*kernels, strict=True) if kernels else ((),) * 4
    script.say(
        KernelsRecorded(
            step=1,
            names=names,
            streams=(7,) * len(names),
            start_ns=starts,
            duration_ns=lengths,
            span_indexes=spans,
            recording_ns=5_000,
            clock_error_ns=40,
        )
    )
    script.finish()
    events: list[Event] = []
    for event in script.events:
        if isinstance(event, StepCommitted):
            is_profiled = event.step == 1
            event = replace(event, step_ns=300 if is_profiled else 100, is_profiled=is_profiled)
        elif isinstance(event, ModelLoaded):
            event = replace(event, device=device)
        events.append(event)
    return events


def index_of(name: str) -> int:
    """Where a scripted step has its first span of that name."""
    spans = next(event for event in session() if isinstance(event, SpansMeasured))
    return spans.names.index(name)


def test_gaps_are_where_nothing_runs() -> None:
    step = index_of("step")
    snapshot = snapshot_of(
        session(("a", 10, 10, step), ("b", 15, 10, step), ("c", 30, 5, step), ("d", 31, 1, step))
    )
    gaps = launch_gaps(snapshot)
    assert gaps is not None
    assert (gaps.n_stretches, gaps.n_kernels, gaps.n_gaps) == (1, 4, 1)
    assert (gaps.busy_ns, gaps.gap_ns, gaps.median_gap_ns) == (20, 5, 5.0)
    assert gaps.gap_share == 0.2


def test_gaps_within_the_spans_of_a_name() -> None:
    forward, verify = index_of("draft_forward"), index_of("verify")
    snapshot = snapshot_of(
        session(
            ("a", 0, 10, forward), ("b", 30, 10, forward), ("c", 100, 5, -1),
            ("v", 50, 20, verify), ("x", 60, 1, -1),
        )
    )  # fmt: skip
    gaps = launch_gaps(snapshot, span_name="draft_forward")
    assert gaps is not None
    assert (gaps.n_stretches, gaps.n_kernels, gaps.gap_ns, gaps.busy_ns) == (1, 2, 20, 20)
    of_verify = launch_gaps(snapshot, span_name="verify")
    assert of_verify is not None
    assert (of_verify.n_kernels, of_verify.gap_ns, of_verify.median_gap_ns) == (1, 0, None)
    assert launch_gaps(snapshot, span_name="commit") is None
    assert launch_gaps(snapshot, Selection(first_step=2)) is None


def test_operators_of_a_cpu_are_no_kernels() -> None:
    snapshot = snapshot_of(session(("aten::mm", 0, 10, 0), device="cpu"))
    assert launch_gaps(snapshot) is None
    assert tensor_core_share(snapshot) is None
    assert recording_cost(snapshot) is not None


def test_the_share_of_tensor_core_kernels() -> None:
    verify = index_of("verify")
    snapshot = snapshot_of(
        session(("nvjet_tst_64x8", 0, 30, verify), ("rms_norm_kernel", 40, 10, 0))
    )
    assert tensor_core_share(snapshot) == 0.75
    assert tensor_core_share(snapshot, span_name="verify") == 1.0


@pytest.mark.parametrize(
    ("name", "uses"),
    [
        ("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn", True),
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64", True),
        ("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu>(...)", True),
        ("void pytorch_flash::flash_fwd_splitkv_kernel<...>", True),
        ("void gemv2T_kernel_val<int, int, __nv_bfloat16>", False),
        ("void at::native::vectorized_elementwise_kernel<4, ...>", False),
        ("Memcpy DtoH (Device -> Pageable)", False),
    ],
)
def test_names_of_tensor_core_kernels(name: str, uses: bool) -> None:
    assert uses_tensor_cores(name) == uses


def test_figures_of_time_leave_recorded_steps_out() -> None:
    events = session(("a", 0, 1, 0))
    snapshot = snapshot_of(events)
    steps = engine_steps(snapshot)
    assert steps.step.tolist() == [0, 2, 3]
    assert steps.total_ns == 300
    assert tokens_per_second(snapshot) == pytest.approx(int(steps.n_committed.sum()) * 1e9 / 300)
    split = time_split(snapshot)
    assert split is not None
    assert split.n_steps == 3
    assert session_time(snapshot).step_ns == 600, "they are part of the time that passed"
    assert count(snapshot).n_engine_steps == 4, "their tokens are as good as any"


def test_a_session_whose_every_step_was_recorded_has_no_speed() -> None:
    events = [
        replace(event, is_profiled=True) if isinstance(event, StepCommitted) else event
        for event in session()
    ]
    snapshot = snapshot_of(events)
    assert tokens_per_second(snapshot) is None
    assert time_split(snapshot) is None


def test_costs_leave_recorded_steps_out() -> None:
    """Plain steps of 10 ns, and as many that took 50 while they were recorded."""
    script = EventScript(n_blocks=4096)
    script.sequence(max_new_tokens=1000)
    for _ in range(2 * MIN_PLAIN_SPANS):
        script.step(drafted=0, accepted=0)
    events: list[Event] = []
    for event in script.events:
        if isinstance(event, SpansMeasured):
            ns = 50 if event.step % 2 else 10
            event = replace(event, host_ns=(ns,) * len(event.names))
        elif isinstance(event, StepCommitted):
            event = replace(event, is_profiled=event.step % 2 == 1)
        events.append(event)
    costs = measured_costs(snapshot_of(events))
    assert costs is not None
    assert costs.plain_ns == 10.0


def test_what_recording_cost() -> None:
    cost = recording_cost(snapshot_of(session(("a", 0, 1, 0), ("b", 2, 1, 0))))
    assert cost is not None
    assert (cost.n_steps, cost.n_kernels, cost.recording_ns) == (1, 2, 5_000)
    assert (cost.slowdown, cost.clock_error_ns, cost.ns_per_step) == (3.0, 40, 5_000.0)
    assert recording_cost(snapshot_of([])) is None
    of_nothing = recording_cost(snapshot_of(session()))
    assert of_nothing is not None
    assert of_nothing.n_kernels == 0
