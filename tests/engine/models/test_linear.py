import pytest
import torch
from torch import nn

from engine.models.linear import PlainLinear


@pytest.mark.parametrize("has_bias", [False, True])
def test_a_plain_layer_is_the_module_it_was_made_of(has_bias: bool) -> None:
    module = nn.Linear(5, 3, bias=has_bias)
    plain = PlainLinear(module.weight, module.bias)
    rows = torch.randn(2, 4, 5)
    assert torch.equal(plain(rows), module(rows))
    assert plain.weight.data_ptr() == module.weight.data_ptr()  # shared, not copied
    assert not plain.weight.requires_grad
