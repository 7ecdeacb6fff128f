"""What a forward costs on this machine: measured, not assumed, in under a second on small models.

The target's forward at each width up to gamma + 1 is timed behind as many forwards of the draft as
a step of that width has, since what ran before decides what the processor still holds. Round by
round, on throw-away caches of the length that is being decoded, so that a drift of the machine's
speed touches all of them alike.
"""

import statistics
from collections.abc import Callable
from dataclasses import dataclass

import torch

from engine.gamma import StepCosts
from engine.kv.base import ForwardRow
from engine.kv.block_table import blocks_for
from engine.kv.paged_cache import PagedCache
from engine.models.base import CausalModel
from engine.wire.events import CalibrationMeasured, Event, Role

BUDGET_NS = 600_000_000
MAX_ROUNDS = 15
GROWTH = 2
"""A calibration holds until the context is this many times as long (and some more)."""
MIN_GROWTH_TOKENS = 256
_SEQUENCE = 0
_FILLING = 0.01


@dataclass(frozen=True)
class Calibration:
    """Medians in ns; ``target_forward_ns[w - 1]`` is width w."""

    context_length: int
    draft_forward_ns: int | None
    target_forward_ns: tuple[int, ...]
    elapsed_ns: int
    # Shares of a draft's time in which the device waits for the host: as it runs, and with its
    # kernels launched one by one. None where they are not told apart.
    draft_launch_share: float | None = None
    uncaptured_launch_share: float | None = None

    @property
    def costs(self) -> StepCosts:
        """In target forwards of width 1; c is 0 where no model drafts."""
        plain_ns = self.target_forward_ns[0]
        return StepCosts(
            c=(self.draft_forward_ns or 0) / plain_ns,
            verify_costs=tuple(width_ns / plain_ns for width_ns in self.target_forward_ns),
        )

    def event(self) -> CalibrationMeasured:
        return CalibrationMeasured(
            context_length=self.context_length,
            draft_forward_ns=self.draft_forward_ns,
            target_widths=tuple(range(1, len(self.target_forward_ns) + 1)),
            target_forward_ns=self.target_forward_ns,
            draft_launch_share=self.draft_launch_share,
            uncaptured_launch_share=self.uncaptured_launch_share,
            elapsed_ns=self.elapsed_ns,
        )

    def is_outgrown(self, context_length: int) -> bool:
        return context_length > GROWTH * self.context_length + MIN_GROWTH_TOKENS


class _Bench:
    """One model on a throw-away cache that pretends to hold a context."""

    def __init__(self, role: Role, model: CausalModel, context_length: int, max_width: int) -> None:
        block_size = 16
        self.model = model
        self.held = max(0, min(context_length, model.context_length - max_width))
        self.cache = PagedCache(
            role,
            model.layer_kv_shapes(),
            n_blocks=blocks_for(self.held + max_width, block_size),
            block_size=block_size,
            dtype=model.dtype,
            device=model.device,
            say=_ignore,
        )
        self.cache.open(_SEQUENCE, n_positions=self.held + max_width)
        if self.held:  # which values they are does not matter for the time
            self.cache.batch([ForwardRow(_SEQUENCE, [0] * self.held)], device=model.device)
            self.cache.fill(_FILLING)

    def time_ns(self, width: int, now_ns: Callable[[], int]) -> int:
        start_ns = now_ns()
        batch = self.cache.batch([ForwardRow(_SEQUENCE, [0] * width)], device=self.model.device)
        self.model.forward(batch, self.cache, n_logits=width)
        if self.model.device.type == "cuda":
            torch.cuda.synchronize(self.model.device)
        elapsed_ns = now_ns() - start_ns
        self.cache.table(_SEQUENCE).length = self.held
        return elapsed_ns


def calibrate(
    target: CausalModel,
    draft: CausalModel | None,
    *,
    context_length: int,
    max_width: int,
    now_ns: Callable[[], int],
    budget_ns: int = BUDGET_NS,
) -> Calibration:
    """Time the forwards at ``context_length`` cached tokens, one sequence, widths 1 ..
    ``max_width``.

    One warm-up and at least one counted round are always run, whatever the budget.
    """
    started_ns = now_ns()
    target_bench = _Bench(Role.TARGET, target, context_length, max_width)
    draft_bench = _Bench(Role.DRAFT, draft, context_length, 1) if draft is not None else None
    widths = range(1, max_width + 1)
    for width in widths:
        target_bench.time_ns(width, now_ns)
    if draft_bench:
        draft_bench.time_ns(1, now_ns)
    target_times: list[list[int]] = [[] for _ in widths]
    draft_times: list[int] = []
    for _ in range(MAX_ROUNDS):
        for times, width in zip(target_times, widths, strict=True):
            if draft_bench:
                draft_times += [draft_bench.time_ns(1, now_ns) for _ in range(width - 1)]
            times.append(target_bench.time_ns(width, now_ns))
        round_ns = (now_ns() - started_ns) / (len(target_times[0]) + 1)
        if now_ns() - started_ns + round_ns > budget_ns:
            break
    return Calibration(
        context_length=target_bench.held,
        draft_forward_ns=median_ns(draft_times) if draft_times else None,
        target_forward_ns=tuple(median_ns(times) for times in target_times),
        elapsed_ns=now_ns() - started_ns,
    )


def median_ns(times: list[int]) -> int:
    """At least 1, so that it can be divided by."""
    return max(1, round(statistics.median(times)))


def _ignore(event: Event) -> None:
    """Throw-away caches are not part of the session."""
