"""One sequence: its tokens, its random numbers, and when it stops."""

from collections.abc import Sequence as Items
from dataclasses import dataclass

import msgspec
import torch

from engine.models.base import Tokenizer
from engine.text import TextStream
from engine.wire.events import FinishReason, Origin

_N_AHEAD = 128  # random numbers drawn at once: asking for a few takes as long as for these


@dataclass(frozen=True)
class StopRules:
    """When a sequence ends. ``stop_strings`` are looked for in the output, across tokens and
    steps."""

    eos_ids: frozenset[int]
    stop_strings: tuple[str, ...]
    context_length: int  # positions the target can hold


class StepUniforms(msgspec.Struct, frozen=True, gc=False):
    """All random numbers of one step, drawn at once: gamma to draft, gamma to test, one for the
    extra."""

    draft: list[float]
    test: list[float]
    extra: float


class Commit(msgspec.Struct, frozen=True, gc=False):
    """What a step added: the tokens up to and including the one that stopped the sequence."""

    token_ids: tuple[int, ...]
    texts: tuple[str, ...]
    origins: tuple[Origin, ...]
    finish_reason: FinishReason | None
    detail: str = ""


class Sequence:
    """Prompt and output of one sequence. Owns the generator of all its randomness, on the CPU, so
    that a seed gives the same numbers whatever is decoded beside it."""

    def __init__(
        self,
        sequence_id: int,
        prompt_ids: Items[int],
        *,
        prompt_text: str,
        label: str,
        max_new_tokens: int,
        seed: int,
        rules: StopRules,
        tokenizer: Tokenizer,
    ) -> None:
        self.sequence_id = sequence_id
        self.token_ids = list(prompt_ids)
        self.n_prompt = len(prompt_ids)
        self.prompt_text = prompt_text
        self.label = label
        self.max_new_tokens = max_new_tokens
        self.seed = seed
        self.started_ns: int | None = None
        self._rules = rules
        self._stream = TextStream(tokenizer)
        self._tail = ""  # the end of the output, long enough to complete a stop string
        self._n_tail = max((len(stop) for stop in rules.stop_strings), default=1) - 1
        self._generator = torch.Generator().manual_seed(seed)
        self._numbers: list[float] = []  # drawn and not used yet
        self._n_used = 0

    @property
    def n_output(self) -> int:
        return len(self.token_ids) - self.n_prompt

    @property
    def n_cached(self) -> int:
        """Positions a cache holds between steps: all but the newest token's."""
        return len(self.token_ids) - 1

    @property
    def output_ids(self) -> list[int]:
        return self.token_ids[self.n_prompt :]

    def gamma_room(self) -> int:
        """The most tokens a step can draft so that draft plus extra token fit the length limit and
        the target's context."""
        length_room = self.max_new_tokens - self.n_output - 1
        context_room = self._rules.context_length - len(self.token_ids) - 1
        return max(0, min(length_room, context_room))

    def draw_uniforms(self, gamma: int) -> StepUniforms:
        first = self._n_used
        if first + 2 * gamma + 1 > len(self._numbers):
            drawn = torch.rand(
                2 * gamma + 1 + _N_AHEAD, generator=self._generator, dtype=torch.float64
            )
            self._numbers, first = self._numbers[first:] + drawn.tolist(), 0
        self._n_used = first + 2 * gamma + 1
        numbers = self._numbers[first : self._n_used]
        return StepUniforms(numbers[:gamma], numbers[gamma : 2 * gamma], numbers[-1])

    def commit(self, token_ids: Items[int], origins: Items[Origin]) -> Commit:
        """Append tokens until a stop rule holds. End-of-text and stop strings are tested before the
        length, so a stop inside the budget is never masked by it."""
        texts: list[str] = []
        for n_kept, token_id in enumerate(token_ids, start=1):
            self.token_ids.append(token_id)
            text = self._stream.feed(token_id)
            texts.append(text)
            reason, detail = self._stop_after(token_id, text)
            if reason is not None:
                return Commit(
                    tuple(token_ids[:n_kept]), tuple(texts), tuple(origins[:n_kept]), reason, detail
                )
        return Commit(tuple(token_ids), tuple(texts), tuple(origins), None)

    def _stop_after(self, token_id: int, text: str) -> tuple[FinishReason | None, str]:
        rules = self._rules
        if token_id in rules.eos_ids:
            return FinishReason.EOS, ""
        if rules.stop_strings:
            seen = self._tail + text
            for stop in rules.stop_strings:
                if stop in seen:
                    return FinishReason.STOP_STRING, stop
            self._tail = seen[-self._n_tail :] if self._n_tail else ""
        if self.n_output >= self.max_new_tokens:
            return FinishReason.LENGTH, ""
        if len(self.token_ids) >= rules.context_length:
            return FinishReason.CONTEXT, ""
        return None, ""
