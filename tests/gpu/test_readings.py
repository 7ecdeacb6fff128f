"""What NVML tells of the GPU can be true, and being asked disturbs no capture."""

import time

import torch

from engine.models.loading import LoadedPair
from engine.telemetry.emitter import Emitter
from engine.telemetry.gpu_sampler import GpuSampler
from engine.telemetry.nvml_device import cuda_uuid
from engine.wire.events import Event, GpuSampled, LogEmitted
from tests.gpu.runs import ON_GPU, decode, of_kind, texts

pytestmark = ON_GPU

BUSY_S = 1.5
RANGES = {
    "utilization_pct": (0.0, 100.0),
    "sm_active_pct": (0.0, 100.0),
    "tensor_active_pct": (0.0, 100.0),
    "dram_active_pct": (0.0, 100.0),
    "power_mw": (10_000.0, 2_000_000.0),
    "temperature_c": (5.0, 110.0),
    "sm_clock_mhz": (50.0, 5_000.0),
}
"""What a device that is at work may read."""


def test_readings_of_the_gpu_can_be_true() -> None:
    said: list[Event] = []
    matrix = torch.ones(4096, 4096, device="cuda", dtype=torch.bfloat16)
    held = torch.cuda.memory_allocated()
    with GpuSampler(Emitter(said.append), cuda_uuid(torch.device("cuda", 0))):
        end = time.monotonic() + BUSY_S
        while time.monotonic() < end:
            for _ in range(20):  # so many at once that the device never waits for the host
                matrix = (matrix @ matrix).clamp_(-1, 1)
            torch.cuda.synchronize()
    assert not of_kind(said, LogEmitted)
    samples = of_kind(said, GpuSampled)
    assert len(samples) >= 5
    for sample in samples:
        require_plausible(sample, held)
    # The first stretches reach back to before the work.
    for name, least in (("sm_active_pct", 50.0), ("tensor_active_pct", 20.0)):
        read = [value for each in samples if (value := getattr(each, name)) is not None]
        assert not read or max(read) > least, f"{name}: matrices are multiplied all the time"


def require_plausible(sample: GpuSampled, held: int) -> None:
    reasons = {line.split(":")[0] for line in sample.missing}
    for name, (least, most) in RANGES.items():
        value = getattr(sample, name)
        assert (value is None) == (name in reasons), f"{name} is missing just where it says so"
        assert value is None or least <= value <= most, f"{name} is {value}"
    if sample.memory_total_bytes is not None and sample.memory_used_bytes is not None:
        assert held <= sample.memory_used_bytes <= sample.memory_total_bytes


def test_graphs_are_captured_while_the_sampler_polls(pair: LoadedPair) -> None:
    said: list[Event] = []
    with GpuSampler(Emitter(said.append), cuda_uuid(pair.target.device), rate_hz=200):
        for gamma in (1, 3, 5):
            assert texts(decode(pair, gamma=gamma))
    assert not of_kind(said, LogEmitted)
    assert of_kind(said, GpuSampled)
