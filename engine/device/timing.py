"""What drafts and verifications cost as the steps run them, and how much of it is launching."""

from collections.abc import Callable
from functools import partial

import torch

from engine.calibration import BUDGET_NS, MAX_ROUNDS, Calibration, median_ns
from engine.device.addresses import ContextShape, context_room
from engine.device.draft_loop import DraftLoop, DraftResults, LoopShape
from engine.device.verification import Verification, VerifyShape
from engine.device.warm_up import usual_modes
from engine.sampling import SamplingParams
from engine.telemetry.spans import GpuTimer

N_COMPARED = 3
"""Drafts launched kernel by kernel, and drafts without any gap, for comparison with a graph."""

HOLD_NS = 4_000_000
"""More than the host takes to queue a graph: a device kept busy for so long then never waits."""


class StepTimer:
    """Times functions on rows that pretend to hold a context: all is written to the scratch slot.

    The device's clock counts where there is one. It includes the gaps in which the device waits for
    a launch: that is what a step loses as well.
    """

    def __init__(
        self,
        loop: DraftLoop | None,
        verification: Verification,
        *,
        timer: GpuTimer | None,
        now_ns: Callable[[], int],
    ) -> None:
        self._loop = loop
        self._verification = verification
        self._timer = timer
        self._now_ns = now_ns

    def calibrate(
        self,
        results: DraftResults,
        params: SamplingParams,
        *,
        context_length: int,
        gamma: int,
        is_captured: Callable[[], bool],
        budget_ns: int = BUDGET_NS,
    ) -> Calibration:
        """A draft of ``gamma`` tokens and verifications of 1 .. ``gamma`` + 1 at
        ``context_length`` cached tokens, one sequence, in turn. ``is_captured`` is asked at the
        end: the first round may show that nothing can be."""
        started_ns = self._now_ns()
        model = self._verification.model
        n_held = max(0, min(context_length, model.context_length - gamma - 1))
        widths = range(1, gamma + 2)
        target_times: list[list[int]] = [[] for _ in widths]
        draft_times: list[int] = []
        self._round(results, params, n_held, gamma, target_times, draft_times)
        for times in target_times:  # a round that captures and warms up does not count
            times.clear()
        draft_times.clear()
        for index in range(MAX_ROUNDS):
            self._round(results, params, n_held, gamma, target_times, draft_times)
            spent_ns = self._now_ns() - started_ns
            if spent_ns + spent_ns / (index + 2) > budget_ns:
                break
        draft_ns = median_ns(draft_times) if draft_times else 0
        captured = uncaptured = None
        if draft_times and is_captured() and self._timer is not None:
            draft = partial(self._draft_ns, results, params, n_held, gamma)
            busy_ns = median_ns([draft(is_held=True) for _ in range(N_COMPARED)])
            captured = _share(busy_ns, draft_ns)
            direct_ns = median_ns([draft(is_direct=True) for _ in range(N_COMPARED)])
            uncaptured = _share(busy_ns, direct_ns)
        return Calibration(
            context_length=n_held,
            draft_forward_ns=max(1, draft_ns // gamma) if draft_times else None,
            target_forward_ns=tuple(median_ns(times) for times in target_times),
            elapsed_ns=self._now_ns() - started_ns,
            draft_launch_share=captured,
            uncaptured_launch_share=uncaptured,
        )

    def _round(
        self,
        results: DraftResults,
        params: SamplingParams,
        n_held: int,
        gamma: int,
        target_times: list[list[int]],
        draft_times: list[int],
    ) -> None:
        for index, times in enumerate(target_times):
            shape = VerifyShape(
                n_rows=1,
                width=index + 1,
                context=self._context(self._verification, n_held + gamma + 1),
                params=params,
                has_host_drafts=self._loop is None and index > 0,
                has_device_drafts=self._loop is not None and index > 0,
            )
            launch = partial(self._verification.rehearse, shape, results, n_held=n_held)
            times.append(self._time(launch))
        if self._loop is not None and gamma:
            draft_times.append(self._draft_ns(results, params, n_held, gamma))

    def _draft_ns(
        self,
        results: DraftResults,
        params: SamplingParams,
        n_held: int,
        gamma: int,
        *,
        is_direct: bool = False,
        is_held: bool = False,
    ) -> int:
        """A draft; ``is_direct``: its kernels launched one by one; ``is_held``: queued while the
        device was busy, so that only the work itself is timed."""
        loop = self._loop
        assert loop is not None
        n_held = max(0, min(n_held, loop.model.context_length - gamma - 1))
        shape = LoopShape(1, gamma, self._context(loop, n_held + gamma + 1), params)
        launch = partial(loop.rehearse, shape, results, n_held=n_held, is_direct=is_direct)
        return self._time(launch, is_held=is_held)

    def _context(self, part: DraftLoop | Verification, n_positions: int) -> ContextShape:
        room = context_room(
            n_positions,
            context_length=part.model.context_length,
            block_size=part.cache.block_size,
        )
        return ContextShape(room, usual_modes(part.modes)[0])

    def _time(self, launch: Callable[[], None], *, is_held: bool = False) -> int:
        """Nanoseconds on the device's clock, from an idle device; without one on the host's."""
        start_ns = self._now_ns()
        if self._timer is not None and is_held:
            self._timer.hold(HOLD_NS)
        start = self._timer.mark() if self._timer is not None else None
        launch()
        end = self._timer.mark() if self._timer is not None else None
        device = self._verification.model.device
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        host_ns = self._now_ns() - start_ns
        device_ns = self._timer.read_ns([(start, end)])[0] if self._timer is not None else None
        return host_ns if device_ns is None else device_ns


def _share(busy_ns: int, whole_ns: int) -> float:
    """The part of ``whole_ns`` in which the device waited for a launch."""
    return max(0.0, 1.0 - busy_ns / max(1, whole_ns))
