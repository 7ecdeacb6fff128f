"""The engine in this process: one prompt at a time, timed as a whole."""

import time
from dataclasses import dataclass, field

from engine.assembly import Parts, put_together
from engine.telemetry.cuda_timer import CudaTimer
from engine.telemetry.emitter import Emitter
from engine.telemetry.spans import SpanRecorder
from engine.wire.commands import SubmitPrompt
from engine.wire.config import RunConfig
from engine.wire.events import (
    DraftVerified,
    Event,
    Fate,
    LogEmitted,
    PrefillCompleted,
    SpansMeasured,
    StepCommitted,
)

N_WARM_UP_STEPS = 2


@dataclass(frozen=True)
class Run:
    """One prompt decoded: its output, and the wall time from prompt ids to the last token, prefill
    included; ``prefill_s`` of it is that of the prompt, where it was told apart."""

    token_ids: list[int]
    elapsed_s: float
    prefill_s: float | None = None


@dataclass
class SpanTotals:
    """Span times of all runs, ns; ``verify_ns`` by number of tokens verified at once. Steps whose
    time is no measure are counted and not timed."""

    step_ns: int = 0
    forward_ns: int = 0
    draft_forward_ns: list[int] = field(default_factory=list)
    verify_ns: dict[int, list[int]] = field(default_factory=dict)
    verify_bytes: int = 0  # moved by the target's forwards, counted from shapes
    all_verify_ns: int = 0
    n_syncs: list[int] = field(default_factory=list)  # of each step; none on a CPU
    n_accepted: int = 0
    n_tested: int = 0
    n_drafted: int = 0
    n_steps: int = 0
    n_committed: int = 0

    def add(self, events: list[Event]) -> None:
        """Fold the events of one run of one sequence at a time."""
        widths: dict[int, int] = {}
        profiled: set[int] = set()
        for event in events:
            match event:
                case DraftVerified():
                    accepted = sum(fate is Fate.ACCEPTED for fate in event.fates)
                    rejected = sum(fate is Fate.REJECTED for fate in event.fates)
                    self.n_accepted += accepted
                    self.n_tested += accepted + rejected
                    self.n_drafted += len(event.fates)
                    has_all = event.extra_origin is not None  # else cut short by a stop
                    widths[event.step] = len(event.fates) + 1 if has_all else 0
                case StepCommitted():
                    self.n_steps += 1
                    self.n_committed += len(event.token_ids)
                    if event.is_profiled:
                        profiled.add(event.step)
                    else:
                        self.step_ns += event.step_ns
                case SpansMeasured() if event.step not in profiled:
                    self._add_spans(event, widths.get(event.step, 0))

    def _add_spans(self, event: SpansMeasured, width: int) -> None:
        if event.n_syncs is not None:
            self.n_syncs.append(event.n_syncs)
        n_forwards = event.n_forwards or (1,) * len(event.names)
        for name, host_ns, gpu_ns, n_bytes, n in zip(
            event.names, event.host_ns, event.gpu_ns, event.n_bytes, n_forwards, strict=True
        ):
            ns = host_ns if gpu_ns is None else gpu_ns  # on CUDA the host's is the launch alone
            if name == "draft_forward":
                self.draft_forward_ns += [ns // n] * n  # a captured draft is one span
                self.forward_ns += ns
            elif name == "verify":
                self.forward_ns += ns
                self.all_verify_ns += ns
                self.verify_bytes += n_bytes or 0
                if width:
                    self.verify_ns.setdefault(width, []).append(ns)

    @property
    def overhead_share(self) -> float | None:
        """Share of the steps' time outside the models' forwards."""
        return 1.0 - self.forward_ns / self.step_ns if self.step_ns else None

    @property
    def acceptance_rate(self) -> float | None:
        return self.n_accepted / self.n_tested if self.n_tested else None

    @property
    def bytes_per_s(self) -> dict[str, float] | None:
        """What the target's forwards move, over the time of the whole steps and over their own."""
        if not self.step_ns or not self.all_verify_ns:
            return None
        return {
            "steps": 1e9 * self.verify_bytes / self.step_ns,
            "forwards": 1e9 * self.verify_bytes / self.all_verify_ns,
        }


class OurSide:
    """One way of decoding with loaded models."""

    def __init__(self, config: RunConfig, parts: Parts) -> None:
        self._events: list[Event] = []
        self.warnings: list[str] = []  # of all runs, such as that graphs cannot be captured
        emitter = Emitter(self._take)
        is_cuda = parts.target.device.type == "cuda"
        spans = SpanRecorder(emitter, gpu_timer=CudaTimer() if is_cuda else None)
        self._engine = put_together(config, parts, emitter=emitter, spans=spans, rest=_go_on)
        self.totals = SpanTotals()

    def _take(self, event: Event) -> None:
        self._events.append(event)
        if isinstance(event, LogEmitted) and event.level == "warning":
            self.warnings.append(event.message)

    def warm_up(self, prompt: str) -> None:
        """The first steps of ``prompt``, before which all is captured that decoding it needs: to be
        called for every prompt, the shortest first, as an engine looks at those it has not seen the
        like of."""
        sequence_id = self._engine.submit(SubmitPrompt(text=prompt))
        for _ in range(N_WARM_UP_STEPS):
            if self._engine.has_work:
                self._engine.step()
        if self._engine.has_work:
            self._engine.stop(sequence_id)

    def run(self, prompt: str, *, is_counted: bool = True) -> Run:
        """Decode ``prompt``; ``is_counted`` False for a warm-up."""
        self._events.clear()
        start = time.perf_counter()
        self._engine.submit(SubmitPrompt(text=prompt))
        while self._engine.has_work:
            self._engine.step()
        elapsed_s = time.perf_counter() - start
        token_ids: list[int] = []
        prefill_ns = 0
        for event in self._events:
            if isinstance(event, StepCommitted):
                token_ids += event.token_ids
            elif isinstance(event, PrefillCompleted):
                prefill_ns += event.host_ns
        if is_counted:
            self.totals.add(self._events)
        return Run(token_ids, elapsed_s, prefill_ns / 1e9)


def _go_on(resting_point: str) -> None:
    """Nobody pauses a benchmark."""
