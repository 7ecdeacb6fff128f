"""What one sequence will do in a step, decided before anything is computed."""

from dataclasses import dataclass

from engine.sequence import Sequence, StepUniforms


@dataclass(frozen=True, eq=False)
class Plan:
    """``reason`` says why gamma is what it is; ``alpha`` the acceptance rate it assumed, if any."""

    sequence: Sequence
    gamma: int
    reason: str
    alpha: float | None
    uniforms: StepUniforms
