"""What only a CUDA device can show: the same greedy text, and readings that can be true."""

import time

import pytest
import torch

from engine.assembly import Parts, put_together
from engine.models.loading import LoadedPair, load_pair
from engine.telemetry.cuda_timer import CudaTimer
from engine.telemetry.emitter import Emitter
from engine.telemetry.gpu_sampler import GpuSampler
from engine.telemetry.nvml_device import cuda_uuid
from engine.telemetry.spans import SpanRecorder
from engine.wire.commands import SubmitPrompt
from engine.wire.config import RunConfig
from engine.wire.events import (
    Event,
    GpuSampled,
    KernelsRecorded,
    LogEmitted,
    SpansMeasured,
    StepCommitted,
)

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]

PROMPT = "def quicksort(items):\n"


def decode(pair: LoadedPair, config: RunConfig) -> list[Event]:
    """What the engine says of one prompt."""
    said: list[Event] = []
    emitter = Emitter(said.append)
    is_cuda = pair.target.device.type == "cuda"
    engine = put_together(
        config,
        Parts(pair.target, pair.draft, pair.tokenizer, pair.n_tokens),
        emitter=emitter,
        spans=SpanRecorder(emitter, gpu_timer=CudaTimer() if is_cuda else None),
        rest=lambda point: None,
    )
    engine.submit(SubmitPrompt(text=PROMPT))
    while engine.has_work:
        engine.step()
    return said


def settings(**changes: object) -> RunConfig:
    return RunConfig(
        **{"dtype": "float32", "calibrate": False, "max_new_tokens": 64, **changes}  # type: ignore[arg-type]
    )


def tokens(events: list[Event]) -> list[int]:
    commits = [event for event in events if isinstance(event, StepCommitted)]
    return [token_id for commit in commits for token_id in commit.token_ids]


@pytest.fixture(scope="module")
def on_gpu() -> LoadedPair:
    return load_pair(settings(device="cuda"), progress=lambda detail: None)


@pytest.mark.parametrize("draft", ["bundled-draft", "ngram", "none"])
def test_greedy_text_is_that_of_the_cpu(on_gpu: LoadedPair, draft: str) -> None:
    on_cpu = load_pair(settings(device="cpu"), progress=lambda detail: None)
    torch.backends.cuda.matmul.allow_tf32 = False
    config = settings(draft=draft)
    assert tokens(decode(on_gpu, config)) == tokens(decode(on_cpu, config))


def test_spans_have_the_devices_time(on_gpu: LoadedPair) -> None:
    for event in decode(on_gpu, settings()):
        if isinstance(event, SpansMeasured):
            gpu_ns = dict(zip(event.names, event.gpu_ns, strict=True))
            step, verify = gpu_ns["step"], gpu_ns["verify"]
            assert step is not None
            assert verify is not None
            assert 0 < verify <= step


def test_kernels_lie_in_the_step_that_was_recorded(on_gpu: LoadedPair) -> None:
    events = decode(on_gpu, settings(kernels_every=3))
    spans = {event.step: event for event in events if isinstance(event, SpansMeasured)}
    recorded = [event for event in events if isinstance(event, KernelsRecorded)]
    assert recorded
    for event in recorded:
        of_step = spans[event.step]
        place = of_step.names.index("step")
        slack = (event.clock_error_ns or 0) + 1_000_000
        assert min(event.start_ns) >= of_step.start_ns[place] - slack
        assert set(event.span_indexes) - {-1}, "launches were found"
        names = {of_step.names[index] for index in event.span_indexes if index >= 0}
        assert "verify" in names


def test_readings_of_the_gpu_can_be_true() -> None:
    said: list[Event] = []
    matrix = torch.ones(4096, 4096, device="cuda", dtype=torch.bfloat16)
    with GpuSampler(Emitter(said.append), cuda_uuid(torch.device("cuda", 0))):
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            matrix = (matrix @ matrix).clamp_(-1, 1)
            torch.cuda.synchronize()
    assert not [event for event in said if isinstance(event, LogEmitted)]
    samples = [event for event in said if isinstance(event, GpuSampled)]
    assert len(samples) >= 5
    for sample in samples:
        assert sample.memory_total_bytes is None or sample.memory_used_bytes is not None
        if sample.memory_total_bytes is not None and sample.memory_used_bytes is not None:
            assert 0 < sample.memory_used_bytes <= sample.memory_total_bytes
        for share in (
            sample.utilization_pct, sample.sm_active_pct, sample.tensor_active_pct,
            sample.dram_active_pct,
        ):  # fmt: skip
            assert share is None or 0 <= share <= 100
        nulls = {line.split(":")[0] for line in sample.missing}
        assert all(getattr(sample, name) is None for name in nulls)
    active = [
        sample.tensor_active_pct for sample in samples if sample.tensor_active_pct is not None
    ]
    assert not active or max(active) > 20, "matrices are multiplied all the time"
