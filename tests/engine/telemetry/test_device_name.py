import subprocess
import sys

import pynvml
import pytest

from engine.telemetry import device_name as module
from engine.telemetry.device_name import device_name, processor_name, torch_version


def test_a_processor_has_a_name() -> None:
    assert processor_name()
    assert device_name("cpu") == processor_name()


def test_a_torch_without_cuda_means_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "torch_version", lambda: "2.11.0+cpu")
    assert device_name("auto") == processor_name()


def test_a_gpu_is_named_by_its_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "torch_version", lambda: "2.11.0")
    monkeypatch.setattr(pynvml, "nvmlInit", lambda: None)
    monkeypatch.setattr(pynvml, "nvmlShutdown", lambda: None)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByIndex", lambda index: f"Accelerator {index}")
    monkeypatch.setattr(pynvml, "nvmlDeviceGetName", lambda handle: handle)
    assert device_name("auto") == "Accelerator 0"
    assert device_name("cuda:1") == "Accelerator 1"


def test_without_a_driver_it_is_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_DRIVER_NOT_LOADED)

    monkeypatch.setattr(module, "torch_version", lambda: "2.11.0")
    monkeypatch.setattr(pynvml, "nvmlInit", fail)
    assert device_name("auto") == processor_name()


def test_finding_the_name_does_not_load_torch() -> None:
    program = (
        "import sys; from engine.telemetry.device_name import *; "
        "device_name('auto'), torch_version(); sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    assert torch_version()
