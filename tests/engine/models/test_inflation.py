import math

import pytest

from engine.models.inflation import Inflation
from engine.theory.presets import PRESETS
from engine.theory.shape import ModelShape, count_parameters
from engine.wire.config import ConfigError


def shape(**changes: int) -> ModelShape:
    """The bundled target's, but for ``changes``."""
    sizes = {
        "n_layers": 12, "hidden_size": 256, "n_heads": 4, "n_kv_heads": 2, "head_dim": 64,
        "intermediate_size": 640, "vocab_size": 4096, **changes,
    }  # fmt: skip
    n_parameters = count_parameters(has_tied_embeddings=True, **sizes)
    return ModelShape(has_tied_embeddings=True, n_parameters=n_parameters, **sizes)


def into(name: str) -> Inflation:
    return Inflation(shape(), PRESETS[name].shape)


@pytest.mark.parametrize(
    ("name", "n_copies", "norm_factor", "n_parts"),
    [
        ("llama-3-8b", 4, 0.5, 3),
        ("llama-3.2-1b", 2, 0.5, 1),  # heads as large as the small model's: no factor
        ("llama-3-70b", 8, 0.5, 3),
        ("llama-3.2-3b", 3, 0.5, 3),
    ],
)
def test_factors_are_powers_of_two(
    name: str, n_copies: int, norm_factor: float, n_parts: int
) -> None:
    inflation = into(name)
    assert (inflation.n_copies, inflation.n_parts) == (n_copies, n_parts)
    assert inflation.norm_factor == norm_factor


def test_where_no_number_of_copies_is_exact_one_is_taken() -> None:
    inflation = Inflation(shape(), shape(hidden_size=320))
    assert inflation.n_copies == 1
    assert inflation.norm_factor == pytest.approx(math.sqrt(256 / 320))


def frequencies(base: float, head_dim: int) -> list[float]:
    return [base ** (-2 * index / head_dim) for index in range(head_dim // 2)]


@pytest.mark.parametrize("head_dim", [64, 80, 96, 128, 256])
def test_rotations_keep_their_frequencies(head_dim: int) -> None:
    inflation = Inflation(shape(), shape(head_dim=head_dim))
    large = frequencies(inflation.rotary_base(10000.0), head_dim)
    rows = inflation.rotary_rows()
    assert [large[row] for row in rows[:32]] == pytest.approx(frequencies(10000.0, 64))
    assert [row - head_dim // 2 for row in rows[32:]] == rows[:32], "pairs stay pairs"
    assert len(set(rows)) == 64
    assert max(rows) < head_dim


@pytest.mark.parametrize(("n_heads", "n_kv_heads"), [(4, 2), (8, 2), (32, 8), (8, 8), (6, 3)])
def test_every_query_head_finds_its_keys(n_heads: int, n_kv_heads: int) -> None:
    """Two query heads share a KV head in the small model; none need to in the large one."""
    inflation = Inflation(
        shape(), shape(n_heads=n_heads, n_kv_heads=n_kv_heads, hidden_size=n_heads * 192)
    )
    group = n_heads // n_kv_heads
    found = {}
    for large_head in range(n_heads):
        head = inflation.query_head(large_head)
        kv_head = inflation.kv_head(large_head // group)
        assert inflation.is_of_added_kv_head(large_head) == (kv_head is None)
        if head is not None:
            assert head not in found
            found[head] = kv_head
    assert found == {0: 0, 1: 0, 2: 1, 3: 1}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"n_layers": 11}, "11 layers and the model needs 12"),
        ({"hidden_size": 128}, "128 hidden entries"),
        ({"vocab_size": 100}, "100 tokens"),
        ({"head_dim": 65}, "odd size"),
        ({"n_heads": 4, "n_kv_heads": 1}, "1 KV heads of 4 query heads each"),
    ],
)
def test_a_shape_too_small_is_refused(changes: dict[str, int], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        Inflation(shape(), shape(**changes))
