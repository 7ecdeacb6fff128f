"""What the engine's steps run on a device, run by itself: the draft's whole loop and the
verification, over rows that pretend to hold a context.

They are the engine's own functions, put together as the engine does, over caches of their own;
captured as graphs or launched kernel by kernel.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

import torch
from msgspec.structs import replace

from engine.assembly import Parts, make_drafter, make_runner
from engine.calibration import Calibration
from engine.device.addresses import ContextShape, context_room
from engine.device.build import make_device_step
from engine.device.draft_loop import DraftLoop, LoopShape
from engine.device.graphs import GraphBackend
from engine.device.step import DeviceDrafting
from engine.device.verification import Verification, VerifyShape
from engine.device.warm_up import usual_modes
from engine.drafters.draft_model import DraftModelDrafter
from engine.kv.block_table import blocks_for
from engine.sampling import SamplingParams
from engine.telemetry.emitter import Emitter
from engine.telemetry.spans import GpuTimer, SpanRecorder
from engine.wire.config import RunConfig
from engine.wire.events import Event, LogEmitted, Role

CONTEXT = 512
"""Cached tokens that the rows pretend to hold."""


@dataclass(frozen=True)
class Playable:
    """A graph: ``play`` queues it once and returns at once, and changes none of its inputs."""

    play: Callable[[], object]
    n_bytes: int  # that it moves, as the engine counts them


class Rehearsal:
    """One way of running a pair's functions: greedy, one sequence, drafts of the settings' gamma
    (an adaptive one at its most)."""

    def __init__(
        self,
        config: RunConfig,
        parts: Parts,
        *,
        timer: GpuTimer | None,
        backend: GraphBackend | None = None,
    ) -> None:
        """
        Args:
            timer: the device's clock; None for the host's.
            backend: captures; None for torch where ``config`` wants graphs and the device is CUDA.
        """
        config = replace(
            config,
            batch=1,
            allocation="paged",
            n_blocks=blocks_for(2 * CONTEXT, config.block_size),  # all that a captured context has
        )
        self.gamma = config.gamma_limit
        self._said: list[Event] = []
        self._emitter = Emitter(self._said.append)
        spans = SpanRecorder(self._emitter, gpu_timer=timer)

        def runner(role: Role):
            model = parts.target if role is Role.TARGET else parts.draft
            assert model is not None
            return make_runner(role, model, config, parts.n_tokens, self._emitter, spans)

        self._target = runner(Role.TARGET)
        has_model = parts.draft is not None and config.draft_model is not None
        draft = runner(Role.DRAFT) if has_model else None
        device = parts.target.device
        drafter = make_drafter(config, draft, n_tokens=parts.n_tokens, device=device)
        self._step = make_device_step(
            config,
            target=self._target,
            draft=draft,
            drafter=drafter,
            spans=spans,
            say=self._emitter.say,
            backend=backend,
        )
        model_drafter = getattr(drafter, "model", drafter)
        self._loop: DraftLoop | None = None
        if isinstance(model_drafter, DraftModelDrafter):
            assert isinstance(model_drafter.on_device, DeviceDrafting)
            self._loop = model_drafter.on_device.loop

    @property
    def is_captured(self) -> bool:
        """Whether graphs are played, as far as anything was run yet."""
        return self._step.shelf.is_capturing

    @property
    def why_not_captured(self) -> str:
        """What was said of a capture that failed; "" where none did."""
        told = [each.message for each in self._said if isinstance(each, LogEmitted)]
        return told[-1] if told else ""

    @property
    def attention(self) -> str:
        """How the target reads its context."""
        return self._step.verification.modes.sentence

    def costs(self) -> Calibration:
        """Forwards timed one at a time, each from an idle device, as the engine calibrates."""
        with torch.inference_mode():
            return self._step.calibrate(
                self.gamma,
                SamplingParams(),
                context_length=CONTEXT,
                now_ns=self._emitter.now_ns,
            )

    def verification(self) -> Playable | None:
        """The captured verification of gamma + 1 tokens; None where it could not be captured."""
        verification, width = self._step.verification, self.gamma + 1
        n_held = self._held(verification)
        shape = VerifyShape(
            n_rows=1,
            width=width,
            context=self._context(verification, n_held),
            params=SamplingParams(),
            has_host_drafts=self._loop is None and width > 1,
            has_device_drafts=self._loop is not None and width > 1,
        )
        with torch.inference_mode():
            results = self._step.results_for(self.gamma, shape.params)
            verification.rehearse(shape, results, n_held=n_held)
        _, n_bytes = self._target.work((n_held + width,), (width,), n_logits=width)
        return self._playable((verification, shape, results), n_bytes)

    def draft(self) -> Playable | None:
        """The captured loop of gamma forwards; None without one, or where it could not be
        captured. Its bytes are not counted."""
        loop = self._loop
        if loop is None or not self.gamma:
            return None
        n_held = self._held(loop)
        shape = LoopShape(1, self.gamma, self._context(loop, n_held), SamplingParams())
        with torch.inference_mode():
            results = self._step.results_for(self.gamma, shape.params)
            loop.rehearse(shape, results, n_held=n_held)
        return self._playable((loop, shape, results), 0)

    def close(self) -> None:
        """Let go of the graphs, which waits for the device."""
        self._step.forget()

    def _playable(self, key: Hashable, n_bytes: int) -> Playable | None:
        shelf = self._step.shelf
        return (
            Playable(partial(shelf.run, key, _is_captured), n_bytes) if shelf.holds(key) else None
        )

    def _held(self, part: DraftLoop | Verification) -> int:
        return max(0, min(CONTEXT, part.model.context_length - self.gamma - 1))

    def _context(self, part: DraftLoop | Verification, n_held: int) -> ContextShape:
        room = context_room(
            n_held + self.gamma + 1,
            context_length=part.model.context_length,
            block_size=part.cache.block_size,
        )
        return ContextShape(room, usual_modes(part.modes)[0])


def _is_captured() -> NoReturn:
    raise AssertionError("a graph that is held is played, not computed")
