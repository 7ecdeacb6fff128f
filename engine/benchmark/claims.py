"""Published claims about speculative decoding on an H100, each measured here as far as it can be.

A phase is run alone, again and again, for long enough that the hardware's counters tell about it:
they are of a whole stretch of time, and a step's phases last a few milliseconds. What cannot be
measured says why.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from msgspec.structs import replace

from engine.assembly import Parts, put_together
from engine.benchmark.claim_checks import Measured, check_claims
from engine.kv.base import ForwardRow
from engine.kv.block_table import blocks_for
from engine.kv.paged_cache import PagedCache
from engine.models.base import CausalModel
from engine.models.loading import LoadedPair, load_pair
from engine.telemetry.cuda_timer import CudaTimer
from engine.telemetry.emitter import Emitter
from engine.telemetry.gpm_counters import GpmCounters
from engine.telemetry.kernel_recorder import KernelRecorder
from engine.telemetry.kernel_trace import SpanBounds
from engine.telemetry.nvml_device import NoSuchDevice, cuda_uuid, find_by_cuda_uuid
from engine.telemetry.nvml_readings import DeviceGone
from engine.telemetry.spans import SpanRecorder
from engine.wire.benchmark import BenchmarkSettings
from engine.wire.commands import SubmitPrompt
from engine.wire.config import RunConfig
from engine.wire.events import Event, KernelsRecorded, Role

STRETCH_S = 2.0
"""How long a phase is repeated under the counters."""
CONTEXT = 512
"""Cached tokens while a phase is repeated."""
READ_BYTES = 4 << 30
N_TRACED = 8


@dataclass(frozen=True)
class Phase:
    """One forward repeated: seconds each, and the counters meanwhile."""

    forward_s: float
    counters: dict[str, float | int | None]
    missing: list[str]


def run(settings: BenchmarkSettings, *, progress: Callable[[str], None]) -> dict[str, Any]:
    """Every claim with what was measured here."""
    if not torch.cuda.is_available():
        measured = Measured(device="", why="there is no CUDA device here")
    else:
        measured = _measure(settings, progress)
    claims = [asdict(claim) for claim in check_claims(measured)]
    return {"device": measured.device or None, "claims": claims}


def _measure(settings: BenchmarkSettings, progress: Callable[[str], None]) -> Measured:
    config = settings.config
    pair = load_pair(config, progress=progress)
    device = pair.target.device
    if device.type != "cuda":
        return Measured(device="", why="the run was told to decode on the CPU")
    name = torch.cuda.get_device_name(device)
    with torch.inference_mode():
        progress("reading memory")
        read_s = _read_s(device)
        progress("the target's verification, repeated")
        width = config.gamma_limit + 1
        verify = _repeat(pair.target, Role.TARGET, width)
        bytes_per_s = pair.target.weight_bytes / verify.forward_s
        draft, gap_share, captured_share = None, None, None
        if pair.draft is not None:
            progress("the draft's forward, repeated")
            draft = _repeat(pair.draft, Role.DRAFT, 1)
            progress("the draft's kernels")
            gap_share = _gap_share(pair.draft)
            progress("the draft, captured")
            captured_share = _captured_gap_share(config, pair)
    return Measured(
        device=name,
        draft_tensor_pct=draft.counters.get("tensor_active_pct") if draft else None,
        verify_tensor_pct=verify.counters.get("tensor_active_pct"),
        verify_bytes_per_s=bytes_per_s,
        read_bytes_per_s=READ_BYTES / read_s,
        draft_gap_share=gap_share,
        draft_gap_share_with_graphs=captured_share,
        missing=tuple(verify.missing),
    )


def _read_s(device: torch.device) -> float:
    """Seconds to read ``READ_BYTES`` once, by a reduction: the best of a few."""
    values = torch.ones(READ_BYTES // 4, device=device)
    values.sum()
    times = []
    for _ in range(5):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        values.sum()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return min(times)


class _Forward:
    """One model's forward of a width, again and again on the same context."""

    def __init__(self, role: Role, model: CausalModel, width: int) -> None:
        self._model, self._width = model, width
        self._held = max(0, min(CONTEXT, model.context_length - width))
        n_positions = self._held + width
        self._cache = PagedCache(
            role,
            model.layer_kv_shapes(),
            n_blocks=blocks_for(n_positions, 16),
            block_size=16,
            dtype=model.dtype,
            device=model.device,
            say=_ignore,
        )
        self._cache.open(0, n_positions=n_positions)
        if self._held:
            self._cache.batch([ForwardRow(0, [0] * self._held)], device=model.device)

    def __call__(self) -> None:
        batch = self._cache.batch([ForwardRow(0, [0] * self._width)], device=self._model.device)
        self._model.forward(batch, self._cache, n_logits=self._width)
        self._cache.table(0).length = self._held


def _repeat(model: CausalModel, role: Role, width: int) -> Phase:
    forward = _Forward(role, model, width)
    forward()
    torch.cuda.synchronize(model.device)
    counters = _Counters(model.device)
    n_forwards, started = 0, time.perf_counter()
    while time.perf_counter() - started < STRETCH_S:
        forward()
        torch.cuda.synchronize(model.device)
        n_forwards += 1
    elapsed_s = time.perf_counter() - started
    values, missing = counters.read()
    return Phase(elapsed_s / n_forwards, values, missing)


class _Counters:
    """The hardware's counters from now until they are read; none where they cannot be had."""

    def __init__(self, device: torch.device) -> None:
        import pynvml

        self._nvml, self._gpm, self._why = pynvml, None, ""
        try:
            pynvml.nvmlInit()
            self._gpm = GpmCounters(pynvml, find_by_cuda_uuid(pynvml, cuda_uuid(device)))
            self._gpm.read()  # what follows is counted from here
        except (pynvml.NVMLError, DeviceGone, NoSuchDevice) as error:
            self._why = str(error)

    def read(self) -> tuple[dict[str, float | int | None], list[str]]:
        if self._gpm is None:
            return {}, [f"GPU counters: {self._why}"]
        try:
            return self._gpm.read()
        except DeviceGone as error:
            return {}, [str(error)]
        finally:
            self._gpm.close()
            self._nvml.nvmlShutdown()


def _gap_share(model: CausalModel) -> float | None:
    """Share of a draft forward in which no kernel ran, over several; None if none were recorded."""
    said: list[Event] = []
    emitter = Emitter(said.append)
    recorder = KernelRecorder(emitter, is_cuda=True, every=1)
    forward = _Forward(Role.DRAFT, model, 1)
    forward()
    spans = []
    for step in range(N_TRACED):
        torch.cuda.synchronize(model.device)
        recorder.begin_step()
        start_ns = emitter.now_ns()
        forward()
        torch.cuda.synchronize(model.device)
        spans.append(SpanBounds(start_ns, emitter.now_ns()))
        recorder.end_step(step, spans[-1:])
    busy_ns = sum(sum(event.duration_ns) for event in said if isinstance(event, KernelsRecorded))
    if not busy_ns:
        return None
    whole_ns = sum(span.end_ns - span.start_ns for span in spans)
    return max(0.0, 1.0 - busy_ns / whole_ns)


def _captured_gap_share(config: RunConfig, pair: LoadedPair) -> float | None:
    """Share of a captured draft's time in which its graph does not run, as the engine's own
    calibration finds it; None if it could not be captured."""
    emitter = Emitter(_ignore)
    engine = put_together(
        replace(config, calibrate=True, graphs=True, batch=1),
        Parts(pair.target, pair.draft, pair.tokenizer, pair.n_tokens),
        emitter=emitter,
        spans=SpanRecorder(emitter, gpu_timer=CudaTimer()),
        rest=_go_on,
    )
    engine.submit(SubmitPrompt(text="def "))
    engine.step()
    return None if engine.calibration is None else engine.calibration.draft_launch_share


def _go_on(resting_point: str) -> None:
    """Nobody pauses a benchmark."""


def _ignore(event: Event) -> None:
    """A cache that is thrown away is part of no session."""
