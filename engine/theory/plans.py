"""A whole plan from what a person asks: the speed-up at several gammas, or the memory and where it
fits. What the command line prints and the window shows."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.theory.capacity import Capacity, capacity, gpus_that_fit
from engine.theory.footprint import Footprint, footprint
from engine.theory.shape_source import NamedShape
from engine.theory.simple_footprint import simple_footprint
from engine.theory.speedup import BestGamma, best_gamma
from engine.theory.speedup_table import SpeedupPoint, speedup_point, speedup_table
from engine.theory.validate import require_at_least
from engine.theory.workload import WeightFormat, Workload

SHOWN_GAMMAS = frozenset({0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16})
VerifyCosts = float | list[float]
Mode = Literal["exact", "document"]

PART_TEXTS = {
    "target_weights": "target weights",
    "draft_weights": "draft weights",
    "target_kv": "target KV cache",
    "draft_kv": "draft KV cache",
    "lookahead_kv": "KV lookahead, block rests",
    "verify_buffers": "verify buffers",
    "activations": "activations",
    "cuda_context": "CUDA context (allowance)",
    "cuda_graphs": "CUDA graphs (allowance)",
    "padding": "padding, 8 %",
}
"""The parts of ``Footprint.components`` in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedupPlan:
    """The gamma that was asked for, the best one, and several in ascending order."""

    asked: SpeedupPoint
    best: BestGamma
    points: tuple[SpeedupPoint, ...]


def speedup_plan(
    alpha: float,
    gamma: int,
    *,
    c: float,
    v: VerifyCosts = 1.0,
    shown: Collection[int] = SHOWN_GAMMAS,
) -> SpeedupPlan:
    """``shown`` gammas, as far as the table of ``v`` reaches, the asked and the best among them.
    ValueError as in ``expected_speedup``, or a table too short for ``gamma``."""
    best = best_gamma(alpha, c, v=v)
    asked = speedup_point(alpha, gamma, c=c, v=v)
    gammas = sorted(set(shown) | {gamma, best.gamma})
    if isinstance(v, list):
        gammas = [each for each in gammas if each < len(v)]
    return SpeedupPlan(asked=asked, best=best, points=speedup_table(alpha, gammas, c=c, v=v))


def parse_verify_costs(text: str, *, called: str = "v") -> VerifyCosts:
    """A number for every width, or the cost of each from width 1 on: "1,1.02,1.05".
    ValueError: neither."""
    try:
        costs = [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(
            f"{called} must be a number or a list like 1,1.02, got {text!r}."
        ) from None
    return costs[0] if len(costs) == 1 else costs


def with_overhead(v: VerifyCosts, overhead: float) -> VerifyCosts:
    """Verify costs with what a step takes beside its forwards, in plain target forwards.

    A step without a draft is left as it is: ordinary decoding is what speed is relative to.
    ValueError: an overhead that is negative or not finite.
    """
    require_at_least("overhead", overhead, minimum=0.0)
    if isinstance(v, list):
        return [*v[:1], *(cost + overhead for cost in v[1:])]
    return v + overhead


def break_even_text(point: SpeedupPoint) -> str:
    """From which acceptance rate on a gamma pays, in words."""
    if point.gamma == 0:
        return "nothing is drafted at gamma 0"
    if point.break_even_alpha is None:
        return f"gamma {point.gamma} cannot pay, even if every draft token is accepted"
    return f"gamma {point.gamma} pays above alpha {point.break_even_alpha:.3f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPlan:
    """``fitting`` are the known GPUs that hold it, the smallest first; ``room`` what the budget
    holds, known in exact mode and with a budget."""

    need: Footprint
    fitting: tuple[str, ...]
    room: Capacity | None


def memory_plan(
    target: NamedShape,
    draft: NamedShape | None,
    load: Workload,
    *,
    mode: Mode = "exact",
    budget_bytes: float | None = None,
) -> MemoryPlan:
    """What an engine allocates, or in document mode the simple estimate, which takes the round
    sizes that models are called by. ValueError as in ``footprint``, ``simple_footprint`` and
    ``capacity``."""
    room = None
    if mode == "document":
        target, draft = target.with_nominal_size(), draft and draft.with_nominal_size()
        need = simple_footprint(target.shape, draft.shape if draft else None, load)
    else:
        draft_shape = draft.shape if draft else None
        need = footprint(target.shape, draft_shape, load)
        if budget_bytes is not None:
            room = capacity(target.shape, draft_shape, budget_bytes, workload=load)
    return MemoryPlan(need=need, fitting=gpus_that_fit(need), room=room)


def room_text(room: Capacity, load: Workload) -> str:
    """What a budget holds, in words."""
    sequences = "one sequence" if load.batch_size == 1 else f"each of {load.batch_size} sequences"
    return (
        f"room for {room.n_tokens:,} tokens at {room.bytes_per_token:,.0f} B each, "
        f"{room.max_context_length:,} for {sequences}"
    )


def weight_format(bits: float, group_size: int | None = None) -> WeightFormat:
    """Scales come with quantised weights only, and by default with those below 8 bits."""
    if bits >= 16:
        return WeightFormat(bits=bits)
    return WeightFormat(bits=bits, group_size=group_size or (128 if bits < 8 else None))


def fitting_text(fitting: Sequence[str]) -> str:
    """The GPUs, in words."""
    names = [name.removeprefix("NVIDIA ") for name in fitting]
    return ", ".join(names) or "no known GPU: share it among more of them"
