from typing import Any

import pytest
import torch
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

from engine.models.base import ForwardBatch
from engine.models.rotation import RotationTable, pair_order

HEAD_DIM = 16
N_HEADS = 3


def rotary() -> Any:
    config = LlamaConfig(
        hidden_size=HEAD_DIM * N_HEADS,
        num_attention_heads=N_HEADS,
        max_position_embeddings=16384,
    )
    return LlamaRotaryEmbedding(config)


def batch(*, first: int, width: int, n_rows: int = 1) -> ForwardBatch:
    positions = torch.arange(first, first + width).repeat(n_rows, 1)
    return ForwardBatch(
        token_ids=torch.zeros(n_rows, width, dtype=torch.int64),
        positions=positions,
        write_slots=None,
        context_slots=None,
        mask=None,
        context_run=(0, first + width),
        context_lengths=(first + width,) * n_rows,
        widths=(width,) * n_rows,
    )


def turned_by_transformers(heads: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    cosines, sines = rotary()(heads, positions)
    turned, _ = apply_rotary_pos_emb(heads, heads, cosines, sines, unsqueeze_dim=2)
    return turned


@pytest.mark.parametrize("in_pairs", [False, True])
@pytest.mark.parametrize(
    ("first", "width", "n_rows"),
    [(0, 1, 1), (0, 7, 1), (50, 1, 1), (50, 5, 1), (12, 4, 3), (4090, 20, 1), (9000, 1, 2)],
)
def test_heads_are_turned_as_transformers_turns_them(
    in_pairs: bool, first: int, width: int, n_rows: int
) -> None:
    heads = torch.randn(n_rows, width, N_HEADS, HEAD_DIM)
    asked = batch(first=first, width=width, n_rows=n_rows)
    wanted = turned_by_transformers(heads, asked.positions)
    table = RotationTable(rotary(), torch.zeros(4, 4))
    if in_pairs:
        table.pair_up()
    for _ in range(2):  # the second time from what was kept
        if in_pairs:
            order = pair_order(1, 0, HEAD_DIM)
            turned = torch.empty_like(heads)
            turned[..., order] = table.turn(heads[..., order], table.of(asked))
        else:
            turned = table.turn(heads, table.of(asked))
        torch.testing.assert_close(turned, wanted)


def test_what_was_kept_is_forgotten_with_its_table() -> None:
    """Rows of a table that was outgrown, or of the other form, are not handed out again."""
    table = RotationTable(rotary(), torch.zeros(4, 4))
    narrow = batch(first=3, width=1)
    before = table.of(narrow)
    assert table.of(narrow) is before
    table.of(batch(first=5000, width=1))
    again = table.of(narrow)
    assert again is not before
    for part, old in zip(again, before, strict=True):
        assert torch.equal(part, old)
    table.pair_up()
    assert [part.dtype for part in table.of(narrow)] == [torch.complex64]


def test_pair_order_leaves_other_heads_alone() -> None:
    assert pair_order(2, 1, 4).tolist() == [0, 2, 1, 3, 4, 6, 5, 7, 8, 9, 10, 11]
