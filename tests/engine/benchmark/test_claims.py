import pytest
import torch

from engine.benchmark.claims import run
from engine.wire.benchmark import BenchmarkSettings
from engine.wire.config import RunConfig


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_a_gpu_nothing_is_measured_and_nothing_loaded() -> None:
    settings = BenchmarkSettings(suite="claims", config=RunConfig(target="./nowhere"))
    result = run(settings, progress=lambda detail: None)
    assert result["device"] is None
    assert {claim["verdict"] for claim in result["claims"]} == {"not measured"}
