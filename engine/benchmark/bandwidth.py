"""What a device's memory gives, measured: bytes per second of a copy and of a plain reading."""

from collections.abc import Callable
from functools import partial

import torch

from engine.telemetry.spans import GpuTimer

COPIED_BYTES = 2 << 30
READ_BYTES = 4 << 30
"""Far more than any device's caches hold."""
N_TRIES = 5
N_AT_ONCE = 4
"""Copies timed together, so that the launch of the first is nothing beside them."""


def copy_bytes_per_s(
    device: torch.device, timer: GpuTimer, *, n_bytes: int = COPIED_BYTES
) -> float:
    """Of copying ``n_bytes`` from one place of the device's memory to another, which moves twice as
    many: each is read and written. The best of several tries."""
    source = torch.empty(n_bytes // 4, device=device).uniform_()
    copy = torch.empty_like(source)
    best_ns = _best_ns(partial(copy.copy_, source), timer)
    del source, copy
    _give_back(device)
    return 2e9 * n_bytes / best_ns


def read_bytes_per_s(device: torch.device, timer: GpuTimer, *, n_bytes: int = READ_BYTES) -> float:
    """Of reading ``n_bytes`` once, by a sum over all of them. The best of several tries."""
    values = torch.ones(n_bytes // 4, device=device)
    best_ns = _best_ns(values.sum, timer)
    del values
    _give_back(device)
    return 1e9 * n_bytes / best_ns


def _best_ns(work: Callable[[], object], timer: GpuTimer) -> float:
    """Nanoseconds of one ``work`` on the device's clock."""
    work()
    times = []
    for _ in range(N_TRIES):
        start = timer.mark()
        for _ in range(N_AT_ONCE):
            work()
        times += timer.read_ns([(start, timer.mark())])
    return max(1, min(ns for ns in times if ns is not None)) / N_AT_ONCE


def _give_back(device: torch.device) -> None:
    """Whoever asks how much memory is free is not to find it held for nothing."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
