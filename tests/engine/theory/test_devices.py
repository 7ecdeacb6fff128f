import pytest

from engine.theory.devices import KNOWN_DEVICES, SHORT_NAMES, Precision, find_device
from engine.theory.roofline import ridge_point


@pytest.mark.parametrize(
    ("name", "bf16_tflops", "gbytes_per_s", "memory_gib"),
    [
        ("NVIDIA H100 80GB HBM3", 989.4, 3350, 79.6),
        ("NVIDIA H100 PCIe", 756, 2000, 79.6),
        ("NVIDIA H100 NVL", 835.5, 3900, 93.6),
        ("NVIDIA H200", 989.4, 4800, 140.4),
        ("NVIDIA A100-SXM4-40GB", 312, 1555, 40.0),
        ("NVIDIA A100-PCIE-40GB", 312, 1555, 40.0),
        ("NVIDIA A100-SXM4-80GB", 312, 2039, 80.0),
        ("NVIDIA A100 80GB PCIe", 312, 1935, 80.0),
        ("NVIDIA L40S", 362.05, 864, 45.0),
        ("NVIDIA B200", 2250, 8000, 179.1),
    ],
)
def test_peaks_by_the_drivers_name(
    name: str, bf16_tflops: float, gbytes_per_s: float, memory_gib: float
) -> None:
    device = find_device(name)
    assert device is not None
    assert device.name == name
    assert device.flops_per_s() == device.flops_per_s(Precision.FP16) == bf16_tflops * 1e12
    assert device.bytes_per_s == gbytes_per_s * 1e9
    assert round((device.memory_bytes or 0) / 1024**3, 1) == memory_gib


@pytest.mark.parametrize(("name", "ridge"), [("h100-sxm", 295), ("h200", 206)])
def test_ridge_points(name: str, ridge: int) -> None:
    device = find_device(name)
    assert device is not None
    assert round(ridge_point(device)) == ridge


@pytest.mark.parametrize(
    "name",
    [
        "",
        "NVIDIA H100",
        "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
        "NVIDIA H100 64GB HBM2",
        "NVIDIA GH200 480GB",
        "NVIDIA GeForce RTX 4090",
        "cpu",
    ],
)
def test_unknown_devices_are_not_guessed(name: str) -> None:
    assert find_device(name) is None


def test_older_and_shorter_names() -> None:
    assert find_device("A100-SXM4-40GB") is find_device("a100-40-sxm") is not None
    assert len(SHORT_NAMES) == len(KNOWN_DEVICES) == len({one.name for one in KNOWN_DEVICES})


def test_a_missing_precision_is_said() -> None:
    device = find_device("NVIDIA A100-SXM4-80GB")
    assert device is not None
    with pytest.raises(ValueError, match="no known fp8 peak; choose one of: bf16, fp16, tf32"):
        device.flops_per_s(Precision.FP8)


def test_rates_are_dense() -> None:
    for device in KNOWN_DEVICES:
        if device.fp8 is not None and device.bf16 is not None:
            assert device.fp8 / device.bf16 == pytest.approx(2, rel=0.02)
        assert (device.bf16 or 0) / (device.tf32 or 1) == pytest.approx(2, rel=0.02)
