"""Everything the engine can be told, in the imperative. A command is answered by events."""

import msgspec


class CommandBase(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    pass


class SubmitPrompt(CommandBase, frozen=True, kw_only=True, tag="SubmitPrompt"):
    """Queue a prompt; it enters the batch when there is room (``SequenceStarted``)."""

    text: str
    max_new_tokens: int | None = None  # None: the RunConfig's
    seed: int | None = None  # None: the RunConfig's, moved on by the sequence's number
    label: str = ""


class CloseQueue(CommandBase, frozen=True, kw_only=True, tag="CloseQueue"):
    """No further prompt will come: end the session when the last sequence has finished."""


class SetGamma(CommandBase, frozen=True, kw_only=True, tag="SetGamma"):
    gamma: int | str  # tokens to draft, or "auto"


class SetSampling(CommandBase, frozen=True, kw_only=True, tag="SetSampling"):
    temperature: float
    top_k: int = 0
    top_p: float = 1.0


class RecordKernels(CommandBase, frozen=True, kw_only=True, tag="RecordKernels"):
    """Record the kernels of the next steps; 0 takes back what was asked for."""

    n_steps: int = 1


class Pause(CommandBase, frozen=True, kw_only=True, tag="Pause"):
    """Rest at the next resting point: after a draft, or after a commit."""


class Resume(CommandBase, frozen=True, kw_only=True, tag="Resume"):
    pass


class StepOnce(CommandBase, frozen=True, kw_only=True, tag="StepOnce"):
    """Run to the next resting point and rest there."""


class StopSequence(CommandBase, frozen=True, kw_only=True, tag="StopSequence"):
    sequence_id: int


class Shutdown(CommandBase, frozen=True, kw_only=True, tag="Shutdown"):
    """End the session between two phases of a step; what was committed stays said."""


Command = (
    SubmitPrompt
    | CloseQueue
    | SetGamma
    | SetSampling
    | RecordKernels
    | Pause
    | Resume
    | StepOnce
    | StopSequence
    | Shutdown
)
