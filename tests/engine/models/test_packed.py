"""Packed layers compute what plain ones do, and only replace them where they may."""

import pytest
import torch
from torch import nn

from engine.models import packed
from engine.models.half import HalfLinear, is_half_available
from engine.models.packed import (
    PackedLinear,
    PlainLinear,
    TurnedLinear,
    is_packing_available,
    pack_modules,
)

needs_packing = pytest.mark.skipif(
    not is_packing_available(), reason="this torch cannot pack linear layers"
)


needs_half = pytest.mark.skipif(
    not is_half_available(), reason="this torch cannot multiply with half precision"
)
LAYOUTS = [
    pytest.param(PackedLinear, marks=needs_packing),
    pytest.param(HalfLinear, marks=needs_half),
    TurnedLinear,
]


def as_stored(*shape):
    """Numbers as a bfloat16 checkpoint holds them, widened to fp32."""
    return torch.randn(*shape).bfloat16().float()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("n_rows", range(1, 10))
def test_the_same_product(n_rows, has_bias, layout):
    torch.manual_seed(n_rows)
    plain = PlainLinear(as_stored(48, 40), torch.randn(48) if has_bias else None)
    for rows in (torch.randn(2, n_rows, 40), torch.randn(n_rows, 40)):
        torch.testing.assert_close(layout(plain)(rows), plain(rows), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_fastest_layout_is_taken(monkeypatch, layout):
    monkeypatch.setattr(
        packed, "_pass_ns", lambda layers, rows: 1 if type(layers[0]) is layout else 2
    )
    group = [PlainLinear(as_stored(8, 8)) for _ in range(10)]
    assert {type(linear) for linear in packed.pack_where_faster(group)} == {layout}


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.inner = nn.Linear(16, 16)
        self.head = nn.Linear(16, 50, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids):
        return self.head(self.inner(self.embedding(ids)))


@needs_packing
def test_a_tied_embedding_stays_right(monkeypatch):
    monkeypatch.setattr(packed, "_pass_ns", lambda layers, rows: isinstance(layers[0], PlainLinear))
    module = Tied()
    ids = torch.arange(9)[None]
    with torch.inference_mode():
        before = module(ids)
        assert pack_modules(module) == 2
        torch.testing.assert_close(module(ids), before)
        assert not isinstance(module.head, nn.Linear)


def test_slower_layers_are_left_alone(monkeypatch):
    if not is_packing_available():
        pytest.skip("this torch cannot pack linear layers")
    monkeypatch.setattr(
        packed, "_pass_ns", lambda layers, rows: not isinstance(layers[0], PlainLinear)
    )
    module = Tied()
    assert pack_modules(module) == 0
    assert isinstance(module.head, nn.Linear)


def test_packing_that_torch_lacks_is_noticed(monkeypatch):
    def absent(*_arguments):
        raise NotImplementedError

    monkeypatch.setattr(torch.ops.mkldnn, "_reorder_linear_weight", absent)
    assert not is_packing_available()
