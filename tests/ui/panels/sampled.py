"""Samples of a device and of the host, and spans with counts, digested."""

from engine.wire.events import Event, GpuSampled, HostSampled, Role, SequenceStarted, SpansMeasured
from tests.sessions.played import snapshot_of
from ui.moment import Moment
from ui.panels.utilization_digest import Utilization, utilization

SECOND = 10**9


def started() -> Event:
    return SequenceStarted(
        ordinal=0, t_ns=SECOND, sequence_id=0, prompt_text="a", prompt_token_ids=(1,),
        prompt_token_texts=("a",), max_new_tokens=5, seed=0,
    )  # fmt: skip


def gpu(number: int, **told: object) -> Event:
    values: dict[str, object] = {
        "device_uuid": "g", "utilization_pct": 90.0, "memory_used_bytes": 2**32,
        "memory_total_bytes": 2**34, "power_mw": 300_000, "temperature_c": None,
        "sm_clock_mhz": 1980, "sm_active_pct": 50.0 + number, "dram_active_pct": 70.0,
        "missing": ("temperature_c: not supported", "tensor_active_pct: no counters"),
    }  # fmt: skip
    return GpuSampled(ordinal=number, t_ns=(1 + number) * SECOND, **values | told)


def host(number: int) -> Event:
    return HostSampled(
        ordinal=number, t_ns=(1 + number) * SECOND, process_cpu_pct=150.0, system_cpu_pct=40.0,
        process_memory_bytes=2**30, system_memory_used_bytes=2**31, system_memory_total_bytes=2**33,
    )  # fmt: skip


def spans(number: int) -> Event:
    return SpansMeasured(
        ordinal=number, t_ns=(1 + number) * SECOND, step=0, names=("draft_forward", "verify"),
        roles=(Role.DRAFT, Role.TARGET), start_ns=(SECOND, SECOND + 10), host_ns=(10, 10),
        gpu_ns=(None, None), n_flops=(10**9, 3 * 10**9), n_bytes=(10**6, 10**6),
    )  # fmt: skip


def digested(*told: Event) -> Utilization:
    snapshot = snapshot_of([started(), *told])
    found = utilization(Moment(snapshot=snapshot, newest=snapshot))
    assert isinstance(found, Utilization)
    return found
