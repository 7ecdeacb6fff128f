"""Which sequences run, which wait, and what becomes of their blocks."""

from collections import deque
from collections.abc import Callable

from engine.drafters.base import Drafter
from engine.forward import RoleRunner
from engine.models.base import Tokenizer
from engine.sequence import Sequence
from engine.text import TokenTexts
from engine.wire.events import (
    Event,
    FinishReason,
    LogEmitted,
    SequenceFinished,
    SequenceSetBack,
    SequenceStarted,
)


class Scheduler:
    """First come, first served, up to ``batch`` sequences at once."""

    def __init__(
        self,
        *,
        target: RoleRunner,
        drafter: Drafter,
        tokenizer: Tokenizer,
        texts: TokenTexts,
        batch: int,
        say: Callable[[Event], None],
        now_ns: Callable[[], int],
    ) -> None:
        self.running: list[Sequence] = []
        self.waiting: deque[Sequence] = deque()
        self._target = target
        self._drafter = drafter
        self._tokenizer = tokenizer
        self._texts = texts
        self._batch = batch
        self._say = say
        self._now_ns = now_ns
        self.on_finished: Callable[[int], None] = lambda sequence_id: None

    @property
    def has_work(self) -> bool:
        return bool(self.running or self.waiting)

    def submit(self, sequence: Sequence) -> None:
        self.waiting.append(sequence)

    def admit(self) -> None:
        """Let waiting sequences in while there is a place and both caches have blocks for one more
        step than the prompt needs."""
        while self.waiting and len(self.running) < self._batch:
            sequence = self.waiting[0]
            n_positions = len(sequence.token_ids)
            if not (self._target.cache.fits(n_positions) and self._drafter.fits(n_positions)):
                break
            self.waiting.popleft()
            self._start(sequence)

    def make_room(self) -> None:
        """No running sequence has a block for one more token: the youngest gives its blocks back
        and waits to be computed again; a sequence alone that still finds no room is over."""
        if not self.running:
            if self.waiting:  # nothing runs and the first in line does not fit: it never will
                sequence = self.waiting.popleft()
                self._say_started(sequence)
                self._say_finished(sequence, FinishReason.CACHE_FULL, self._full_detail(sequence))
            return
        if len(self.running) == 1:
            sequence = self.running[0]
            self.finish(sequence, FinishReason.CACHE_FULL, detail=self._full_detail(sequence))
            return
        sequence = self.running.pop()
        self._release(sequence)
        self._say(
            SequenceSetBack(sequence_id=sequence.sequence_id, n_output_tokens=sequence.n_output)
        )
        self._say(
            LogEmitted(
                level="warning",
                message="The block pool is full: the youngest sequence waits and will be "
                "computed again. A larger pool or a smaller batch avoids it.",
                sequence_id=sequence.sequence_id,
            )
        )
        self.waiting.appendleft(sequence)

    def finish(self, sequence: Sequence, reason: FinishReason, *, detail: str = "") -> None:
        """End a running sequence: its blocks return before it is said to be over."""
        self.running.remove(sequence)
        self._release(sequence)
        self._say_finished(sequence, reason, detail)

    def stop(self, sequence_id: int) -> bool:
        """End one sequence by command, running or waiting. False: there is none of that number."""
        for sequence in self.running:
            if sequence.sequence_id == sequence_id:
                self.finish(sequence, FinishReason.STOPPED)
                return True
        for sequence in self.waiting:
            if sequence.sequence_id == sequence_id:
                self.waiting.remove(sequence)
                if sequence.started_ns is None:
                    self._say_started(sequence)
                self._say_finished(sequence, FinishReason.STOPPED, "")
                return True
        return False

    def abandon(self, reason: FinishReason = FinishReason.STOPPED, *, detail: str = "") -> None:
        """End all running and waiting sequences."""
        for sequence in list(self.running):
            self.finish(sequence, reason, detail=detail)
        while self.waiting:
            self.stop(self.waiting[0].sequence_id)

    def _start(self, sequence: Sequence) -> None:
        self._say_started(sequence)
        self._target.cache.open(sequence.sequence_id, n_positions=sequence.n_cached)
        self.running.append(sequence)
        self._target.prefill(sequence.sequence_id, sequence.token_ids[:-1])
        self._drafter.open(sequence)

    def _release(self, sequence: Sequence) -> None:
        for holder in (self._target.cache, self._drafter):
            holder.close(sequence.sequence_id)

    def _say_started(self, sequence: Sequence) -> None:
        if sequence.started_ns is None:
            sequence.started_ns = self._now_ns()
        prompt_ids = tuple(sequence.token_ids[: sequence.n_prompt])
        self._say(
            SequenceStarted(
                sequence_id=sequence.sequence_id,
                prompt_text=sequence.prompt_text,
                prompt_token_ids=prompt_ids,
                prompt_token_texts=self._texts.of(prompt_ids),
                max_new_tokens=sequence.max_new_tokens,
                seed=sequence.seed,
                n_resumed=sequence.n_output,
                label=sequence.label,
            )
        )

    def _say_finished(self, sequence: Sequence, reason: FinishReason, detail: str) -> None:
        self.on_finished(sequence.sequence_id)
        started_ns = sequence.started_ns
        self._say(
            SequenceFinished(
                sequence_id=sequence.sequence_id,
                reason=reason,
                n_output_tokens=sequence.n_output,
                elapsed_ns=0 if started_ns is None else self._now_ns() - started_ns,
                text=self._tokenizer.decode(sequence.output_ids),
                detail=detail,
            )
        )

    def _full_detail(self, sequence: Sequence) -> str:
        return (
            f"{len(sequence.token_ids)} tokens do not fit the block pool: give it more blocks, "
            "or leave the size out to have it chosen for the batch."
        )
