"""This very machine: its processor's name, and its peaks, measured where no table knows them."""

import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import numpy as np

from engine.theory.devices import DevicePeaks

_COPY_BYTES = 64 * 1024**2
_MATRIX_SIZE = 768
_SHARE_S = 0.2  # time given to each of the two measurements
_MIN_RUNS = 3


def processor_name() -> str:
    """As the system calls it; the architecture where it says nothing."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name" and value.strip():
                return value.strip()
    return platform.processor() or platform.machine()


def measure_host_peaks() -> DevicePeaks:
    """Copy bandwidth (bytes read plus written) and fp32 matrix rate of this machine, about 0.5 s.

    Both are medians of several runs and use every core: a copy split among as many threads, and
    numpy's own threaded matrix product. They are reached rates, lower than any data sheet's, and
    lower still when the machine is busy. A read-only stream may run somewhat faster than a copy.
    """
    return DevicePeaks(
        name="this machine (measured)",
        bytes_per_s=_copy_bytes_per_s(),
        fp32=_matrix_flops_per_s(),
        is_measured=True,
    )


def _copy_bytes_per_s() -> float:
    n_threads = os.cpu_count() or 1
    source = np.ones(_COPY_BYTES // 8, dtype=np.float64)
    sink = np.empty_like(source)
    parts = list(
        zip(np.array_split(sink, n_threads), np.array_split(source, n_threads), strict=True)
    )
    with ThreadPoolExecutor(n_threads) as pool:
        seconds = _median_s(lambda: list(pool.map(lambda part: np.copyto(*part), parts)))
    return 2 * source.nbytes / seconds


def _matrix_flops_per_s() -> float:
    generator = np.random.default_rng(0)
    left, right = generator.standard_normal((2, _MATRIX_SIZE, _MATRIX_SIZE), dtype=np.float32)
    out = np.empty_like(left)
    seconds = _median_s(lambda: np.matmul(left, right, out=out))
    return float(2 * _MATRIX_SIZE**3 / seconds)


def _median_s(work: Callable[[], object]) -> float:
    work()  # pages touched, threads started
    runs: list[float] = []
    until = time.perf_counter() + _SHARE_S
    while len(runs) < _MIN_RUNS or time.perf_counter() < until:
        started = time.perf_counter()
        work()
        runs.append(time.perf_counter() - started)
    return median(runs)
