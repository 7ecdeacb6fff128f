"""What one sequence will do in a step, decided before anything is computed."""

import msgspec

from engine.sequence import Sequence, StepUniforms


class Plan(msgspec.Struct, frozen=True, eq=False, gc=False):
    """``reason`` says why gamma is what it is; ``alpha`` the acceptance rate it assumed, if any."""

    sequence: Sequence
    gamma: int
    reason: str
    alpha: float | None
    uniforms: StepUniforms
