"""A worker with a pretended engine behind it: ``python -m tests.support.fake_engine``.

The config's target says how loading goes, a prompt's text how decoding goes: see ``assemble`` and
``FakeEngine``. No model, no torch; every event is a valid one.
"""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable

from engine.control import DeviceFull
from engine.telemetry.emitter import Emitter
from engine.telemetry.spans import COMMIT, DRAFT, STEP, VERIFY, SpanRecorder
from engine.wire.commands import SubmitPrompt
from engine.wire.config import ConfigError, RunConfig
from engine.wire.events import (
    DraftProposed,
    DraftVerified,
    Event,
    Fate,
    FinishReason,
    Origin,
    Role,
    SequenceFinished,
    SequenceStarted,
    SettingsChanged,
    StepCommitted,
)
from engine.worker import main


class FakeEngine:
    """Runs one sequence at a time; every step drafts "ab", accepts "a" and adds "!".

    A prompt ``"steps 3"`` lasts three steps and ``"forever"`` until it is stopped; ``"raise"``
    raises in its first step, ``"full"`` finds no memory there, and ``"hang"`` never comes back from
    it.
    """

    def __init__(
        self, say: Callable[[Event], None], *, spans: SpanRecorder, rest: Callable[[str], None]
    ) -> None:
        self._say = say
        self._spans = spans
        self._rest = rest
        self._waiting: deque[SubmitPrompt] = deque()
        self._text = ""  # of the running sequence
        self._sequence_id = -1
        self._n_steps = 0
        self._n_output = 0

    @property
    def gpu_uuid(self) -> str | None:
        return None

    @property
    def has_work(self) -> bool:
        return bool(self._text or self._waiting)

    def submit(self, command: SubmitPrompt) -> int:
        if not command.text:
            raise ConfigError("the prompt is empty.")
        self._waiting.append(command)
        return self._sequence_id + len(self._waiting)

    def set_gamma(self, gamma: int | str) -> None:
        self._say(SettingsChanged(gamma=str(gamma), temperature=0.0, top_k=0, top_p=1.0))

    def set_sampling(self, temperature: float, *, top_k: int, top_p: float) -> None:
        self._say(SettingsChanged(gamma="2", temperature=temperature, top_k=top_k, top_p=top_p))

    def record_kernels(self, n_steps: int) -> None:
        """There are none."""

    def stop(self, sequence_id: int) -> None:
        if not self._text or sequence_id != self._sequence_id:
            raise ConfigError(f"there is no sequence {sequence_id}.")
        self._finish(FinishReason.STOPPED)

    def abandon(self) -> None:
        self._waiting.clear()
        if self._text:
            self._finish(FinishReason.STOPPED)

    def step(self) -> None:
        if not self._text:
            self._start(self._waiting.popleft())
        if self._text == "raise":
            raise RuntimeError("the fake engine was told to raise")
        if self._text == "full":
            raise DeviceFull("The memory is used up: give less.")
        if self._text == "hang":
            threading.Event().wait()
        step = self._n_steps
        self._n_steps += 1
        with self._spans.span(STEP):
            with self._spans.span(DRAFT, Role.DRAFT) as span:
                span.count(1000, 2000)
                self._propose(step)
            self._rest("draft")
            with self._spans.span(VERIFY, Role.TARGET):
                self._verify(step)
            with self._spans.span(COMMIT):
                self._commit(step)
        self._spans.flush(step)
        words = self._text.split()
        if words[0] == "steps" and self._n_output == 2 * int(words[1]):
            self._finish(FinishReason.LENGTH)
        self._rest("commit")

    @property
    def _position(self) -> int:
        return len(self._text) + self._n_output

    def _start(self, command: SubmitPrompt) -> None:
        self._sequence_id += 1
        self._text = command.text
        self._n_output = 0
        self._say(
            SequenceStarted(
                sequence_id=self._sequence_id,
                prompt_text=self._text,
                prompt_token_ids=tuple(map(ord, self._text)),
                prompt_token_texts=tuple(self._text),
                max_new_tokens=command.max_new_tokens or 1_000_000,
                seed=command.seed or 0,
                label=command.label,
            )
        )

    def _propose(self, step: int) -> None:
        self._say(
            DraftProposed(
                sequence_id=self._sequence_id,
                step=step,
                position=self._position,
                gamma=2,
                token_ids=(97, 98),
                token_texts=("a", "b"),
                draft_probs=(0.5, 0.5),
                drafter="model",
            )
        )

    def _verify(self, step: int) -> None:
        self._say(
            DraftVerified(
                sequence_id=self._sequence_id,
                step=step,
                position=self._position,
                token_ids=(97, 98),
                token_texts=("a", "b"),
                draft_probs=(0.5, 0.5),
                target_probs=(0.4, 0.1),
                draft_confidences=(0.5, 0.5),
                target_confidences=(0.4, 0.1),
                overlaps=(0.8, 0.6),
                target_entropies=(1.0, 1.5),
                uniforms=(0.2, 0.7),
                fates=(Fate.ACCEPTED, Fate.REJECTED),
                n_accepted=1,
                extra_token_id=33,
                extra_token_text="!",
                extra_origin=Origin.RECOVERED,
            )
        )

    def _commit(self, step: int) -> None:
        self._say(
            StepCommitted(
                sequence_id=self._sequence_id,
                step=step,
                position=self._position,
                gamma=2,
                n_drafted=2,
                n_accepted=1,
                token_ids=(97, 33),
                token_texts=("a", "!"),
                origins=(Origin.ACCEPTED, Origin.RECOVERED),
                step_ns=1000,
            )
        )
        self._n_output += 2

    def _finish(self, reason: FinishReason) -> None:
        self._say(
            SequenceFinished(
                sequence_id=self._sequence_id,
                reason=reason,
                n_output_tokens=self._n_output,
                elapsed_ns=1000,
                text="a!" * (self._n_output // 2),
            )
        )
        self._text = ""


def assemble(
    config: RunConfig, *, emitter: Emitter, spans: SpanRecorder, rest: Callable[[str], None]
) -> FakeEngine:
    """Load as ``config.target`` says: "missing" and "broken" fail, "slow" never comes to an end,
    "noisy" writes to standard output and error, "dead" ends the process."""
    match config.target:
        case "missing":
            raise ConfigError("there is no model called missing.")
        case "broken":
            raise RuntimeError("the weights are broken")
        case "slow":
            threading.Event().wait()
        case "dead":
            os._exit(7)
        case "noisy":
            print("printed by a library")
            print("complained by a library", file=sys.stderr)
            sys.stdout.flush()
    return FakeEngine(emitter.say, spans=spans, rest=rest)


if __name__ == "__main__":
    sys.exit(main(assemble))
