import subprocess
import sys

import pynvml
import pytest

from engine.telemetry import device_name as module
from engine.telemetry.device_name import UNKNOWN, device_name, processor_name, torch_version
from tests.support.simulated_nvml import SimulatedGpu, SimulatedNvml


def test_a_processor_has_a_name() -> None:
    assert processor_name()
    assert device_name("cpu") == processor_name()


def test_a_torch_without_cuda_means_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "torch_version", lambda: "2.11.0+cpu")
    assert device_name("auto") == processor_name()


def on_a_machine(monkeypatch: pytest.MonkeyPatch, *gpus: SimulatedGpu) -> None:
    """As if NVML knew these GPUs, and torch could use them."""
    nvml = SimulatedNvml(*gpus)
    monkeypatch.setattr(module, "torch_version", lambda: "2.11.0")
    for name in vars(SimulatedNvml):
        if name.startswith("nvml"):
            monkeypatch.setattr(pynvml, name, getattr(nvml, name))
    for variable in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"):
        monkeypatch.delenv(variable, raising=False)


def test_a_gpu_is_named_by_its_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_machine(monkeypatch, SimulatedGpu("GPU-a", "Fast"), SimulatedGpu("GPU-b", "Fast"))
    assert device_name("auto") == "Fast"
    assert device_name("cuda:1") == "Fast"
    assert device_name("cuda:2") == UNKNOWN


def test_a_number_means_what_cuda_makes_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_machine(monkeypatch, SimulatedGpu("GPU-a", "Old"), SimulatedGpu("GPU-b", "New"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-b,0")
    assert device_name("auto") == "New"
    assert device_name("cuda:1") == "Old or New", "CUDA may number them otherwise than NVML"
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    assert device_name("cuda:1") == "Old"
    assert device_name("cuda:2") == UNKNOWN
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert device_name("cuda") == UNKNOWN


def test_a_mig_instance_has_a_name_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = SimulatedGpu("GPU-a")
    gpu.instances = [SimulatedGpu("MIG-c", "NVIDIA H100 MIG 1g.10gb", whole=gpu)]
    on_a_machine(monkeypatch, gpu)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-c")
    assert device_name("auto") == "NVIDIA H100 MIG 1g.10gb"


def test_without_a_driver_only_cuda_by_name_means_a_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_DRIVER_NOT_LOADED)

    monkeypatch.setattr(module, "torch_version", lambda: "2.11.0")
    monkeypatch.setattr(pynvml, "nvmlInit", fail)
    assert device_name("auto") == processor_name()
    assert device_name("cuda:0") == UNKNOWN


def test_finding_the_name_does_not_load_torch() -> None:
    program = (
        "import sys; from engine.telemetry.device_name import *; "
        "device_name('auto'), torch_version(); sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    assert torch_version()
