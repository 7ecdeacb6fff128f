"""Published claims about speculative decoding on an H100, each measured here as far as it can be.

The engine's own captured draft and verification are played, again and again, for long enough that
the hardware's counters tell about them: they are of a whole stretch of time, and a step's phases
last a few milliseconds. What cannot be measured says why.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from typing import Any

import torch
from msgspec.structs import replace

from engine.assembly import Parts
from engine.benchmark.bandwidth import read_bytes_per_s
from engine.benchmark.claim_checks import Measured, check_claims
from engine.benchmark.loaded import load
from engine.benchmark.rehearsal import Playable, Rehearsal
from engine.device.graphs import GraphBackend
from engine.models.loading import Shelf
from engine.telemetry.cuda_timer import CudaTimer
from engine.telemetry.gpm_counters import GpmCounters
from engine.telemetry.nvml_device import NoSuchDevice, cuda_uuid, find_by_cuda_uuid
from engine.telemetry.nvml_readings import DeviceGone, Values
from engine.telemetry.spans import GpuTimer
from engine.wire.benchmark import BenchmarkSettings
from engine.wire.config import RunConfig

STRETCH_S = 2.0
"""How long a phase is repeated under the counters."""
N_AT_ONCE = 20
"""Graphs queued before the host waits: the device hardly ever does."""


@dataclass(frozen=True)
class Phase:
    """One graph played back to back: nanoseconds of the device each, and the counters meanwhile."""

    ns: float
    counters: Values
    missing: list[str]  # "field: reason"


def run(
    settings: BenchmarkSettings, *, progress: Callable[[str], None], shelf: Shelf | None = None
) -> dict[str, Any]:
    """Every claim with what was measured here."""
    if not torch.cuda.is_available():
        measured = Measured(device="", why="there is no CUDA device here")
    else:
        pair, parts = load(settings.config, progress=progress, shelf=shelf)
        device = pair.target.device
        if device.type != "cuda":
            measured = Measured(device="", why="the run was told to decode on the CPU")
        else:
            timer = CudaTimer()
            progress("reading memory")
            measured = measure(
                settings.config,
                parts,
                progress=progress,
                device_name=torch.cuda.get_device_name(device),
                read_bytes_per_s=read_bytes_per_s(device, timer),
                timer=timer,
                count=lambda: Counters(device),
            )
    claims = [asdict(claim) for claim in check_claims(measured)]
    return {"device": measured.device or None, "claims": claims}


def measure(
    config: RunConfig,
    parts: Parts,
    *,
    progress: Callable[[str], None],
    device_name: str,
    read_bytes_per_s: float,
    timer: GpuTimer,
    count: "Callable[[], Counters]",
    backend: GraphBackend | None = None,
) -> Measured:
    """What the claims are about, of the captured functions; ``count`` begins a stretch under the
    hardware's counters, ``backend`` is as ``Rehearsal`` has it."""
    rehearsal = Rehearsal(replace(config, graphs=True), parts, timer=timer, backend=backend)
    progress("timing forwards")
    costs = rehearsal.costs()
    draft = verify = bytes_per_s = None
    progress("the target's verification, repeated")
    verification = rehearsal.verification()
    if verification is not None:
        verify = repeat(verification, timer, count)
        bytes_per_s = 1e9 * verification.n_bytes / verify.ns
    progress("the draft, repeated")
    loop = rehearsal.draft()
    if loop is not None:
        draft = repeat(loop, timer, count)
    is_captured, why_not = rehearsal.is_captured, rehearsal.why_not_captured
    rehearsal.close()
    missing = verify.missing if verify is not None else [f"GPU counters: {why_not}"]
    return Measured(
        device=device_name,
        draft_tensor_pct=draft.counters.get("tensor_active_pct") if draft else None,
        verify_tensor_pct=verify.counters.get("tensor_active_pct") if verify else None,
        verify_bytes_per_s=bytes_per_s,
        read_bytes_per_s=read_bytes_per_s,
        draft_gap_share=costs.uncaptured_launch_share if is_captured else None,
        draft_gap_share_with_graphs=costs.draft_launch_share if is_captured else None,
        missing=tuple(missing),
    )


def repeat(playable: Playable, timer: GpuTimer, count: "Callable[[], Counters]") -> Phase:
    """Play for ``STRETCH_S``, back to back but for one wait of the host in ``N_AT_ONCE``."""
    _play_ns(playable, timer)
    counters = count()
    n_played, elapsed_ns, started = 0, 0, time.perf_counter()
    while not n_played or time.perf_counter() - started < STRETCH_S:
        elapsed_ns += _play_ns(playable, timer)
        n_played += N_AT_ONCE
    values, missing = counters.read()
    return Phase(max(1, elapsed_ns) / n_played, values, missing)


def _play_ns(playable: Playable, timer: GpuTimer) -> int:
    """The time of ``N_AT_ONCE``, all of which are done when it returns."""
    with torch.inference_mode():
        start = timer.mark()
        for _ in range(N_AT_ONCE):
            playable.play()
        (ns,) = timer.read_ns([(start, timer.mark())])
    return ns or 0


class Counters:
    """The hardware's counters from now until they are read; none where they cannot be had."""

    def __init__(self, device: torch.device) -> None:
        import pynvml

        nvml: Any = pynvml
        self._nvml, self._why = nvml, ""
        self._gpm: GpmCounters | None = None
        try:
            nvml.nvmlInit()
            self._gpm = self._open(device)
        except (nvml.NVMLError, DeviceGone, NoSuchDevice) as error:
            self._why = str(error)

    def _open(self, device: torch.device) -> GpmCounters:
        """With NVML begun, which ends again where this fails."""
        with ExitStack() as undone:
            undone.callback(self._shut_down)
            counters = GpmCounters(self._nvml, find_by_cuda_uuid(self._nvml, cuda_uuid(device)))
            undone.pop_all()
        return counters

    def read(self) -> tuple[Values, list[str]]:
        """Per cent of what is possible, and "field: reason" for each that is missing."""
        if self._gpm is None:
            return {}, [f"GPU counters: {self._why}"]
        try:
            return self._gpm.read()
        except DeviceGone as error:
            return {}, [str(error)]
        finally:
            self._gpm.close()
            self._shut_down()

    def _shut_down(self) -> None:
        with suppress(self._nvml.NVMLError):  # a library that was lost is shut down already
            self._nvml.nvmlShutdown()
