"""CUDA graphs behind a seam: a function is recorded once for its fixed tensors, then played again.

A function that is captured reads tensors that stay where they are, and writes such; what it
returns stays where it is as well and holds new numbers after every replay.
"""

import gc
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import torch

from engine.telemetry.capture_gate import CAPTURE_GATE, CaptureGate
from engine.wire.events import Event, LogEmitted

Outputs = TypeVar("Outputs")
Function = Callable[[], Outputs]

N_WARM_UPS = 2
"""Runs before a capture: libraries set themselves up in the first, which a capture forbids."""


class Replay(NamedTuple):
    """A captured function: how to play it, and the tensors it fills each time."""

    play: Callable[[], None]
    outputs: Any


class GraphBackend(Protocol):
    """What captures and replays; tests hand in one that needs no device."""

    def capture(self, function: Callable[[], Any]) -> Replay:
        """Run ``function`` as often as a warm-up needs and record it. Recording computes nothing.

        Raises:
            Exception: whatever the device says to the attempt.
        """
        ...

    def drop(self) -> None:
        """Forget everything captured, all at once."""
        ...


class CudaGraphs:
    """``torch.cuda.graph`` with one memory pool for all graphs, as they never run side by side.

    One stream of its own serves all warm-ups and captures: libraries keep a workspace per stream,
    and a graph holds the address of it. For the same reason graphs are dropped together: torch may
    clear that workspace with the first one that goes.
    """

    def __init__(self, device: torch.device, *, gate: CaptureGate = CAPTURE_GATE) -> None:
        self._device = device
        self._gate = gate
        self._cuda: Any = torch.cuda
        self._stream: Any = None
        self._pool: Any = None
        self._graphs: list[Any] = []

    def capture(self, function: Callable[[], Any]) -> Replay:
        """See GraphBackend. Other threads may use the device meanwhile: the mode is of this thread
        alone, and the samplers wait at the gate."""
        cuda = self._cuda
        with cuda.device(self._device):
            if self._stream is None:
                self._stream = cuda.Stream()
            if self._pool is None:
                self._pool = cuda.graph_pool_handle()
            current = cuda.current_stream()
            self._stream.wait_stream(current)
            try:
                # Entered here as well: a capture that fails does not leave torch's own context.
                with cuda.stream(self._stream):
                    graph, outputs = self._record(function)
            except BaseException:
                # What the function reads was sent just before: nobody may write it anew until then.
                with suppress(Exception):
                    self._stream.synchronize()
                raise
            finally:
                current.wait_stream(self._stream)
        self._graphs.append(graph)
        return Replay(graph.replay, outputs)

    def _record(self, function: Callable[[], Any]) -> tuple[Any, Any]:
        if not self._graphs:
            gc.collect()  # engines that are gone may be cycles that hold graphs and pinned memory
        for _ in range(N_WARM_UPS):
            function()
        self._stream.synchronize()
        graph = self._cuda.CUDAGraph()
        with (
            _no_collection(),  # freeing what lies on the device is not allowed in a capture
            self._gate.capturing(),
            self._cuda.graph(
                graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"
            ),
        ):
            outputs = function()
        return graph, outputs

    def drop(self) -> None:
        """See GraphBackend."""
        if not self._graphs:
            return
        self._cuda.synchronize(self._device)  # none of them may be running
        for graph in self._graphs:
            graph.reset()
        self._graphs.clear()
        self._pool = None  # the next graphs have another; the stream's workspaces are used again


@contextmanager
def _no_collection() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class GraphShelf:
    """Functions by what makes them what they are, captured when first needed.

    When something cannot be captured all is computed directly from then on, and that is said once.
    ``backend`` None: nothing is ever captured. ``on_capture`` is told before each: a step in which
    that happens takes many times as long.
    """

    def __init__(
        self,
        backend: GraphBackend | None,
        *,
        say: Callable[[Event], None],
        on_capture: Callable[[], None] = lambda: None,
    ) -> None:
        self._backend = backend
        self._say = say
        self._on_capture = on_capture
        self._replays: dict[Hashable, Replay] = {}
        self.n_captured = 0  # so far, with those that were dropped again

    @property
    def is_capturing(self) -> bool:
        """Whether functions are captured at all."""
        return self._backend is not None

    def run(self, key: Hashable, function: Function[Outputs]) -> Outputs:
        """What ``function`` gives, from its graph where there is one. The same key must always
        come with a function over the same tensors."""
        replay = self._replays.get(key) or self._capture(key, function)
        if replay is None:
            return function()
        replay.play()
        return cast(Outputs, replay.outputs)

    def warm_up(self, key: Hashable, function: Function[Any]) -> None:
        """Capture ``function`` and play it once, so that its first use takes no longer than others.
        What cannot be captured is not computed: nobody may ever need it."""
        replay = self._capture(key, function)
        if replay is not None:
            replay.play()

    def _capture(self, key: Hashable, function: Function[Any]) -> Replay | None:
        if self._backend is None:
            return None
        self._on_capture()
        replay, reason = None, ""
        try:
            replay = self._backend.capture(function)
        except Exception as error:  # any that a device or a library can think of
            reason = _reason(error)
        if replay is None:  # here, as the error kept the tensors of what failed, and is gone now
            self.give_up(reason)
            return None
        self.n_captured += 1
        self._replays[key] = replay
        return replay

    def holds(self, key: Hashable) -> bool:
        return key in self._replays

    def give_up(self, reason: str) -> None:
        """Capture no more and forget what was; says why, once."""
        if self._backend is None:
            return
        self.drop()
        self._backend = None
        self._say(
            LogEmitted(
                level="warning",
                message=f"CUDA graphs are not used: {reason}. Every kernel is launched by itself.",
            )
        )

    def drop(self) -> None:
        """Forget all graphs: what they point to has changed, or is about to go."""
        self._replays.clear()
        if self._backend is not None:
            self._backend.drop()


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0].rstrip(".") if lines else "no message") + f" ({type(error).__name__})"
