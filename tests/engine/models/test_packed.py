"""Packed layers compute what plain ones do, and only replace them where they may."""

import pytest
import torch
from torch import nn

from engine.models import packed
from engine.models.choices import Choices
from engine.models.half import HalfLinear, is_half_available
from engine.models.linear import PlainLinear
from engine.models.packed import (
    PackedLinear,
    TurnedLinear,
    is_packing_available,
    layouts_of,
    pack_modules,
    pack_where_faster,
)
from engine.models.tuning import cpu_threads

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


def favour(monkeypatch, layout):
    """The clock says that ``layout`` is the fastest."""
    monkeypatch.setattr(
        packed, "_pass_ns", lambda layers, rows: 1 if type(layers[0]) is layout else 2
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_fastest_layout_is_taken(monkeypatch, layout):
    monkeypatch.setattr(packed, "_is_half_fastest", lambda: False)
    favour(monkeypatch, layout)
    group = [PlainLinear(as_stored(8, 8)) for _ in range(10)]
    assert {type(linear) for linear in pack_where_faster(group, Choices())} == {layout}


def test_what_was_taken_once_is_taken_again(monkeypatch, tmp_path):
    group = [PlainLinear(torch.randn(8, 8)) for _ in range(3)]
    for favourite in (TurnedLinear, PlainLinear):
        favour(monkeypatch, favourite)
        choices = Choices(tmp_path)
        assert layouts_of(pack_where_faster(group, choices)) == "3 turned"
    assert choices.note == "as measured before"
    with_bias = [PlainLinear(torch.randn(8, 8), torch.randn(8)) for _ in range(3)]
    assert layouts_of(pack_where_faster(with_bias, Choices(tmp_path))) == "none packed"
    with cpu_threads(torch.get_num_threads() + 1):
        assert layouts_of(pack_where_faster(group, Choices(tmp_path))) == "none packed"


@needs_half
@pytest.mark.skipif(
    torch.backends.cpu.get_cpu_capability() not in packed._HALF_WINS_ON,
    reason="half precision is measured here",
)
def test_half_precision_is_taken_by_rule_on_one_thread(monkeypatch):
    favour(monkeypatch, TurnedLinear)
    group = [PlainLinear(as_stored(8, 8))]
    choices = Choices()
    with cpu_threads(1):
        assert layouts_of(pack_where_faster(group, choices)) == "1 as lossless float16"
        assert choices.note == ""
        finer = [PlainLinear(torch.randn(8, 8))]
        assert layouts_of(pack_where_faster(finer, choices)) == "1 turned"
    assert choices.note == "measured now"
    with cpu_threads(2):
        assert layouts_of(pack_where_faster(group, choices)) == "1 turned"


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
        assert len(pack_modules(module, Choices())) == 2
        torch.testing.assert_close(module(ids), before)
        assert not isinstance(module.head, nn.Linear)


def test_slower_layers_are_left_alone(monkeypatch):
    if not is_packing_available():
        pytest.skip("this torch cannot pack linear layers")
    monkeypatch.setattr(
        packed, "_pass_ns", lambda layers, rows: not isinstance(layers[0], PlainLinear)
    )
    module = Tied()
    assert pack_modules(module, Choices()) == []
    assert isinstance(module.head, nn.Linear)


def test_packing_that_torch_lacks_is_noticed(monkeypatch):
    def absent(*_arguments):
        raise NotImplementedError

    monkeypatch.setattr(torch.ops.mkldnn, "_reorder_linear_weight", absent)
    assert not is_packing_available()
