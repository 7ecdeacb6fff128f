"""A smaller model proposes, token by token, for all sequences of the step in the same forwards."""

from collections.abc import Sequence as Items
from typing import Protocol

import torch

from engine.drafters.base import Draft, DraftRequest
from engine.forward import RoleRunner
from engine.kv.base import ForwardRow, KvCache
from engine.sampling import SamplingParams, are_usable, sample
from engine.sequence import Sequence
from engine.telemetry.spans import DRAFT_FORWARD

NO_BLOCKS = "too few free blocks for the draft"
CONTEXT_FULL = "the draft model's context is full"
NON_FINITE = "the draft model gave non-finite logits"


class _Growing:
    """One sequence's draft while it is being made."""

    def __init__(self, request: DraftRequest, pending: list[int]) -> None:
        self.request = request
        self.pending = pending  # tokens whose keys and values the cache does not hold yet
        self.token_ids: list[int] = []
        self.probs: list[torch.Tensor] = []  # each [n_tokens]; empty where all are one-hot
        self.logits: list[torch.Tensor] = []  # each [1, n_tokens]
        self.n_non_finite = 0

    @property
    def is_done(self) -> bool:
        return self.n_non_finite > 0 or len(self.token_ids) == self.request.gamma


class OnDevice(Protocol):
    """Drafts without the host seeing the tokens: ``engine.device.step``."""

    def propose(self, requests: Items[DraftRequest], params: SamplingParams) -> list[Draft]: ...


class DraftModelDrafter:
    """Runs the draft model over every token its cache does not hold yet, so there is no special
    case after a fully accepted draft, or after steps in which it was not asked."""

    def __init__(self, runner: RoleRunner) -> None:
        self._runner = runner
        self.cache: KvCache = runner.cache
        self.on_device: OnDevice | None = None

    def fits(self, n_positions: int) -> bool:
        # The newest of the positions is not prefilled: a prompt of exactly the context still is.
        is_drafted_for = n_positions <= self._runner.model.context_length
        return self.cache.fits(n_positions if is_drafted_for else 0)

    def open(self, sequence: Sequence) -> None:
        n_prefilled = self._n_prefilled(sequence.n_cached)
        self.cache.open(sequence.sequence_id, n_positions=n_prefilled)
        self._runner.prefill(sequence.sequence_id, sequence.token_ids[:n_prefilled])

    def gamma_room(self, sequence: Sequence, gamma: int) -> tuple[int, str]:
        """The newest token and all draft tokens but the last are written: length + gamma - 1
        positions."""
        reason = ""
        n_known = len(sequence.token_ids)
        in_context = max(0, self._runner.model.context_length - n_known + 1)
        if in_context < gamma:
            gamma, reason = in_context, CONTEXT_FULL
        while gamma and not self.cache.reserve(sequence.sequence_id, n_known + gamma - 1):
            gamma, reason = gamma - 1, NO_BLOCKS
        return gamma, reason

    def propose(self, requests: Items[DraftRequest], params: SamplingParams) -> list[Draft]:
        if self.on_device is not None:
            return self.on_device.propose(requests, params)
        growing = [
            _Growing(request, self._unseen(request.sequence) if request.gamma else [])
            for request in requests
        ]
        while active := [each for each in growing if not each.is_done]:
            rows = [ForwardRow(g.request.sequence.sequence_id, g.pending) for g in active]
            logits = self._runner.forward(rows, n_logits=1, span_name=DRAFT_FORWARD)
            self._extend(active, logits.squeeze(1), params)
        return [self._finish(each) for each in growing]

    def settle(self, sequence: Sequence, *, step: int) -> None:
        n_held = self.cache.length(sequence.sequence_id)
        self.cache.settle(sequence.sequence_id, min(n_held, sequence.n_cached), step=step)

    def close(self, sequence_id: int) -> None:
        self.cache.close(sequence_id)

    def _n_prefilled(self, n_prompt_cached: int) -> int:
        """A prompt longer than the draft's context is not drafted for, so nothing of it is
        computed."""
        fits_context = n_prompt_cached < self._runner.model.context_length
        return n_prompt_cached if fits_context else 0

    def _unseen(self, sequence: Sequence) -> list[int]:
        return sequence.token_ids[self.cache.length(sequence.sequence_id) :]

    def _extend(
        self, active: Items[_Growing], logits: torch.Tensor, params: SamplingParams
    ) -> None:
        """Draw one token for each from ``logits`` [n_active, n_tokens]."""
        uniforms = [g.request.uniforms[len(g.token_ids)] for g in active]
        sampled = sample(logits, params, uniforms)
        for index, each in enumerate(active):
            if not are_usable(sampled.maxima[index : index + 1]):
                each.n_non_finite += 1
                continue
            token_id = sampled.token_ids[index]
            each.token_ids.append(token_id)
            if sampled.probs is not None:
                each.probs.append(sampled.probs[index])
            each.logits.append(logits if len(active) == 1 else logits[index : index + 1])
            each.pending = [token_id]

    def _finish(self, each: _Growing) -> Draft:
        return Draft(
            token_ids=each.token_ids,
            probs=torch.stack(each.probs) if each.probs else None,
            logits=each.logits or None,
            drafter="model",
            note=NON_FINITE if each.n_non_finite else "",
            n_non_finite=each.n_non_finite,
        )
