"""Times on the GPU's own clock, and where they lie on the host's."""

from collections.abc import Callable
from typing import Any

REALIGN_NS = 10_000_000_000
"""How long two clocks are taken to run alike. It also bounds the rounding: CUDA tells the distance
of two events as a single-precision number of ms, which is within a microsecond up to there."""
_N_TRIES = 3
_CYCLES_PER_NS = 2.5
"""More than any GPU runs at: what is held for so many cycles is held for long enough."""


class CudaTimer:
    """CUDA events on the current stream; they are kept and used again.

    For the host's clock one event is an anchor: recorded on an idle device between two readings of
    ``now_ns``. It is set again every few seconds, at a moment when the host has waited anyway, so
    the clocks cannot drift apart.
    """

    def __init__(self, now_ns: Callable[[], int] | None = None, *, cuda: Any = None) -> None:
        """Without ``now_ns`` only lengths can be read."""
        if cuda is None:
            import torch

            cuda = torch.cuda
        self._cuda = cuda
        self._now_ns = now_ns
        self._free: list[Any] = []
        self._anchor: tuple[Any, int] | None = None  # an event, and when it was on the host's clock

    def mark(self) -> Any:
        event = self._free.pop() if self._free else self._cuda.Event(enable_timing=True)
        event.record()
        return event

    def hold(self, hold_ns: int) -> None:
        self._cuda._sleep(round(hold_ns * _CYCLES_PER_NS))

    def read_ns(self, marks: list[tuple[Any, Any]]) -> list[int | None]:
        elapsed: list[int | None] = []
        for start, end in marks:
            end.synchronize()  # returns at once after the host's own wait, except for the last few
            elapsed.append(round(start.elapsed_time(end) * 1e6))  # ms to ns
            self._free += (start, end)
        return elapsed

    def starts_ns(self, marks: list[tuple[Any, Any]]) -> list[int | None]:
        """When each pair of marks began, on the host's clock; to be read before ``read_ns``."""
        if self._now_ns is None:
            return [None] * len(marks)
        if marks:
            marks[-1][1].synchronize()
        now_ns = self._now_ns()
        anchor = self._anchor
        if anchor is None:
            anchor = self._anchor = self._align(self._now_ns)
        event, host_ns = anchor
        starts: list[int | None] = [
            host_ns + round(event.elapsed_time(start) * 1e6) for start, _ in marks
        ]
        if now_ns - host_ns > REALIGN_NS:
            self._anchor = self._align(self._now_ns)
        return starts

    def align(self) -> None:
        """Set the anchor now; it waits for the device."""
        if self._now_ns is not None:
            self._anchor = self._align(self._now_ns)

    def _align(self, now_ns: Callable[[], int]) -> tuple[Any, int]:
        """The event that was recorded within the shortest time."""
        self._cuda.synchronize()
        tries = []
        for index in range(_N_TRIES):
            event = self._cuda.Event(enable_timing=True)
            before_ns = now_ns()
            event.record()
            event.synchronize()
            after_ns = now_ns()
            tries.append((after_ns - before_ns, index, event, (before_ns + after_ns) // 2))
        _, _, event, host_ns = min(tries)
        return event, host_ns
