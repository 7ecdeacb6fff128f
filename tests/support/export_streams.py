"""Streams to export: scripted ones with clear spans, kernels, interruptions."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from engine.wire.events import (
    DraftVerified,
    EndReason,
    Event,
    GpuSampled,
    HostSampled,
    KernelsRecorded,
    ModelLoaded,
    Role,
    SessionEnded,
    SpansMeasured,
)
from tests.support.event_script import TICK_NS, EventScript

SPAN_NS = 300
"""Length of the innermost spans, and of the gaps beside them."""


def clear_spans(step: int, start_ns: int, *, n_forwards: int = 2) -> SpansMeasured:
    """Spans as the engine measures them: each a little inside the one around it."""
    at = start_ns
    rows: list[tuple[str, Role | None, int, int]] = []
    draft_start = at + SPAN_NS
    at = draft_start + SPAN_NS
    forwards = []
    for _ in range(n_forwards):
        forwards.append(("draft_forward", Role.DRAFT, at, SPAN_NS))
        at += 2 * SPAN_NS
    rows += [("draft", Role.DRAFT, draft_start, at - draft_start), *forwards]
    for name, role in (("verify", Role.TARGET), ("sample", None), ("commit", None)):
        at += SPAN_NS
        rows.append((name, role, at, SPAN_NS))
        at += SPAN_NS
    rows.insert(0, ("step", None, start_ns, at + SPAN_NS - start_ns))
    names, roles, starts, lengths = zip(*rows, strict=True)
    nothing = (None,) * len(rows)
    return SpansMeasured(
        step=step,
        names=names,
        roles=roles,
        start_ns=starts,
        host_ns=lengths,
        gpu_ns=nothing,
        n_flops=nothing,
        n_bytes=nothing,
    )


def with_clear_spans(events: list[Event]) -> list[Event]:
    """The script's own spans begin together; these do not."""
    changed: list[Event] = []
    for event in events:
        if isinstance(event, SpansMeasured):
            clear = clear_spans(event.step, event.start_ns[0])
            event = msgspec.structs.replace(clear, ordinal=event.ordinal, t_ns=event.t_ns)
        changed.append(event)
    return changed


def kernels_of(spans: SpansMeasured, *, lateness_ns: int = 50) -> KernelsRecorded:
    """One kernel a span, named after it, on stream 7, beginning ``lateness_ns`` into it."""
    n = len(spans.names)
    return KernelsRecorded(
        step=spans.step,
        names=tuple(f"void ours::{name}_kernel<float>(float*)" for name in spans.names),
        streams=(7,) * n,
        start_ns=tuple(start + lateness_ns for start in spans.start_ns),
        duration_ns=(20,) * n,
        span_indexes=tuple(range(n)),
    )


def gpu_session(n_steps: int = 3, *, lateness_ns: int = 50) -> list[Event]:
    """A session on a GPU, with kernels and samples."""
    script = EventScript()
    script.sequence()
    for _ in range(n_steps):
        step = script.step()
        start_ns = script.events[-1].start_ns[0]  # type: ignore[union-attr]
        clear = clear_spans(step, start_ns)
        script.events.pop()
        script.say(clear)
        script.say(kernels_of(clear, lateness_ns=lateness_ns))
        script.say(
            GpuSampled(
                device_uuid="GPU-1",
                utilization_pct=61.6,
                memory_used_bytes=3 << 30,
                memory_total_bytes=80 << 30,
                power_mw=None,
                temperature_c=40,
                sm_clock_mhz=1755,
                sm_active_pct=12.4,
                missing=("power_mw: not supported",),
            )
        )
    script.finish()
    return [
        msgspec.structs.replace(event, device="cuda:0") if isinstance(event, ModelLoaded) else event
        for event in script.events
    ]


def plain_session(n_steps: int = 3) -> list[Event]:
    """A CPU session of one sequence."""
    script = EventScript()
    script.sequence()
    for _ in range(n_steps):
        script.step()
    script.say(
        HostSampled(
            process_cpu_pct=150.0,
            system_cpu_pct=80.0,
            process_memory_bytes=5 << 20,
            system_memory_used_bytes=6 << 30,
            system_memory_total_bytes=8 << 30,
        )
    )
    script.finish()
    return script.events


def two_sequences() -> list[Event]:
    """Two sequences decoded together; one is set back and comes again."""
    script = EventScript()
    script.sequence("ab")
    script.sequence("xyz")
    for _ in range(3):
        script.step(0, more=True)
        script.step(1, accepted=4)
    script.set_back(1)
    script.step(0)
    script.resume(1)
    script.step(0, more=True)
    script.step(1, accepted=0)
    script.finish()
    return script.events


def cancelled_inside_verify() -> list[Event]:
    """Two whole steps, then a third that was proposed and never judged."""
    script = EventScript()
    script.sequence()
    for _ in range(3):
        script.step()
    is_last_verdict = [isinstance(event, DraftVerified) for event in script.events]
    cut = len(is_last_verdict) - 1 - is_last_verdict[::-1].index(True)
    events = script.events[:cut]
    ended = SessionEnded(reason=EndReason.CRASHED, ordinal=cut, t_ns=cut * TICK_NS)
    return [*events, ended]


def long_session(n_steps: int, *, n_drafted: int = 4) -> Iterator[Event]:
    """A session of any length, made as it is read: two whole steps, said again and again."""
    script = EventScript(n_blocks=1 << 12)
    script.sequence(max_new_tokens=1 << 30)
    yield from script.events
    ordinal = len(script.events)
    known = len(script.events)
    script.step(drafted=n_drafted, accepted=n_drafted // 2)
    template = script.events[known:]
    for step in range(n_steps):
        for event in template:
            t_ns = ordinal * TICK_NS
            changes: dict[str, object] = {"ordinal": ordinal, "t_ns": t_ns}
            if isinstance(event, SpansMeasured):
                event = clear_spans(step, t_ns - 5 * TICK_NS, n_forwards=n_drafted)
            elif hasattr(event, "step"):
                changes["step"] = step
            yield msgspec.structs.replace(event, **changes)
            ordinal += 1
    ended = SessionEnded(reason=EndReason.FINISHED, ordinal=ordinal, t_ns=ordinal * TICK_NS)
    yield ended


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
