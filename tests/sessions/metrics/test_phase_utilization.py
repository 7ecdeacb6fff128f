"""What a phase used of the device: by counters where it lasts, else counted."""

import dataclasses

import pytest
from msgspec.structs import replace

from engine.wire.events import (
    Event,
    GpuSampled,
    ModelLoaded,
    PrefillCompleted,
    Role,
    SessionStarted,
    SpansMeasured,
)
from sessions.metrics.phase_utilization import (
    COUNTERS_REACH_NS,
    PhaseUtilization,
    phase_utilization,
)
from sessions.metrics.selection import Selection
from tests.sessions.played import snapshot_of

S = 1_000_000_000
H100 = "NVIDIA H100 80GB HBM3"


def started(device_name: str = H100) -> list[Event]:
    return [
        SessionStarted(
            ordinal=0, t_ns=0, schema_version=1, started_unix_ns=1, specscope_version="0",
            torch_version="0", device_name=device_name, config_json="{}",
        ),
        ModelLoaded(
            ordinal=1, t_ns=1, role=Role.TARGET, name="t", n_parameters=1, vocab_size=1,
            context_length=1, dtype="bfloat16", device="cuda:0", weight_bytes=1, load_ns=1,
        ),
    ]  # fmt: skip


def prefill(start_ns: int, host_ns: int) -> Event:
    return PrefillCompleted(
        ordinal=0, t_ns=start_ns + host_ns, sequence_id=0, role=Role.TARGET, n_tokens=4,
        start_ns=start_ns, host_ns=host_ns, gpu_ns=None, n_flops=989 * 10**12, n_bytes=335 * 10**9,
    )  # fmt: skip


def sample(t_ns: int, tensor: float | None, dram: float | None) -> Event:
    return GpuSampled(
        ordinal=0, t_ns=t_ns, device_uuid="GPU-1", utilization_pct=None, memory_used_bytes=None,
        memory_total_bytes=None, power_mw=None, temperature_c=None, sm_clock_mhz=None,
        tensor_active_pct=tensor, dram_active_pct=dram,
    )  # fmt: skip


def told(*events: Event) -> list[Event]:
    """In the order of time, numbered."""
    ordered = sorted((*started(), *events), key=lambda event: event.t_ns)
    return [replace(event, ordinal=n) for n, event in enumerate(ordered)]


def test_a_phase_that_lasts_is_told_by_the_counters_within_it() -> None:
    events = told(
        prefill(1 * S, 2 * S),
        sample(1 * S + COUNTERS_REACH_NS - 1, 99.0, 99.0),  # looks back on what came before
        sample(2 * S, 60.0, 20.0),
        sample(2 * S + S // 2, 70.0, None),
        sample(3 * S + 1, 99.0, 99.0),  # behind its end
    )
    (found,) = phase_utilization(snapshot_of(events))
    assert (found.phase, found.source, found.n) == ("prefill", "counters", 2)
    assert (found.compute_pct, found.bandwidth_pct) == (65.0, 20.0)


def test_a_short_phase_is_counted_against_the_peaks() -> None:
    events = told(prefill(1 * S, S // 5), sample(1 * S + S // 10, 60.0, 20.0))
    (found,) = phase_utilization(snapshot_of(events))
    assert (found.source, found.n) == ("counted", 1)
    assert found.compute_pct == pytest.approx(
        500.0, rel=1e-3
    )  # of 989 dense TFLOP/s, were it so quick
    assert found.bandwidth_pct == pytest.approx(50.0)  # of 3.35 TB/s


def test_a_device_without_known_peaks_and_counters_has_no_shares() -> None:
    events = [*started("some processor"), prefill(2, S)]
    (found,) = phase_utilization(snapshot_of(events))
    assert (found.source, found.compute_pct, found.bandwidth_pct) == ("counted", None, None)
    assert phase_utilization(snapshot_of([])) == ()


def test_of_what_was_queued_counters_tell_nothing() -> None:
    """A verification is queued while its draft still runs: the host's clock does not part them."""
    spans = SpansMeasured(
        ordinal=0, t_ns=6 * S, step=0, names=("draft_forward", "verify"),
        roles=(Role.DRAFT, Role.TARGET), start_ns=(1 * S, 1 * S + 1), host_ns=(1, 1),
        gpu_ns=(2 * S, 2 * S), gpu_start_ns=(1 * S, 3 * S), n_flops=(10, 10), n_bytes=(10, 10),
    )  # fmt: skip
    found = phase_utilization(snapshot_of(told(spans, sample(2 * S, 10.0, 80.0))))
    assert [(each.phase, each.source) for each in found] == [
        ("draft", "counted"), ("verify", "counted")
    ]  # fmt: skip


def test_counters_of_another_sequences_prefill_are_not_this_ones() -> None:
    events = snapshot_of(told(prefill(1 * S, 2 * S), sample(2 * S, 60.0, 20.0)))
    (own,) = phase_utilization(events, Selection(0))
    assert own.source == "counters"
    assert phase_utilization(events, Selection(1)) == ()


def test_counted_work_is_called_arithmetic_whatever_computed_it() -> None:
    busy = PhaseUtilization(
        phase="verify", source="counted", n=1, compute_pct=3.0, bandwidth_pct=60.0
    )
    assert busy.words == "bandwidth 60 %, arithmetic 3 %"
    by_counters = dataclasses.replace(busy, source="counters")
    assert by_counters.words == "bandwidth 60 %, tensor cores 3 %"
