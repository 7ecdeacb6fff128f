from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.theory.capacity import capacity, gpus_that_fit
from engine.theory.footprint import Footprint, footprint
from engine.theory.presets import PRESETS
from engine.theory.workload import GIB, Workload

TARGET = replace(PRESETS["qwen2.5-7b"].shape, n_parameters=7_620_000_000)
DRAFT = replace(PRESETS["qwen2.5-0.5b"].shape, n_parameters=494_000_000)


def test_a_token_costs_its_entries_in_both_caches() -> None:
    room = capacity(TARGET, DRAFT, 24 * GIB, workload=Workload())
    assert room.bytes_per_token == 69_632
    assert room.n_tokens_before_buffers == (24 * GIB - 16_228_000_000) // 69_632 == 137_031
    assert room.n_tokens == 16 * room.n_blocks == 121_552
    assert room.max_context_length == 121_552 - 6
    assert capacity(TARGET, None, 24 * GIB, workload=Workload()).bytes_per_token == 57_344


@given(st.floats(18.0, 80.0), st.integers(1, 8), st.integers(0, 12), st.sampled_from([16, 32]))
def test_the_longest_context_fits_and_one_block_more_does_not(
    budget_gib: float, batch_size: int, gamma: int, block_size: int
) -> None:
    load = Workload(batch_size=batch_size, gamma=gamma, block_size=block_size, prefill_chunk=64)
    longest = capacity(TARGET, DRAFT, budget_gib * GIB, workload=load).max_context_length
    assert longest > 64
    fitting = replace(load, context_length=longest)
    assert footprint(TARGET, DRAFT, fitting).fits(budget_gib * GIB)
    assert not footprint(TARGET, DRAFT, replace(load, context_length=longest + block_size)).fits(
        budget_gib * GIB
    )


def test_a_budget_below_the_weights_holds_nothing() -> None:
    room = capacity(TARGET, DRAFT, 8 * GIB, workload=Workload())
    assert (room.n_tokens_before_buffers, room.n_blocks, room.max_context_length) == (0, 0, 0)
    with pytest.raises(ValueError, match="the budget must be"):
        capacity(TARGET, DRAFT, 0, workload=Workload())


def test_gpus_come_smallest_first() -> None:
    def needing(gib: float) -> Footprint:
        return Footprint(
            target_weights_bytes=int(gib * GIB),
            draft_weights_bytes=0,
            target_kv_bytes=0,
            draft_kv_bytes=0,
        )

    assert gpus_that_fit(needing(39))[:3] == (
        "NVIDIA A100-SXM4-40GB",
        "NVIDIA A100-PCIE-40GB",
        "NVIDIA L40S",
    )
    assert gpus_that_fit(needing(90)) == (
        "NVIDIA H100 NVL",
        "NVIDIA H200",
        "NVIDIA H200 NVL",
        "NVIDIA B200",
    )
    assert gpus_that_fit(needing(200)) == ()
