"""A made-up session of any length, obeying the stream's grammar: what sizes are tried with."""

from collections.abc import Iterator
from typing import Any

import numpy as np

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
    SequenceStarted,
    SessionEnded,
    SessionStarted,
    SpansMeasured,
    StepCommitted,
)

_BLOCK_SIZE = 16
_CONTEXT = 4096
_VOCABULARY = 32_000
_N_PROMPT = 32
_STEPS_PER_SEQUENCE = 200
_ACCEPTANCE = 0.75
_GAP_NS = 20_000  # between two events
_SPANS: tuple[tuple[str, Role | None, int, int], ...] = (  # name, role, start, length in gaps
    ("step", None, 0, 24),
    ("draft", Role.DRAFT, 1, 10),
    ("draft_forward", Role.DRAFT, 2, 4),
    ("draft_forward", Role.DRAFT, 7, 4),
    ("verify", Role.TARGET, 12, 6),
    ("sample", None, 19, 2),
    ("commit", None, 22, 2),
)
_TEXTS = tuple(f" token{number}" for number in range(_VOCABULARY))
_Head = dict[str, Any]


def synthetic_events(n_draft_tokens: int, *, gamma: int = 4, seed: int = 0) -> Iterator[Event]:
    """A whole session of one sequence after another that drafts at least ``n_draft_tokens``
    tokens. The same numbers give the same events."""
    return _Synthetic(gamma, seed).events(n_draft_tokens)


class _Synthetic:
    """The story so far."""

    def __init__(self, gamma: int, seed: int) -> None:
        self._gamma = gamma
        self._chance = np.random.default_rng(seed)
        self._ordinal = -1
        self._t_ns = 0
        self._step = -1
        self._lengths = dict.fromkeys(Role, 0)  # positions each cache holds
        self._blocks: dict[Role, tuple[int, ...]] = dict.fromkeys(Role, ())

    def events(self, n_draft_tokens: int) -> Iterator[Event]:
        yield SessionStarted(
            schema_version=SCHEMA_VERSION,
            started_unix_ns=1_700_000_000_000_000_000,
            specscope_version="0",
            torch_version="0",
            device_name="synthetic",
            config_json="{}",
            **self._stamp(),
        )
        for role in Role:
            yield from self._load(role)
        yield EngineStateChanged(state=EngineState.RUNNING, **self._stamp())
        n_steps = -(-n_draft_tokens // self._gamma)
        for sequence_id, first in enumerate(range(0, n_steps, _STEPS_PER_SEQUENCE)):
            yield from self._sequence(sequence_id, min(_STEPS_PER_SEQUENCE, n_steps - first))
        yield SessionEnded(reason=EndReason.FINISHED, **self._stamp())

    def _stamp(self) -> _Head:
        self._ordinal += 1
        self._t_ns += _GAP_NS
        return {"ordinal": self._ordinal, "t_ns": self._t_ns}

    def _load(self, role: Role) -> Iterator[Event]:
        yield ModelLoaded(
            role=role,
            name=f"synthetic-{role}",
            n_parameters=1000,
            vocab_size=_VOCABULARY,
            context_length=_CONTEXT,
            dtype="float32",
            device="cpu",
            weight_bytes=4000,
            load_ns=_GAP_NS,
            **self._stamp(),
        )
        n_blocks = _CONTEXT // _BLOCK_SIZE
        yield CacheCreated(
            role=role,
            allocation="paged",
            n_blocks=n_blocks,
            block_size=_BLOCK_SIZE,
            bytes_per_block=1024,
            total_bytes=1024 * n_blocks,
            **self._stamp(),
        )

    def _sequence(self, sequence_id: int, n_steps: int) -> Iterator[Event]:
        start_ns = self._t_ns
        prompt = tuple(self._chance.integers(_VOCABULARY, size=_N_PROMPT).tolist())
        yield SequenceStarted(
            sequence_id=sequence_id,
            prompt_text="".join(_texts(prompt)),
            prompt_token_ids=prompt,
            prompt_token_texts=_texts(prompt),
            max_new_tokens=n_steps * (self._gamma + 1),
            seed=sequence_id,
            **self._stamp(),
        )
        for role in Role:
            yield from self._prefill(sequence_id, role)
        output: list[str] = []
        for drafts in self._drafts(n_steps):
            yield from self._decode(sequence_id, drafts, output)
        for role in Role:
            blocks, self._blocks[role], self._lengths[role] = self._blocks[role], (), 0
            yield BlocksFreed(
                sequence_id=sequence_id, role=role, physical_blocks=blocks, **self._stamp()
            )
        yield SequenceFinished(
            sequence_id=sequence_id,
            reason=FinishReason.LENGTH,
            n_output_tokens=len(output),
            elapsed_ns=self._t_ns - start_ns,
            text="".join(output),
            **self._stamp(),
        )

    def _prefill(self, sequence_id: int, role: Role) -> Iterator[Event]:
        start_ns, n_tokens = self._t_ns, _N_PROMPT - 1
        yield from self._allocate(sequence_id, role, n_tokens)
        yield self._advance(sequence_id, role, PREFILL_STEP, n_tokens, n_tokens)
        yield PrefillCompleted(
            sequence_id=sequence_id,
            role=role,
            n_tokens=n_tokens,
            start_ns=start_ns,
            host_ns=self._t_ns - start_ns,
            **self._stamp(),
        )

    def _drafts(self, n_steps: int) -> Iterator[tuple[Any, ...]]:
        """The numbers of each step: ids, draft and target probabilities, overlaps, entropies,
        uniforms, and how many drafts are accepted."""
        shape = (n_steps, self._gamma)
        ids = self._chance.integers(_VOCABULARY, size=(n_steps, self._gamma + 1))
        draft_probs = self._chance.uniform(0.2, 1.0, shape)
        is_accepted = self._chance.random(shape) < _ACCEPTANCE
        # Accepted where the uniform is below target / draft: the ratio lies on the right side.
        uniforms = self._chance.random(shape)
        side = np.where(is_accepted, uniforms + (1 - uniforms) / 2, uniforms / 2)
        n_accepted = np.cumprod(is_accepted, axis=1).sum(axis=1)
        columns = (
            ids, draft_probs, draft_probs * side, self._chance.random(shape),
            4 * self._chance.random(shape), uniforms, n_accepted,
        )  # fmt: skip
        return zip(*(column.tolist() for column in columns), strict=True)

    def _decode(
        self, sequence_id: int, drafts: tuple[Any, ...], output: list[str]
    ) -> Iterator[Event]:
        """One step of the sequence."""
        self._step += 1
        step, gamma, start_ns = self._step, self._gamma, self._t_ns
        position = _N_PROMPT + len(output)
        ids, draft_probs, target_probs, overlaps, entropies, uniforms, n_accepted = drafts
        ids, draft_probs = tuple(ids), tuple(draft_probs)
        same: dict[str, Any] = {
            "sequence_id": sequence_id,
            "step": step,
            "position": position,
            "token_ids": ids[:-1],
            "token_texts": _texts(ids[:-1]),
            "draft_probs": draft_probs,
        }
        yield from self._allocate(sequence_id, Role.DRAFT, position + gamma - 1)
        yield from self._allocate(sequence_id, Role.TARGET, position + gamma)
        yield DraftProposed(gamma=gamma, drafter="model", **same, **self._stamp())
        origin = Origin.RECOVERED if n_accepted < gamma else Origin.BONUS
        yield DraftVerified(
            target_probs=tuple(target_probs),
            draft_confidences=draft_probs,
            target_confidences=tuple(overlaps),
            overlaps=tuple(overlaps),
            target_entropies=tuple(entropies),
            uniforms=tuple(uniforms),
            fates=_fates(n_accepted, gamma),
            n_accepted=n_accepted,
            extra_token_id=ids[-1],
            extra_token_text=_TEXTS[ids[-1]],
            extra_origin=origin,
            extra_target_prob=overlaps[0],
            extra_entropy=entropies[0],
            **same,
            **self._stamp(),
        )
        committed = (*ids[:n_accepted], ids[-1])
        texts = _texts(committed)
        output += texts
        kept = position + n_accepted  # all but the newest token
        for role, written in ((Role.DRAFT, position + gamma - 1), (Role.TARGET, position + gamma)):
            yield self._advance(sequence_id, role, step, written, min(kept, written))
        yield StepCommitted(
            sequence_id=sequence_id,
            step=step,
            position=position,
            gamma=gamma,
            n_drafted=gamma,
            n_accepted=n_accepted,
            token_ids=committed,
            token_texts=texts,
            origins=(*[Origin.ACCEPTED] * n_accepted, origin),
            step_ns=self._t_ns - start_ns,
            **self._stamp(),
        )
        self._t_ns += 24 * _GAP_NS  # so that the spans end before they are told
        yield _measured(step, start_ns, self._stamp())

    def _allocate(self, sequence_id: int, role: Role, length: int) -> Iterator[Event]:
        """Blocks for ``length`` positions, as far as they are missing."""
        owned = len(self._blocks[role])
        blocks = tuple(range(owned, -(-length // _BLOCK_SIZE)))
        if not blocks:
            return
        self._blocks[role] += blocks
        yield BlocksAllocated(
            sequence_id=sequence_id,
            role=role,
            first_logical_block=owned,
            physical_blocks=blocks,
            **self._stamp(),
        )

    def _advance(
        self, sequence_id: int, role: Role, step: int, length: int, kept: int
    ) -> KvAdvanced:
        """The cache is written up to ``length``, and ``kept`` positions of it stay."""
        position, self._lengths[role] = self._lengths[role], kept
        return KvAdvanced(
            sequence_id=sequence_id,
            role=role,
            step=step,
            position=position,
            n_written=length - position,
            n_rolled_back=length - kept,
            **self._stamp(),
        )


def _measured(step: int, start_ns: int, stamp: _Head) -> SpansMeasured:
    names, roles, starts, lengths = zip(*_SPANS, strict=True)
    nothing = (None,) * len(_SPANS)
    return SpansMeasured(
        step=step,
        names=names,
        roles=roles,
        start_ns=tuple(start_ns + start * _GAP_NS for start in starts),
        host_ns=tuple(length * _GAP_NS for length in lengths),
        gpu_ns=nothing,
        n_flops=nothing,
        n_bytes=nothing,
        **stamp,
    )


def _texts(ids: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(map(_TEXTS.__getitem__, ids))


def _fates(n_accepted: int, n: int) -> tuple[Fate, ...]:
    tail = n - n_accepted
    rejected = (Fate.REJECTED, *[Fate.DISCARDED] * (tail - 1)) if tail else ()
    return (*[Fate.ACCEPTED] * n_accepted, *rejected)
