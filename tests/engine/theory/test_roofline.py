from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.theory.devices import DevicePeaks, Precision, find_device
from engine.theory.presets import PRESETS
from engine.theory.roofline import (
    Bound,
    ForwardCost,
    attainable_flops_per_s,
    forward_cost,
    least_time,
    ridge_point,
    transfer_floor_s,
)
from engine.theory.shape import ModelShape

LLAMA_70B = PRESETS["llama-3-70b"].shape
TINY = ModelShape(
    n_layers=2, hidden_size=8, n_heads=2, n_kv_heads=1, head_dim=4, intermediate_size=16,
    vocab_size=10, n_parameters=1240, has_tied_embeddings=False,
)  # fmt: skip
lengths = st.integers(0, 60)
widths = st.integers(1, 12)


def h100() -> DevicePeaks:
    device = find_device("NVIDIA H100 80GB HBM3")
    assert device is not None
    return device


def test_a_forward_counted_by_hand() -> None:
    cost = forward_cost(TINY, [3], [2])
    layer_parameters, head = 1240 - 2 * 80, 80
    pairs = 4 + 5  # the first new token sees 3 + itself, the second 4 + itself
    kv_per_token = 2 * 2 * 1 * 4
    per_layer = 4 * 8 + 4 * 8 + 2 * 4 + 6 * 16
    assert cost == ForwardCost(
        n_linear_flops=2 * (layer_parameters + head) * 2,
        n_attention_flops=2 * 4 * 8 * pairs,
        weight_bytes=2 * (layer_parameters + head + 2 * 8),
        kv_read_bytes=2 * kv_per_token * 3,
        kv_written_bytes=2 * kv_per_token * 2,
        activation_bytes=2 * (2 * per_layer * 2 + (8 + 10) * 2),
    )
    assert cost.n_flops == cost.n_linear_flops + cost.n_attention_flops
    assert cost.intensity == cost.n_flops / cost.n_bytes


@pytest.mark.parametrize("window", [1, 2, 5, 16, 100])
@given(st.lists(st.tuples(lengths, widths), min_size=1, max_size=4))
def test_windows_agree_with_counting_pair_by_pair(
    window: int, batch: list[tuple[int, int]]
) -> None:
    shape = replace(TINY, sliding_window=window, n_window_layers=1)
    cost = forward_cost(shape, [one[0] for one in batch], [one[1] for one in batch])
    pairs = cached = 0
    for length, width in batch:
        positions = range(length, length + width)
        full = sum(position + 1 for position in positions)
        near = sum(min(position + 1, window) for position in positions)
        pairs += full + near
        first_seen = max(0, length + 1 - window)
        cached += length + (length - first_seen)
    assert cost.n_attention_flops == 4 * 8 * pairs
    assert cost.kv_read_bytes == cached * 2 * 1 * 4 * 2


@given(st.lists(st.tuples(lengths, widths), min_size=2, max_size=5))
def test_a_batch_reads_the_weights_once_and_adds_up_the_rest(
    batch: list[tuple[int, int]],
) -> None:
    whole = forward_cost(TINY, [one[0] for one in batch], [one[1] for one in batch])
    parts = [forward_cost(TINY, [length], [width]) for length, width in batch]
    assert whole.n_flops == sum(part.n_flops for part in parts)
    assert whole.kv_read_bytes == sum(part.kv_read_bytes for part in parts)
    assert whole.activation_bytes == sum(part.activation_bytes for part in parts)
    assert whole.weight_bytes < sum(part.weight_bytes for part in parts)


@given(st.integers(0, 200), st.integers(2, 9))
def test_one_wide_forward_does_the_arithmetic_of_many_narrow_ones(length: int, width: int) -> None:
    wide = forward_cost(TINY, [length], [width])
    narrow = [forward_cost(TINY, [length + i], [1]) for i in range(width)]
    assert wide.n_flops == sum(one.n_flops for one in narrow)
    assert wide.kv_written_bytes == sum(one.kv_written_bytes for one in narrow)
    assert wide.intensity > narrow[0].intensity


def test_one_token_of_a_70b_has_intensity_one() -> None:
    seventy_billion = replace(LLAMA_70B, n_parameters=70_000_000_000, has_tied_embeddings=True)
    cost = forward_cost(seventy_billion, [0], [1])
    assert cost.n_linear_flops == 140_000_000_000
    assert cost.weight_bytes == pytest.approx(140e9, rel=1e-6)
    assert cost.intensity == pytest.approx(1.0, abs=0.01)


def test_verification_at_batch_one_stays_memory_bound() -> None:
    peaks = h100()
    decode, verify = (forward_cost(LLAMA_70B, [1024], [width]) for width in (1, 6))
    assert round(decode.intensity, 2) == 1.02
    assert round(verify.intensity, 2) == 6.09
    assert verify.intensity < ridge_point(peaks) / 40
    assert least_time(verify, peaks).bound is Bound.MEMORY
    ratio = least_time(verify, peaks).time_s / least_time(decode, peaks).time_s
    assert ratio == pytest.approx(1.0014, abs=1e-4)


def test_a_long_prefill_is_compute_bound() -> None:
    cost = forward_cost(LLAMA_70B, [0], [4096], n_logit_rows=1)
    time = least_time(cost, h100())
    assert time.bound is Bound.COMPUTE
    assert time.time_s == time.compute_s == cost.n_flops / 989.4e12
    all_rows = forward_cost(LLAMA_70B, [0], [4096])
    assert all_rows.n_linear_flops - cost.n_linear_flops == 2 * 4095 * 128256 * 8192


def test_number_formats_set_the_bytes() -> None:
    cost = forward_cost(TINY, [3], [2], bytes_per_weight=0.5, bytes_per_kv=1)
    default = forward_cost(TINY, [3], [2])
    assert cost.weight_bytes * 4 == default.weight_bytes
    assert cost.kv_read_bytes * 2 == default.kv_read_bytes
    assert cost.activation_bytes == default.activation_bytes


def test_nothing_to_do_costs_nothing() -> None:
    for cost in (forward_cost(TINY, [], []), forward_cost(TINY, [5], [0])):
        assert (cost.n_flops, cost.n_bytes, cost.intensity) == (0, 0, 0.0)


def test_senseless_batches_are_refused() -> None:
    with pytest.raises(ValueError, match="got 2 and 1 of them"):
        forward_cost(TINY, [1, 2], [1])
    with pytest.raises(ValueError, match="must not be negative"):
        forward_cost(TINY, [-1], [1])


def test_the_transfer_floor_of_140_gb() -> None:
    assert transfer_floor_s(140e9, 3350e9) * 1e3 == pytest.approx(41.8, abs=0.05)
    with pytest.raises(ValueError, match="bytes_per_s must be"):
        transfer_floor_s(1, 0)


@pytest.mark.parametrize(
    ("n_parameters", "name", "milliseconds"),
    [(8.03e9, "h100-sxm", 4.79), (8.03e9, "h200", 3.35), (70.6e9, "h200", 29.4)],
)
def test_reading_all_weights_once(n_parameters: float, name: str, milliseconds: float) -> None:
    device = find_device(name)
    assert device is not None
    floor_ms = transfer_floor_s(2 * n_parameters, device.bytes_per_s) * 1e3
    assert floor_ms == pytest.approx(milliseconds, abs=0.02)


@given(st.floats(0.01, 5000))
def test_the_roof_has_two_slopes_that_meet_at_the_ridge(intensity: float) -> None:
    peaks = h100()
    rate = attainable_flops_per_s(intensity, peaks)
    assert rate <= peaks.flops_per_s()
    if intensity < ridge_point(peaks):
        assert rate == pytest.approx(intensity * 3.35e12)
    else:
        assert rate == pytest.approx(989.4e12)
    assert attainable_flops_per_s(intensity, peaks, Precision.FP8) >= rate
