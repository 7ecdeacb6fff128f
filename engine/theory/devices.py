"""Peaks of known GPUs: dense matrix rates, memory bandwidth, memory.

Vendors print tensor-core rates "with sparsity", twice what a dense matrix product can reach: the
1,979 TFLOP/s of an H100 SXM in bf16 are 989 dense. All rates here are dense. They are the vendor's
figures for the boost clock, an upper bound that no kernel reaches; memory is what the driver
reports as total.
"""

from dataclasses import dataclass
from enum import StrEnum

from engine.theory.workload import MIB


class Precision(StrEnum):
    """The number format of a matrix product's inputs."""

    BF16 = "bf16"
    FP16 = "fp16"
    FP8 = "fp8"
    TF32 = "tf32"
    FP32 = "fp32"


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePeaks:
    """The ceilings of one device: FLOP/s by precision (None: it has none), bytes/s, bytes."""

    name: str
    bytes_per_s: float
    memory_bytes: int | None = None
    bf16: float | None = None
    fp16: float | None = None
    fp8: float | None = None
    tf32: float | None = None
    fp32: float | None = None
    is_measured: bool = False

    def flops_per_s(self, precision: Precision = Precision.BF16) -> float:
        """The dense peak of ``precision``, FLOP/s. ValueError: the device has none, or unknown."""
        rate: float | None = getattr(self, precision)
        if rate is None:
            known = ", ".join(kind for kind in Precision if getattr(self, kind) is not None)
            raise ValueError(f"{self.name} has no known {precision} peak; choose one of: {known}.")
        return rate


def find_device(name: str) -> DevicePeaks | None:
    """The peaks of the GPU that torch or NVML calls ``name``; None when unknown, never a guess.

    A short form ("h100-sxm") is understood as well. The whole name must match: a MIG slice of a
    known GPU, or a variant with other memory, is unknown.
    """
    return _BY_NAME.get(_plain(name))


def _plain(name: str) -> str:
    return " ".join(name.casefold().split()).removeprefix("nvidia ")


def _device(
    name: str,
    gbytes_per_s: int,
    memory_mib: int,
    tensor_16: float,
    tensor_fp8: float | None,
    tensor_tf32: float,
    fp32: float,
) -> DevicePeaks:
    return DevicePeaks(
        name=name,
        bytes_per_s=gbytes_per_s * 1e9,
        memory_bytes=memory_mib * MIB,
        bf16=tensor_16 * 1e12,
        fp16=tensor_16 * 1e12,
        fp8=None if tensor_fp8 is None else tensor_fp8 * 1e12,
        tf32=tensor_tf32 * 1e12,
        fp32=fp32 * 1e12,
    )


# name, GB/s, MiB, then dense TFLOP/s: bf16 and fp16, fp8, tf32, and fp32 without tensor cores
_SHORT_NAMES: dict[str, DevicePeaks] = {
    "h100-sxm": _device("NVIDIA H100 80GB HBM3", 3350, 81559, 989.4, 1978.9, 494.7, 66.9),
    "h100-pcie": _device("NVIDIA H100 PCIe", 2000, 81559, 756.0, 1513.0, 378.0, 51.2),
    "h100-nvl": _device("NVIDIA H100 NVL", 3900, 95830, 835.5, 1670.5, 417.5, 60.0),
    "h200": _device("NVIDIA H200", 4800, 143771, 989.4, 1978.9, 494.7, 66.9),
    "h200-nvl": _device("NVIDIA H200 NVL", 4800, 143771, 835.5, 1670.5, 417.5, 60.0),
    "a100-40-sxm": _device("NVIDIA A100-SXM4-40GB", 1555, 40960, 312.0, None, 156.0, 19.5),
    "a100-40-pcie": _device("NVIDIA A100-PCIE-40GB", 1555, 40960, 312.0, None, 156.0, 19.5),
    "a100-80-sxm": _device("NVIDIA A100-SXM4-80GB", 2039, 81920, 312.0, None, 156.0, 19.5),
    "a100-80-pcie": _device("NVIDIA A100 80GB PCIe", 1935, 81920, 312.0, None, 156.0, 19.5),
    "l40s": _device("NVIDIA L40S", 864, 46068, 362.05, 733.0, 183.0, 91.6),
    "b200": _device("NVIDIA B200", 8000, 183359, 2250.0, 4500.0, 1125.0, 75.0),
}

KNOWN_DEVICES: tuple[DevicePeaks, ...] = tuple(_SHORT_NAMES.values())
SHORT_NAMES: tuple[str, ...] = tuple(_SHORT_NAMES)

_BY_NAME = _SHORT_NAMES | {_plain(device.name): device for device in KNOWN_DEVICES}
