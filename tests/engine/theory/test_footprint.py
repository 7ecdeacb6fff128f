from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.theory.footprint import (
    activations_bytes,
    footprint,
    kv_bytes_per_token,
    n_kv_heads_per_gpu,
    verify_buffers_bytes,
    weights_bytes,
)
from engine.theory.presets import PRESETS
from engine.theory.workload import GIB, WeightFormat, Workload, to_gib

TARGET = replace(PRESETS["qwen2.5-7b"].shape, n_parameters=7_620_000_000)
DRAFT = replace(PRESETS["qwen2.5-0.5b"].shape, n_parameters=494_000_000)
LLAMA_70B, LLAMA_8B = PRESETS["llama-3-70b"].shape, PRESETS["llama-3-8b"].shape


def test_a_pair_counts_both_models_and_both_caches() -> None:
    need = footprint(TARGET, DRAFT, Workload(context_length=32768))
    assert round(to_gib(need.target_weights_bytes), 2) == 14.19
    assert round(to_gib(need.draft_weights_bytes), 2) == 0.92
    assert to_gib(need.target_kv_bytes) == 1.75
    assert to_gib(need.draft_kv_bytes) == 0.375
    assert round(to_gib(need.before_buffers_bytes), 2) == 17.24
    assert not need.fits(16 * GIB)
    assert need.fits(24 * GIB)


def test_without_a_draft_its_parts_are_gone() -> None:
    pair, alone = (
        footprint(TARGET, draft, Workload(context_length=32768)) for draft in (DRAFT, None)
    )
    assert (alone.draft_weights_bytes, alone.draft_kv_bytes) == (0, 0)
    assert alone.target_weights_bytes == pair.target_weights_bytes
    missing = pair.before_buffers_bytes - alone.before_buffers_bytes
    assert round(to_gib(missing), 3) == round(0.920 + 0.375, 3)


def test_cache_bytes_of_a_token() -> None:
    assert kv_bytes_per_token(TARGET) == 57_344
    assert kv_bytes_per_token(DRAFT) == 12_288
    assert kv_bytes_per_token(TARGET) + kv_bytes_per_token(DRAFT) == 69_632
    assert kv_bytes_per_token(TARGET, 1.0) == 28_672


def test_lookahead_is_the_rest_of_each_sequences_last_block() -> None:
    need = footprint(TARGET, DRAFT, Workload(batch_size=3, context_length=4096, gamma=5))
    assert need.lookahead_kv_bytes == 3 * 16 * 69_632  # 4,102 tokens take 257 blocks of 16
    wide = Workload(batch_size=3, context_length=4096, gamma=5, block_size=32)
    assert footprint(TARGET, DRAFT, wide).lookahead_kv_bytes == 3 * 32 * 69_632
    exact = Workload(context_length=4090, gamma=5)
    assert footprint(TARGET, DRAFT, exact).lookahead_kv_bytes == 6 * 69_632


def test_verify_buffers_hold_fp32_logits_and_probabilities() -> None:
    load = Workload(batch_size=4, gamma=5)
    target_bytes, draft_bytes = 4 * 6 * 152064 * 4, 4 * 5 * 151936 * 4
    assert verify_buffers_bytes(TARGET, DRAFT, load) == 2 * target_bytes + draft_bytes
    assert verify_buffers_bytes(TARGET, None, load) == 2 * target_bytes


def test_activations_follow_the_widest_forward() -> None:
    per_token = (2 * 3584 + 3 * 18944) * 2
    assert activations_bytes(TARGET, Workload(context_length=1000)) == 1000 * per_token
    assert activations_bytes(TARGET, Workload(context_length=9000)) == 2048 * per_token
    verify = Workload(batch_size=64, context_length=9000, gamma=63)
    assert activations_bytes(TARGET, verify) == 64 * 64 * per_token


@given(
    st.integers(1, 16),
    st.integers(1, 40_000),
    st.integers(0, 16),
    st.sampled_from([16, 32]),
    st.sampled_from([1, 2, 4]),
)
def test_the_parts_add_up_and_grow_with_the_load(
    batch_size: int, context_length: int, gamma: int, block_size: int, tensor_parallel: int
) -> None:
    load = Workload(
        batch_size=batch_size,
        context_length=context_length,
        gamma=gamma,
        block_size=block_size,
        tensor_parallel=tensor_parallel,
        draft_tensor_parallel=1,
    )
    need = footprint(TARGET, DRAFT, load)
    assert need.total_bytes == sum(need.components().values())
    assert need.before_buffers_bytes <= need.total_bytes
    for more in (
        replace(load, batch_size=batch_size + 1),
        replace(load, context_length=context_length + block_size),
        replace(load, gamma=gamma + block_size),
    ):
        assert footprint(TARGET, DRAFT, more).total_bytes > need.total_bytes


def test_quantised_weights_leave_the_embeddings_alone() -> None:
    four_bit = WeightFormat(bits=4, group_size=128)
    n_layer = LLAMA_8B.n_parameters - 2 * 128256 * 4096
    expected = n_layer * (4 + 16 / 128) / 8 + 2 * 128256 * 4096 * 2
    assert weights_bytes(LLAMA_8B, four_bit) == pytest.approx(expected, abs=1)
    load = Workload(target_weights=four_bit)
    need = footprint(LLAMA_70B, LLAMA_8B, load)
    assert need.target_weights_bytes == weights_bytes(LLAMA_70B, four_bit)
    assert need.draft_weights_bytes == LLAMA_8B.n_parameters * 2


@pytest.mark.parametrize(("n_gpus", "n_heads"), [(1, 8), (2, 4), (8, 1), (16, 1)])
def test_kv_heads_are_shared_out_or_repeated(n_gpus: int, n_heads: int) -> None:
    assert n_kv_heads_per_gpu(LLAMA_70B, n_gpus) == n_heads
    per_gpu = kv_bytes_per_token(LLAMA_70B, n_gpus=n_gpus)
    assert per_gpu == 2 * 80 * n_heads * 128 * 2


def test_tensor_parallel_shares_weights_and_repeats_kv_projections() -> None:
    bf16 = WeightFormat()
    assert weights_bytes(LLAMA_70B, bf16, n_gpus=8) == LLAMA_70B.n_parameters * 2 // 8
    repeated = 2 * 80 * 8192 * 128 * 8  # each of 8 KV heads on two of 16 GPUs
    whole = (LLAMA_70B.n_parameters + repeated) * 2
    assert weights_bytes(LLAMA_70B, bf16, n_gpus=16) == whole // 16


def test_the_draft_may_use_fewer_gpus() -> None:
    load = Workload(tensor_parallel=4, draft_tensor_parallel=1)
    need = footprint(TARGET, DRAFT, load)
    assert need.draft_weights_bytes == 494_000_000 * 2
    assert need.target_weights_bytes == 7_620_000_000 * 2 // 4
    assert need.n_gpus == 4
    with pytest.raises(ValueError, match="14 heads with 2 KV heads cannot be shared"):
        footprint(TARGET, DRAFT, replace(load, draft_tensor_parallel=None))
