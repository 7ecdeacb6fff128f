"""How large a Chrome trace will be, before it is written."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from engine.wire.events import (
    BlocksAllocated,
    BlocksFreed,
    DraftVerified,
    Event,
    Fate,
    GpuSampled,
    HostSampled,
    KernelsRecorded,
    SpansMeasured,
)
from sessions.export.options import StepRange, TimeRange, select
from sessions.export.ranges import PER_TOKEN

# Bytes, measured on written files.
_RANGE = 130
_PROPOSAL = 100
_DRAFTED = 75  # a token in the draft's and in the verify's arguments
_VERDICT = 200
_REJECTION = 225
_COUNTER = 105
_KERNEL = 230
_FLOW = 205
_GZIP_SHARE = 0.1


@dataclass
class TraceCounts:
    """What decides the size; to be counted from events, or filled from what is known anyway."""

    n_steps: int = 0  # measured ones
    n_spans: int = 0
    n_token_spans: int = 0  # of these, draft_forward
    n_gpu_spans: int = 0  # with a time on the device, once a step
    n_gpu_token_spans: int = 0  # and once a token
    n_verdicts: int = 0
    n_draft_tokens: int = 0
    n_rejections: int = 0
    n_readings: int = 0  # single readings, and changes of blocks
    n_kernels: int = 0

    @classmethod
    def of(cls, events: Iterable[Event], part: StepRange | TimeRange | None = None) -> Self:
        """The counts of a session, or of a part of it."""
        counts = cls()
        for event, is_kept in select(events, part):
            if is_kept:
                counts.note(event)
        return counts

    def note(self, event: Event) -> None:
        match event:
            case SpansMeasured():
                self.n_steps += 1
                self.n_spans += len(event.names)
                self.n_token_spans += event.names.count(PER_TOKEN)
                for name, start_ns in zip(event.names, event.gpu_start_ns, strict=False):
                    self.n_gpu_token_spans += start_ns is not None and name == PER_TOKEN
                    self.n_gpu_spans += start_ns is not None and name != PER_TOKEN
            case DraftVerified():
                self.n_verdicts += 1
                self.n_draft_tokens += len(event.fates)
                self.n_rejections += Fate.REJECTED in event.fates
            case BlocksAllocated() | BlocksFreed() | HostSampled():
                self.n_readings += 1
            case GpuSampled():
                self.n_readings += 3
            case KernelsRecorded():
                self.n_kernels += len(event.names)

    def trace_bytes(self, *, per_step: bool = False, is_gzipped: bool = False) -> int:
        """The expected size in bytes; right within a third for sessions of more than a few
        steps."""
        size = 1500 + _FLOW * self.n_steps + _COUNTER * (self.n_readings + self.n_verdicts)
        size += _RANGE * self.n_gpu_spans
        if per_step:
            size += _RANGE * (self.n_spans - self.n_token_spans)
        else:
            size += _RANGE * (self.n_spans + self.n_gpu_token_spans) + _KERNEL * self.n_kernels
            size += (_PROPOSAL + _VERDICT) * self.n_verdicts
            size += _DRAFTED * self.n_draft_tokens + _REJECTION * self.n_rejections
        return round(size * _GZIP_SHARE) if is_gzipped else size
