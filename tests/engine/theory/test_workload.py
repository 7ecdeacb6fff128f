import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.theory.workload import WeightFormat, Workload


def test_quantised_weights_carry_their_scales() -> None:
    assert WeightFormat().bytes_per_weight == 2.0
    assert WeightFormat(bits=4, group_size=128).bytes_per_weight == (4 + 16 / 128) / 8
    four_bit = WeightFormat(bits=4, group_size=32, scale_bits=16, zero_point_bits=4)
    assert four_bit.bytes_per_weight == (4 + 20 / 32) / 8
    assert WeightFormat(bits=8).bytes_per_weight == 1.0


def test_embeddings_keep_sixteen_bits_unless_told() -> None:
    assert WeightFormat(bits=4).bytes_per_embedding == 2.0
    assert WeightFormat(bits=32).bytes_per_embedding == 4.0
    assert WeightFormat(bits=4, embedding_bits=8).bytes_per_embedding == 1.0


@given(st.integers(1, 5000), st.integers(0, 32), st.sampled_from([1, 16, 32]))
def test_a_sequence_gets_whole_blocks_for_context_and_lookahead(
    context_length: int, gamma: int, block_size: int
) -> None:
    load = Workload(context_length=context_length, gamma=gamma, block_size=block_size)
    assert load.n_tokens_per_sequence % block_size == 0
    assert 0 <= load.n_tokens_per_sequence - (context_length + gamma + 1) < block_size


def test_workloads_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="batch_size must be"):
        Workload(batch_size=0)
    with pytest.raises(ValueError, match="gamma must be"):
        Workload(gamma=-1)
    with pytest.raises(ValueError, match="cannot exceed"):
        Workload(draft_tensor_parallel=2)
    with pytest.raises(ValueError, match="bytes_per_kv must be"):
        Workload(bytes_per_kv=0)
    with pytest.raises(ValueError, match="bits per weight must be"):
        WeightFormat(bits=0)
    with pytest.raises(ValueError, match="group_size must be"):
        WeightFormat(group_size=0)
