import math

import pynvml
import pytest

from engine.telemetry.gpm_counters import (
    NOT_YET,
    PROBE_S,
    RETRY_S,
    SHORTEST_S,
    GpmCounters,
)
from engine.telemetry.nvml_device import NvmlDevice
from engine.telemetry.nvml_readings import DeviceGone
from tests.support.simulated_nvml import SimulatedGpu, SimulatedNvml

TOO_SHORT_S = 0.1
"""Of samples this far apart or less NVML makes no number."""

SM_UTIL = pynvml.NVML_GPM_METRIC_SM_UTIL


def nvml_of(gpu: SimulatedGpu) -> SimulatedNvml:
    return SimulatedNvml(gpu, too_short_s=TOO_SHORT_S)


def counters_of(gpu: SimulatedGpu, nvml: SimulatedNvml | None = None) -> GpmCounters:
    """In simulated time: the probe's pause takes none of ours."""
    nvml = nvml or nvml_of(gpu)

    def pause(seconds: float) -> None:
        nvml.now_s += seconds

    device = NvmlDevice(gpu.uuid, gpu, gpu)
    return GpmCounters(nvml, device, pause=pause, clock=lambda: nvml.now_s)


def after(nvml: SimulatedNvml, seconds: float, counters: GpmCounters) -> tuple[object, list[str]]:
    """The reading of ``sm_active_pct`` after ``seconds``, and what is missing then."""
    nvml.now_s += seconds
    values, missing = counters.read()
    return values["sm_active_pct"], missing


def test_two_samples_are_taken_before_anything_is_promised() -> None:
    gpu = SimulatedGpu("GPU-a")
    nvml = nvml_of(gpu)
    counters = counters_of(gpu, nvml)
    assert nvml.calls == ["gpm support", "gpm sample", "gpm sample", "gpm metrics"]
    assert nvml.pairs == [PROBE_S]
    assert counters.reasons == {}
    values, missing = counters.read()
    assert values == {"sm_active_pct": 41.5, "tensor_active_pct": 12.25, "dram_active_pct": 100.0}
    assert missing == []
    counters.close()
    counters.close()
    assert nvml.n_samples == 0


def test_the_probe_and_every_pair_are_long_enough_for_nvml() -> None:
    assert min(PROBE_S, SHORTEST_S) > TOO_SHORT_S
    assert PROBE_S >= SHORTEST_S, "what the probe waits for is a pair"
    assert RETRY_S >= 2.0, "a device that gives nothing is not asked all the time"


@pytest.mark.parametrize("rate_hz", [200.0, 10.0, 9.0, 1.0])
def test_at_any_rate_a_pair_is_long_enough_and_each_sample_has_its_counters(rate_hz: float) -> None:
    gpu = SimulatedGpu("GPU-a")
    nvml = nvml_of(gpu)
    counters = counters_of(gpu, nvml)
    for _ in range(round(3 * rate_hz)):
        assert after(nvml, 1 / rate_hz, counters) == (41.5, [])
    longest_s = SHORTEST_S + 1 / rate_hz
    assert all(TOO_SHORT_S < pair <= longest_s + 1e-9 for pair in nvml.pairs[1:])
    assert sum(nvml.pairs[1:]) >= 3.0 - longest_s, "the pairs leave no time out"


def test_within_a_pair_the_reading_before_is_given_again() -> None:
    gpu = SimulatedGpu("GPU-a")
    nvml = nvml_of(gpu)
    counters = counters_of(gpu, nvml)
    gpu.counters[SM_UTIL] = 7.0
    n_calls = len(nvml.calls)
    assert after(nvml, SHORTEST_S / 2, counters) == (41.5, [])
    assert len(nvml.calls) == n_calls, "the driver is not even asked"
    assert after(nvml, SHORTEST_S / 2 + 0.001, counters) == (7.0, [])


def test_a_pair_that_took_no_time_is_not_evaluated() -> None:
    """A pause that ends at once, as that of a sampler that is being stopped."""
    gpu = SimulatedGpu("GPU-a")
    nvml = nvml_of(gpu)
    counters = GpmCounters(
        nvml, NvmlDevice(gpu.uuid, gpu, gpu), pause=lambda seconds: None, clock=lambda: nvml.now_s
    )
    assert counters.read()[1][0] == f"sm_active_pct: {NOT_YET}"
    assert nvml.pairs == []
    assert after(nvml, SHORTEST_S, counters) == (41.5, [])


def test_a_gpu_before_hopper() -> None:
    gpu = SimulatedGpu("GPU-a", has_gpm=False)
    nvml = nvml_of(gpu)
    counters = counters_of(gpu, nvml)
    assert nvml.now_s == 0.0, "there is nothing to wait for"
    values, missing = counters.read()
    assert set(values.values()) == {None}
    assert missing == [
        "sm_active_pct: not supported",
        "tensor_active_pct: not supported",
        "dram_active_pct: not supported",
    ]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (pynvml.NVML_ERROR_NO_PERMISSION, "no permission"),
        (pynvml.NVML_ERROR_NOT_SUPPORTED, "not supported"),
        (pynvml.NVML_ERROR_FUNCTION_NOT_FOUND, "not supported"),
    ],
)
@pytest.mark.parametrize("function", ["gpm support", "gpm sample", "gpm metrics"])
def test_a_refusal_is_final(function: str, code: int, reason: str) -> None:
    gpu = SimulatedGpu("GPU-a", refusals={function: code})
    nvml = nvml_of(gpu)
    counters = counters_of(gpu, nvml)
    assert set(counters.reasons.values()) == {reason}
    assert nvml.n_samples == 0, "samples of a probe that failed are given back"
    del gpu.refusals[function]
    n_calls = len(nvml.calls)
    for _ in range(100):
        assert after(nvml, RETRY_S, counters)[1][0] == f"sm_active_pct: {reason}"
    assert len(nvml.calls) == n_calls


def test_counters_that_are_refused_one_by_one_are_final_too() -> None:
    gpu = SimulatedGpu("GPU-a")
    gpu.counter_codes = dict.fromkeys(gpu.counters, pynvml.NVML_ERROR_NOT_SUPPORTED)
    nvml = nvml_of(gpu)
    counters = counters_of(gpu, nvml)
    gpu.counter_codes = {}
    assert after(nvml, 10 * RETRY_S, counters)[0] is None


@pytest.mark.parametrize("function", ["gpm support", "gpm sample", "gpm metrics"])
def test_a_probe_that_fails_for_a_while_is_tried_again(function: str) -> None:
    gpu = SimulatedGpu("GPU-a", refusals={function: pynvml.NVML_ERROR_TIMEOUT})
    nvml = nvml_of(gpu)
    counters = counters_of(gpu, nvml)
    assert counters.read()[1][0] == "sm_active_pct: error: Timeout"
    assert nvml.n_samples == 0
    del gpu.refusals[function]
    n_calls, rate_hz = len(nvml.calls), 10.0
    while nvml.now_s < RETRY_S - 1 / rate_hz:
        assert after(nvml, 1 / rate_hz, counters)[1][0] == "sm_active_pct: error: Timeout"
    assert len(nvml.calls) == n_calls, "not before its time"
    readings = [after(nvml, 1 / rate_hz, counters) for _ in range(8)]
    assert readings[-1] == (41.5, [])
    assert {missing[0] for value, missing in readings if value is None} <= {
        "sm_active_pct: error: Timeout",
        f"sm_active_pct: {NOT_YET}",
    }
    assert min(nvml.pairs) > TOO_SHORT_S
    counters.close()
    assert nvml.n_samples == 0


def test_a_probe_that_gives_no_number_is_tried_again_and_again_but_seldom() -> None:
    gpu = SimulatedGpu("GPU-a")
    numbers = dict(gpu.counters)
    gpu.counters = dict.fromkeys(numbers, math.nan)
    nvml = nvml_of(gpu)
    counters = counters_of(gpu, nvml)
    assert counters.read()[1][0] == "sm_active_pct: error: the counter reads nan"
    started_s, n_pairs = nvml.now_s, len(nvml.pairs)
    while nvml.now_s < started_s + 10 * RETRY_S:
        assert after(nvml, 0.005, counters)[0] is None
    assert 5 <= len(nvml.pairs) - n_pairs <= 10
    assert nvml.n_samples <= 2
    gpu.counters = numbers
    while nvml.now_s < started_s + 12 * RETRY_S:
        last = after(nvml, 0.005, counters)
    assert last == (41.5, [])


def test_one_counter_of_three_is_missing() -> None:
    metric = pynvml.NVML_GPM_METRIC_ANY_TENSOR_UTIL
    codes = {metric: pynvml.NVML_ERROR_NOT_SUPPORTED}
    counters = counters_of(SimulatedGpu("GPU-a", counter_codes=codes))
    values, missing = counters.read()
    assert values["tensor_active_pct"] is None
    assert values["sm_active_pct"] == 41.5
    assert missing == ["tensor_active_pct: not supported"]


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_what_is_no_share_is_no_reading(value: float) -> None:
    gpu = SimulatedGpu("GPU-a")
    nvml = nvml_of(gpu)
    counters = counters_of(gpu, nvml)
    gpu.counters[SM_UTIL] = value
    reading = after(nvml, SHORTEST_S, counters)
    assert reading == (None, [f"sm_active_pct: error: the counter reads {value}"])


@pytest.mark.parametrize("function", ["gpm sample", "gpm metrics"])
def test_a_reading_that_fails_once_is_missing_once(function: str) -> None:
    gpu = SimulatedGpu("GPU-a")
    nvml = nvml_of(gpu)
    counters = counters_of(gpu, nvml)
    gpu.refusals[function] = pynvml.NVML_ERROR_TIMEOUT
    assert after(nvml, SHORTEST_S, counters)[1][0] == "sm_active_pct: error: Timeout"
    del gpu.refusals[function]
    assert after(nvml, SHORTEST_S, counters) == (41.5, [])


def test_a_sample_that_could_not_be_taken_begins_no_pair() -> None:
    gpu = SimulatedGpu("GPU-a")
    nvml = nvml_of(gpu)
    counters = counters_of(gpu, nvml)
    gpu.refusals["gpm sample"] = pynvml.NVML_ERROR_TIMEOUT
    after(nvml, 1.0, counters)
    del gpu.refusals["gpm sample"]
    after(nvml, 1.0, counters)
    assert nvml.pairs[-1] == pytest.approx(2.0), "since the last one that was"


def test_a_lost_device_is_told() -> None:
    gpu = SimulatedGpu("GPU-a")
    nvml = nvml_of(gpu)
    counters = counters_of(gpu, nvml)
    gpu.refusals["gpm sample"] = pynvml.NVML_ERROR_GPU_IS_LOST
    with pytest.raises(DeviceGone):
        after(nvml, SHORTEST_S, counters)
    counters.close()
    with pytest.raises(DeviceGone):
        counters_of(gpu, nvml)
    assert nvml.n_samples == 0, "of counters that were never made nobody gives samples back"


def test_a_mig_instance_is_sampled_as_one() -> None:
    whole = SimulatedGpu("GPU-a")
    part = SimulatedGpu("MIG-b", whole=whole, gpu_instance_id=5)
    nvml = SimulatedNvml(whole)
    times = iter(range(100))
    GpmCounters(
        nvml,
        NvmlDevice("MIG-b", part, whole, 5),
        pause=lambda seconds: None,
        clock=lambda: next(times),
    )
    assert nvml.calls[1:3] == ["gpm sample of instance 5"] * 2
