"""What a Chrome trace says of tokens, blocks and memory: arguments, instants and counters."""

from collections import deque
from functools import lru_cache
from operator import attrgetter

import msgspec

from engine.wire.events import (
    BlocksAllocated,
    BlocksFreed,
    DraftProposed,
    DraftVerified,
    Event,
    Fate,
    GpuSampled,
    HostSampled,
    Origin,
    Role,
    SequenceSetBack,
)
from sessions.export.trace_file import Lanes, TraceFile, as_json

ROLLING_TOKENS = 64
"""Tested draft tokens over which the acceptance counter is a mean."""


class _Draft(msgspec.Struct, gc=False):
    """What is said of a proposal."""

    sequence_id: int
    position: int
    gamma: int
    token_ids: tuple[int, ...]
    token_texts: tuple[str, ...]
    draft_probs: tuple[float, ...]
    drafter: str
    reason: str


class _Verdict(msgspec.Struct, gc=False):
    """What is said of a verdict."""

    sequence_id: int
    position: int
    token_ids: tuple[int, ...]
    token_texts: tuple[str, ...]
    draft_probs: tuple[float, ...]
    target_probs: tuple[float, ...]
    uniforms: tuple[float, ...]
    fates: tuple[Fate, ...]
    n_accepted: int
    extra_token_id: int | None
    extra_token_text: str | None
    extra_origin: Origin | None


class _Rejected(msgspec.Struct, gc=False):
    """What is said of a draft token that was refused."""

    step: int
    sequence_id: int
    position: int
    token_id: int
    token_text: str
    draft_prob: float
    target_prob: float
    uniform: float


_draft_values = attrgetter(*_Draft.__struct_fields__)
_verdict_values = attrgetter(*_Verdict.__struct_fields__)


class TraceTokens:
    """Keeps a step's tokens until its ranges come. If they never do, the tokens are said by an
    instant, so that nothing is lost."""

    KINDS = frozenset((DraftProposed, DraftVerified, SequenceSetBack))
    """Other events have nothing to say here."""

    def __init__(self, file: TraceFile, lanes: Lanes, *, per_step: bool) -> None:
        self._file = file
        self._lanes = lanes
        self._per_step = per_step
        self._step = -1
        self._waiting: dict[str, list[tuple[bool, DraftProposed | DraftVerified]]] = {}
        self._tested: deque[bool] = deque(maxlen=ROLLING_TOKENS)

    def read(self, event: Event, *, is_kept: bool) -> None:
        if type(event) is DraftProposed:
            if event.step != self._step:
                self.close()
                self._step = event.step
            self._wait("draft", event, is_kept)
        elif type(event) is DraftVerified:
            self._wait("verify", event, is_kept)
            self._judge(event, is_kept)
        elif type(event) is SequenceSetBack and is_kept:
            args = as_json({"sequence_id": event.sequence_id})
            self._file.instant("set back", "sequence", self._target(), event.t_ns, args)

    def take(self, name: str, step: int) -> str:
        """The sequences of a range in JSON, "" where it has none: the first ``draft`` and
        ``verify`` of a step get the tokens of all its sequences."""
        if name not in self._waiting or step != self._step:
            return ""
        waiting = self._waiting.pop(name)
        return as_json([_arguments(event) for _, event in waiting])

    def close(self) -> None:
        """Say what still waits."""
        for name, waiting in self._waiting.items():
            for is_kept, event in waiting:
                if is_kept:
                    args = as_json({"step": event.step, "sequences": [_arguments(event)]})
                    self._file.instant(f"{name} tokens", "tokens", self._target(), event.t_ns, args)
        self._waiting.clear()

    def _wait(self, name: str, event: DraftProposed | DraftVerified, is_kept: bool) -> None:
        if not self._per_step:
            self._waiting.setdefault(name, []).append((is_kept, event))

    def _judge(self, event: DraftVerified, is_kept: bool) -> None:
        accepted, discarded = Fate.ACCEPTED, Fate.DISCARDED
        tested = [fate is accepted for fate in event.fates if fate is not discarded]
        self._tested.extend(tested)
        if not is_kept or not tested:
            return
        rate = _rate(self._tested.count(True), len(self._tested))
        self._file.counter("rolling acceptance", event.t_ns, rate)
        if tested[-1] or self._per_step:
            return
        index = len(tested) - 1
        rejected = _Rejected(
            event.step,
            event.sequence_id,
            event.position + index,
            event.token_ids[index],
            event.token_texts[index],
            event.draft_probs[index],
            event.target_probs[index],
            event.uniforms[index],
        )
        args = as_json(rejected)
        self._file.instant("rejected", "tokens", self._target(), event.t_ns, args)

    def _target(self) -> int:
        return self._lanes.tid("target")


class TraceReadings:
    """Counters: blocks in use per role, memory, and the device's readings."""

    KINDS = frozenset((BlocksAllocated, BlocksFreed, HostSampled, GpuSampled))

    def __init__(self, file: TraceFile) -> None:
        self._file = file
        self._n_blocks = {Role.DRAFT: 0, Role.TARGET: 0}
        self._devices: dict[str, int] = {}

    def read(self, event: Event, *, is_kept: bool) -> None:
        match event:
            case BlocksAllocated():
                self._count(event, len(event.physical_blocks), is_kept)
            case BlocksFreed():
                self._count(event, -len(event.physical_blocks), is_kept)
            case HostSampled() if is_kept:
                used = as_json({"process_bytes": event.process_memory_bytes})
                self._file.counter("host memory", event.t_ns, used)
            case GpuSampled() if is_kept:
                self._sample(event)

    def _count(self, event: BlocksAllocated | BlocksFreed, change: int, is_kept: bool) -> None:
        self._n_blocks[event.role] += change
        if is_kept:
            n_blocks = self._n_blocks[event.role]
            self._file.counter(f"{event.role} blocks", event.t_ns, f'{{"n":{n_blocks}}}')

    def _sample(self, event: GpuSampled) -> None:
        device = self._devices.setdefault(event.device_uuid, len(self._devices))
        for name in ("memory_used_bytes", "utilization_pct", "power_mw", "sm_active_pct"):
            value = getattr(event, name)
            if value is not None:  # a counter has no gap: what is missing is not said
                self._file.counter(f"GPU {device} {name}", event.t_ns, as_json({name: value}))


def _arguments(event: DraftProposed | DraftVerified) -> _Draft | _Verdict:
    if isinstance(event, DraftProposed):
        return _Draft(*_draft_values(event))
    return _Verdict(*_verdict_values(event))


@lru_cache(ROLLING_TOKENS**2)
def _rate(n_accepted: int, n_tested: int) -> str:
    return as_json({"acceptance_rate": n_accepted / n_tested})
