"""Writes a valid stream by hand: ``script.step(drafted=4, accepted=2)``."""

from collections.abc import Sequence as Items
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import force_setattr

from engine.wire.events import (
    PREFILL_STEP,
    SCHEMA_VERSION,
    BlocksAllocated,
    BlocksFreed,
    CacheCreated,
    DraftProposed,
    DraftVerified,
    EndReason,
    EngineState,
    EngineStateChanged,
    Event,
    Fate,
    FinishReason,
    KvAdvanced,
    ModelLoaded,
    Origin,
    PrefillCompleted,
    Role,
    SequenceFinished,
    SequenceSetBack,
    SequenceStarted,
    SessionEnded,
    SessionStarted,
    SpansMeasured,
    StepCommitted,
)

ROLES = (Role.DRAFT, Role.TARGET)
TICK_NS = 1_000_000


@dataclass
class ScriptedSequence:
    """What the script remembers. Tokens are code points, their texts the characters."""

    sequence_id: int
    prompt: str
    max_new_tokens: int
    text: str = ""
    start_ns: int = 0
    cache_lengths: dict[Role, int] = field(default_factory=lambda: dict.fromkeys(ROLES, 0))
    blocks: dict[Role, list[int]] = field(default_factory=lambda: {role: [] for role in ROLES})

    @property
    def n_tokens(self) -> int:
        return len(self.prompt) + len(self.text)


class EventScript:
    """A session of two models and two paged caches, told one line at a time.

    Every event is one millisecond after the one before. ``events`` is the stream so far.
    """

    def __init__(self, *, n_blocks: int = 64, block_size: int = 16) -> None:
        self.events: list[Event] = []
        self._block_size = block_size
        self._free = {role: list(range(n_blocks)) for role in ROLES}
        self._sequences: dict[int, ScriptedSequence] = {}
        self._step = -1
        self._step_start_ns: int | None = None  # of the open step
        self.say(
            SessionStarted(
                schema_version=SCHEMA_VERSION,
                started_unix_ns=1_700_000_000_000_000_000,
                specscope_version="0",
                torch_version="0",
                device_name="script",
                config_json="{}",
            )
        )
        for role in ROLES:
            self._load(role, n_blocks)
        self.state(EngineState.RUNNING)

    # --- the story -------------------------------------------------------------------------------

    def say(self, event: Event) -> None:
        """Add any event; stamps it."""
        force_setattr(event, "ordinal", len(self.events))
        force_setattr(event, "t_ns", len(self.events) * TICK_NS)
        self.events.append(event)

    def state(self, state: EngineState, *, detail: str = "") -> None:
        self.say(EngineStateChanged(state=state, detail=detail))

    def sequence(self, prompt: str = "ab", *, max_new_tokens: int = 1000, label: str = "") -> int:
        """A sequence enters the batch and its prompt is prefilled; returns its id."""
        sequence = ScriptedSequence(len(self._sequences), prompt, max_new_tokens)
        self._sequences[sequence.sequence_id] = sequence
        self._start(sequence, label=label)
        return sequence.sequence_id

    def step(
        self,
        sequence_id: int = 0,
        *,
        drafted: int = 4,
        accepted: int = 2,
        stop: bool = False,
        more: bool = False,
        gamma: int | None = None,
        drafter: str = "model",
        text: str | None = None,
    ) -> int:
        """One step of one sequence; returns its number.

        Args:
            stop: the last accepted token ends the sequence: nothing behind it is told or committed.
            more: the next call is another sequence of the batch, in the same step.
            text: characters of the draft; the alphabet, repeated, when not given.
        """
        sequence = self._sequences[sequence_id]
        draft = text if text is not None else "".join(chr(97 + i % 26) for i in range(drafted))
        gamma = drafted if gamma is None else gamma
        if self._step_start_ns is None:
            self._step += 1
            self._step_start_ns = len(self.events) * TICK_NS
        start_ns = self._step_start_ns
        lengths = {
            Role.DRAFT: sequence.n_tokens + max(len(draft) - 1, 0),
            Role.TARGET: sequence.n_tokens + len(draft),
        }
        for role in ROLES:
            self._allocate(sequence, role, lengths[role])
        self._propose(sequence, draft, gamma=gamma, drafter=drafter)
        told = draft[:accepted] if stop else draft
        origins = self._verify(sequence, told, accepted, stop=stop)
        committed = told[:accepted] + ("" if stop else "!")
        position = sequence.n_tokens
        sequence.text += committed
        for role in ROLES:
            kept = min(lengths[role], sequence.n_tokens - 1)
            self._advance(sequence, role, lengths[role], kept=kept, step=self._step)
        self.say(
            StepCommitted(
                sequence_id=sequence_id,
                step=self._step,
                position=position,
                gamma=gamma,
                n_drafted=len(told),
                n_accepted=accepted,
                token_ids=_ids(committed),
                token_texts=tuple(committed),
                origins=origins,
                step_ns=len(self.events) * TICK_NS - start_ns,
            )
        )
        if not more:
            self._measure(start_ns)
            self._step_start_ns = None
        return self._step

    def set_back(self, sequence_id: int = 0) -> None:
        """The sequence gives its blocks back and waits."""
        sequence = self._sequences[sequence_id]
        self.free(sequence_id)
        n_output = len(sequence.text)
        self.say(SequenceSetBack(sequence_id=sequence_id, n_output_tokens=n_output))

    def resume(self, sequence_id: int = 0) -> None:
        """A sequence that was set back enters the batch again."""
        self._start(self._sequences[sequence_id])

    def free(self, sequence_id: int = 0) -> None:
        """All blocks of the sequence go back."""
        sequence = self._sequences[sequence_id]
        for role in ROLES:
            blocks = tuple(sequence.blocks[role])
            if blocks:
                self._free[role] += blocks
                sequence.blocks[role].clear()
                self.say(BlocksFreed(sequence_id=sequence_id, role=role, physical_blocks=blocks))
            sequence.cache_lengths[role] = 0

    def finish_sequence(
        self, sequence_id: int = 0, *, reason: FinishReason = FinishReason.LENGTH
    ) -> None:
        sequence = self._sequences.pop(sequence_id)
        self._sequences[sequence_id] = sequence
        self.free(sequence_id)
        self.say(
            SequenceFinished(
                sequence_id=sequence_id,
                reason=reason,
                n_output_tokens=len(sequence.text),
                elapsed_ns=len(self.events) * TICK_NS - sequence.start_ns,
                text=sequence.text,
            )
        )

    def finish(self, *, reason: EndReason = EndReason.FINISHED) -> None:
        """Finish the sequences that still run, and the session."""
        finished = {e.sequence_id for e in self.events if isinstance(e, SequenceFinished)}
        for sequence_id in sorted(self._sequences.keys() - finished):
            self.finish_sequence(sequence_id)
        self.say(SessionEnded(reason=reason))

    # --- what a step consists of -----------------------------------------------------------------

    def _load(self, role: Role, n_blocks: int) -> None:
        self.say(
            ModelLoaded(
                role=role,
                name=f"scripted-{role}",
                n_parameters=1000,
                vocab_size=128,
                context_length=4096,
                dtype="float32",
                device="cpu",
                weight_bytes=4000,
                load_ns=TICK_NS,
            )
        )
        self.say(
            CacheCreated(
                role=role,
                allocation="paged",
                n_blocks=n_blocks,
                block_size=self._block_size,
                bytes_per_block=1024,
                total_bytes=1024 * n_blocks,
            )
        )

    def _start(self, sequence: ScriptedSequence, *, label: str = "") -> None:
        sequence.start_ns = len(self.events) * TICK_NS
        self.say(
            SequenceStarted(
                sequence_id=sequence.sequence_id,
                prompt_text=sequence.prompt,
                prompt_token_ids=_ids(sequence.prompt),
                prompt_token_texts=tuple(sequence.prompt),
                max_new_tokens=sequence.max_new_tokens,
                seed=sequence.sequence_id,
                n_resumed=len(sequence.text),
                label=label,
            )
        )
        for role in ROLES:
            start_ns = len(self.events) * TICK_NS
            n_tokens = sequence.n_tokens - 1
            self._allocate(sequence, role, n_tokens)
            self._advance(sequence, role, n_tokens, kept=n_tokens, step=PREFILL_STEP)
            self.say(
                PrefillCompleted(
                    sequence_id=sequence.sequence_id,
                    role=role,
                    n_tokens=n_tokens,
                    start_ns=start_ns,
                    host_ns=len(self.events) * TICK_NS - start_ns,
                )
            )

    def _propose(self, sequence: ScriptedSequence, draft: str, **told: Any) -> None:
        self.say(
            DraftProposed(
                sequence_id=sequence.sequence_id,
                step=self._step,
                position=sequence.n_tokens,
                token_ids=_ids(draft),
                token_texts=tuple(draft),
                draft_probs=(0.5,) * len(draft),
                **told,
            )
        )

    def _verify(
        self, sequence: ScriptedSequence, told: str, accepted: int, *, stop: bool
    ) -> tuple[Origin, ...]:
        """The verdict; returns the origins of what is committed."""
        n = len(told)
        fates = [Fate.ACCEPTED] * accepted + [Fate.DISCARDED] * (n - accepted)
        if accepted < n:
            fates[accepted] = Fate.REJECTED
        extra = None if stop else Origin.RECOVERED if accepted < n else Origin.BONUS
        self.say(
            DraftVerified(
                sequence_id=sequence.sequence_id,
                step=self._step,
                position=sequence.n_tokens,
                token_ids=_ids(told),
                token_texts=tuple(told),
                draft_probs=(0.5,) * n,
                target_probs=tuple(0.4 if fate is Fate.ACCEPTED else 0.1 for fate in fates),
                draft_confidences=(0.5,) * n,
                target_confidences=(0.4,) * n,
                overlaps=(0.7,) * n,
                target_entropies=(1.2,) * n,
                uniforms=tuple(0.6 if fate is Fate.ACCEPTED else 0.9 for fate in fates),
                fates=tuple(fates),
                n_accepted=accepted,
                extra_token_id=None if stop else ord("!"),
                extra_token_text=None if stop else "!",
                extra_origin=extra,
                extra_target_prob=None if stop else 0.3,
                extra_entropy=None if stop else 1.1,
            )
        )
        return (Origin.ACCEPTED,) * accepted + (() if extra is None else (extra,))

    def _allocate(self, sequence: ScriptedSequence, role: Role, length: int) -> None:
        """Blocks for ``length`` positions, as far as they are missing."""
        owned = sequence.blocks[role]
        n_missing = -(-length // self._block_size) - len(owned)
        if n_missing <= 0:
            return
        blocks = tuple(self._free[role].pop(0) for _ in range(n_missing))
        self.say(
            BlocksAllocated(
                sequence_id=sequence.sequence_id,
                role=role,
                first_logical_block=len(owned),
                physical_blocks=blocks,
            )
        )
        owned += blocks

    def _advance(
        self, sequence: ScriptedSequence, role: Role, length: int, *, kept: int, step: int
    ) -> None:
        """Write up to ``length`` and keep ``kept`` of it; says nothing when nothing was written."""
        position = sequence.cache_lengths[role]
        sequence.cache_lengths[role] = kept
        if length == position:
            return
        self.say(
            KvAdvanced(
                sequence_id=sequence.sequence_id,
                role=role,
                step=step,
                position=position,
                n_written=length - position,
                n_rolled_back=length - kept,
            )
        )

    def _measure(self, start_ns: int) -> None:
        end_ns = len(self.events) * TICK_NS
        quarter = (end_ns - start_ns) // 4
        spans: Items[tuple[str, Role | None, int, int]] = (
            ("step", None, start_ns, end_ns - start_ns),
            ("draft", Role.DRAFT, start_ns, quarter),
            ("draft_forward", Role.DRAFT, start_ns, quarter // 2),
            ("verify", Role.TARGET, start_ns + quarter, quarter),
            ("sample", None, start_ns + 2 * quarter, quarter),
            ("commit", None, start_ns + 3 * quarter, quarter),
        )
        names, roles, starts, lengths = zip(*spans, strict=True)
        nothing = (None,) * len(spans)
        self.say(
            SpansMeasured(
                step=self._step,
                names=names,
                roles=roles,
                start_ns=starts,
                host_ns=lengths,
                gpu_ns=nothing,
                n_flops=nothing,
                n_bytes=nothing,
            )
        )


def _ids(text: str) -> tuple[int, ...]:
    return tuple(map(ord, text))
