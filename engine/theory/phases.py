"""The forwards of a speculative step on a device: draft, verify, plain decoding, prefill."""

from dataclasses import asdict, dataclass

from engine.theory.devices import DevicePeaks, Precision
from engine.theory.roofline import Floor, ForwardCost, forward_cost, least_time
from engine.theory.shape import ModelShape
from engine.theory.workload import WeightFormat, Workload


@dataclass(frozen=True, slots=True)
class Phase:
    """One kind of forward: how many of them a step makes, the work and the least time of each."""

    name: str
    n_forwards: int
    width: int
    cost: ForwardCost
    floor: Floor

    def record(self) -> dict[str, str | int | float]:
        """All its numbers by name, flat, as JSON can hold them."""
        return {
            "name": self.name,
            "n_forwards": self.n_forwards,
            "width": self.width,
            **asdict(self.cost),
            "n_flops": self.cost.n_flops,
            "n_bytes": self.cost.n_bytes,
            "intensity": self.cost.intensity,
            "bound": str(self.floor.bound),
            "compute_s": self.floor.compute_s,
            "transfer_s": self.floor.transfer_s,
            "floor_s": self.floor.time_s,
        }


@dataclass(frozen=True, slots=True)
class StepFloors:
    """All phases, and what their least times say of the speedup formula's ``c`` and ``v``.

    ``draft`` and ``c`` are None without a draft model; ``verify`` is the plain step for gamma 0.
    """

    decode: Phase
    draft: Phase | None
    verify: Phase
    prefill: Phase

    @property
    def step_s(self) -> float:
        """Seconds of a whole step at least: every draft forward and the verification."""
        draft_s = 0.0 if self.draft is None else self.draft.n_forwards * self.draft.floor.time_s
        return draft_s + self.verify.floor.time_s

    @property
    def c(self) -> float | None:
        """Draft time / target time, one token wide, of the floors."""
        if self.draft is None:
            return None
        return self.draft.floor.time_s / self.decode.floor.time_s

    @property
    def v(self) -> float:
        """Verify time / one-token time of the floors."""
        return self.verify.floor.time_s / self.decode.floor.time_s


def step_floors(
    target: ModelShape,
    draft: ModelShape | None,
    peaks: DevicePeaks,
    *,
    workload: Workload,
    precision: Precision = Precision.BF16,
) -> StepFloors:
    """The phases of a step for ``workload`` on one device, each with its cost and least time.

    The prefill takes the whole context in one forward. The target's and draft's formats set the
    bytes per weight; the arithmetic runs at ``precision``. ValueError: the device has no known
    peak for ``precision``, or tensor parallelism is asked for.
    """
    if workload.tensor_parallel != 1:
        raise ValueError("The roofline is that of one device; set tensor_parallel to 1.")

    def phase(
        name: str, shape: ModelShape, *, width: int, cached: int, n_forwards: int = 1
    ) -> Phase:
        weights = workload.draft_weights if name == "draft" else workload.target_weights
        cost = forward_cost(
            shape,
            [cached] * workload.batch_size,
            [width] * workload.batch_size,
            bytes_per_weight=_mean_bytes_per_weight(shape, weights),
            bytes_per_kv=workload.bytes_per_kv,
            bytes_per_activation=workload.bytes_per_activation,
            n_logit_rows=workload.batch_size if name == "prefill" else None,
        )
        return Phase(name, n_forwards, width, cost, least_time(cost, peaks, precision))

    context, gamma = workload.context_length, workload.gamma
    return StepFloors(
        decode=phase("decode", target, width=1, cached=context),
        draft=None
        if draft is None
        else phase("draft", draft, width=1, cached=context, n_forwards=gamma),
        verify=phase("verify", target, width=gamma + 1, cached=context),
        prefill=phase("prefill", target, width=context, cached=0),
    )


def _mean_bytes_per_weight(shape: ModelShape, weights: WeightFormat) -> float:
    """Over the weights that a forward reads: all layers, and the output head."""
    n_layer, n_head = shape.n_layer_parameters, shape.n_embedding_parameters
    total = n_layer * weights.bytes_per_weight + n_head * weights.bytes_per_embedding
    return total / (n_layer + n_head)
