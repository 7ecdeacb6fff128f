"""The engine of toys with its steps on the device, and graphs that need no device."""

from collections.abc import Callable
from typing import Any

import torch

from engine.device.build import make_device_step
from engine.device.graphs import Replay
from engine.models.base import CausalModel
from tests.support.running_engine import RunningEngine


class FakeGraphs:
    """Plays a captured function by running it on the tensors it was captured with. What a capture
    itself leaves behind is worthless, as a real one computes nothing."""

    def __init__(self, *, fails_at: int | None = None) -> None:
        self.fails_at = fails_at  # the capture that goes wrong
        self.n_captures = self.n_replays = self.n_drops = 0
        self.outputs: list[torch.Tensor] = []

    def capture(self, function: Callable[[], Any]) -> Replay:
        if self.n_captures == self.fails_at:
            raise RuntimeError("operation not permitted when stream is capturing.\nmore lines")
        self.n_captures += 1
        made = function()
        outputs = None if made is None else torch.full_like(made, torch.nan)
        if outputs is not None:
            self.outputs.append(outputs)

        def play() -> None:
            self.n_replays += 1
            again = function()
            if outputs is not None:
                outputs.copy_(again)

        return Replay(play, outputs)

    def drop(self) -> None:
        self.n_drops += 1


class DeviceEngine(RunningEngine):
    """``graphs`` None: every function is run directly, as with ``--no-graphs``."""

    def __init__(
        self,
        target: CausalModel,
        draft: CausalModel | None = None,
        /,
        *,
        graphs: FakeGraphs | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(target, draft, **settings)
        loop = self.engine._loop
        model = getattr(self.drafter, "model", self.drafter)
        self.device_step = loop.device_step = make_device_step(
            self.engine.config,
            target=self.engine.target,
            draft=getattr(model, "_runner", None),
            drafter=self.drafter,
            spans=loop._spans,
            say=self.emitter.say,
            backend=graphs,
        )
