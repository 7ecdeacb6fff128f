import time

import pytest

from engine.theory.devices import Precision
from engine.theory.host_peaks import measure_host_peaks
from engine.theory.roofline import ridge_point


def test_this_machine_has_a_bandwidth_and_a_matrix_rate() -> None:
    started = time.perf_counter()
    peaks = measure_host_peaks()
    assert time.perf_counter() - started < 30
    assert peaks.is_measured
    assert 1e8 < peaks.bytes_per_s < 1e13
    assert 1e8 < peaks.flops_per_s(Precision.FP32) < 1e15
    assert ridge_point(peaks, Precision.FP32) > 0
    with pytest.raises(ValueError, match="no known bf16 peak; choose one of: fp32"):
        peaks.flops_per_s(Precision.BF16)
