"""The engine of toy models in this process: submit, run, and look at what it said."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import torch

from engine.assembly import Parts, model_loaded, put_together
from engine.decode_loop import Rest
from engine.models.base import CausalModel, Tokenizer
from engine.telemetry.emitter import Emitter
from engine.telemetry.spans import SpanRecorder
from engine.wire.codec import decode_event, encode
from engine.wire.commands import SubmitPrompt
from engine.wire.config import RunConfig
from engine.wire.events import (
    SCHEMA_VERSION,
    DraftProposed,
    DraftVerified,
    EndReason,
    Event,
    Role,
    SequenceFinished,
    SessionEnded,
    SessionStarted,
    StepCommitted,
)
from tests.support.stream_rules import check_stream
from tests.support.toy_model import ToyModel, ToyTokenizer

torch.set_num_threads(1)  # toys are too small to share

Kind = TypeVar("Kind", bound=Event)

PATIENCE = 3
"""Steps that say nothing after which a run is taken to hang."""


class RunningEngine:
    """An engine put together from toys. Settings are ``RunConfig``'s; calibration is off unless
    asked for, so that nothing depends on the clock."""

    def __init__(
        self,
        target: CausalModel,
        draft: CausalModel | None = None,
        /,
        *,
        tokenizer: Tokenizer | None = None,
        n_tokens: int | None = None,
        rest: Rest = lambda point: None,
        **settings: Any,
    ) -> None:
        settings.setdefault("draft", "none" if draft is None else "toy")
        config = RunConfig(**{"calibrate": False, **settings})
        n_tokens = n_tokens or target.vocab_size
        self.tokenizer = tokenizer or ToyTokenizer(n_tokens)
        self.events: list[Event] = []
        self.emitter = Emitter(self.events.append)
        self.emitter.say(
            SessionStarted(
                schema_version=SCHEMA_VERSION,
                started_unix_ns=self.emitter.started_unix_ns,
                specscope_version="0",
                torch_version="0",
                device_name="toy",
                config_json="{}",
            )
        )
        for role, model in ((Role.TARGET, target), (Role.DRAFT, draft)):
            if model is not None:
                self.emitter.say(model_loaded(role, model, load_ns=0))
        self.engine = put_together(
            config,
            Parts(target, draft, self.tokenizer, n_tokens),
            emitter=self.emitter,
            spans=SpanRecorder(self.emitter),
            rest=rest,
        )

    @property
    def scheduler(self) -> Any:
        return self.engine._scheduler

    @property
    def drafter(self) -> Any:
        return self.engine._loop._drafter

    @property
    def target_cache(self) -> Any:
        return self.engine.target.cache

    @property
    def draft_cache(self) -> Any:
        drafter = self.drafter
        return getattr(drafter, "_model", drafter).cache

    def submit(self, prompt: str | Sequence[int], **options: Any) -> int:
        """``prompt`` as text, or as ids below 128."""
        text = prompt if isinstance(prompt, str) else "".join(map(chr, prompt))
        return self.engine.submit(SubmitPrompt(text=text, **options))

    def step(self) -> None:
        self.engine.step()

    def run(self, *prompts: str | Sequence[int], check: bool = True, **options: Any) -> list[Event]:
        """Submit ``prompts``, decode all to the end, check the stream, return it."""
        for prompt in prompts:
            self.submit(prompt, **options)
        n_idle = 0
        while self.engine.has_work:
            n_before = len(self.events)
            self.step()
            n_idle = n_idle + 1 if len(self.events) == n_before else 0
            assert n_idle < PATIENCE, "the engine has work and does nothing"
        if check:
            self.check()
        return self.events

    def check(self, *, wire: bool = True) -> None:
        """The stream so far, closed, obeys the grammar, can be told over the wire, and every block
        is back if nothing runs."""
        ended = SessionEnded(reason=EndReason.FINISHED)
        is_whole = not self.engine.has_work
        if is_whole:
            self.emitter.say(ended)
        check_stream(self.events, is_whole=is_whole)
        for event in self.events if wire else ():
            assert decode_event(encode(event)) == event, "an event changed on the wire"
        if is_whole:
            self.events.remove(ended)
            assert self.target_cache.pool.n_free == self.target_cache.n_blocks

    # --- what was said ---------------------------------------------------------------------------

    def all(self, kind: type[Kind], sequence_id: int | None = None) -> list[Kind]:
        return [
            event
            for event in self.events
            if isinstance(event, kind)
            and (sequence_id is None or getattr(event, "sequence_id", None) == sequence_id)
        ]

    def output(self, sequence_id: int = 0) -> list[int]:
        """Committed tokens, prompt excluded."""
        commits = self.all(StepCommitted, sequence_id)
        return [token_id for commit in commits for token_id in commit.token_ids]

    def outputs(self) -> dict[int, list[int]]:
        """Committed tokens of every sequence."""
        outputs: dict[int, list[int]] = {}
        for commit in self.all(StepCommitted):
            outputs.setdefault(commit.sequence_id, []).extend(commit.token_ids)
        return outputs

    def finished(self, sequence_id: int = 0) -> SequenceFinished:
        (event,) = self.all(SequenceFinished, sequence_id)
        return event

    def proposed(self, sequence_id: int | None = None) -> list[DraftProposed]:
        return self.all(DraftProposed, sequence_id)

    def verified(self, sequence_id: int | None = None) -> list[DraftVerified]:
        return self.all(DraftVerified, sequence_id)


def greedy(model: ToyModel, prompt: Iterable[int], n_new: int, *, n_tokens: int | None = None):
    """Plain greedy decoding: no cache, no draft, no engine."""
    token_ids = list(prompt)
    n_prompt = len(token_ids)
    for _ in range(n_new):
        token_ids.append(int(model.plain_logits(token_ids)[-1, :n_tokens].argmax()))
    return token_ids[n_prompt:]


class Patched:
    """A model whose logits pass through ``change(logits, batch, n_forward)`` first."""

    def __init__(self, model: ToyModel, change: Callable[[Any, Any, int], Any]) -> None:
        self._model = model
        self._change = change
        self.n_patched = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def forward(self, batch: Any, store: Any, *, n_logits: int) -> Any:
        logits = self._model.forward(batch, store, n_logits=n_logits)
        self.n_patched += 1
        return self._change(logits, batch, self.n_patched)
