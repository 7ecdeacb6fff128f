"""Weights are held in half precision only where nothing is lost by it."""

import pytest
import torch

from engine.models import half
from engine.models.half import HalfLinear, fits_half, is_half_available
from engine.models.linear import PlainLinear

needs_half = pytest.mark.skipif(
    not is_half_available(), reason="this torch cannot multiply with half precision"
)


@pytest.mark.parametrize("size", [1e-12, 1e-3, 1.0, 1e3, 1e12])
def test_a_bfloat16_weight_fits_whatever_its_size(size):
    torch.manual_seed(0)
    assert fits_half((size * torch.randn(64, 64)).bfloat16().float())


def test_zeros_fit():
    assert fits_half(torch.zeros(4, 4))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_no_number_does_not_fit(bad):
    weight = torch.zeros(4, 4)
    weight[1, 2] = bad
    assert not fits_half(weight)


def test_a_weight_of_full_precision_does_not_fit():
    torch.manual_seed(0)
    assert not fits_half(torch.randn(64, 64))


def test_numbers_too_far_apart_do_not_fit():
    weight = torch.full((64, 64), 1.0078125 * 2.0**-36)  # half precision drops its last bits
    assert fits_half(weight)
    weight[0, 0] = 1.0
    assert not fits_half(weight)


@needs_half
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_as_near_to_the_truth_as_a_product_in_fp32(size):
    torch.manual_seed(0)
    weight = (size * torch.randn(96, 256)).bfloat16().float()
    rows = torch.randn(5, 256)
    exact = rows.double() @ weight.double().T
    error = (HalfLinear(PlainLinear(weight))(rows).double() - exact).norm() / exact.norm()
    assert error < 1e-6


def test_a_torch_that_lacks_the_product_is_noticed(monkeypatch):
    def absent(*_arguments):
        raise RuntimeError("built without FBGEMM")

    monkeypatch.setattr(half.torch, "fbgemm_pack_gemm_matrix_fp16", absent)
    assert not is_half_available()


@needs_half
def test_the_scale_can_be_taken_back_by_whoever_makes_the_rows():
    torch.manual_seed(0)
    plain = PlainLinear((0.05 * torch.randn(48, 40)).bfloat16().float())
    linear, rows = HalfLinear(plain), torch.randn(3, 40)
    before = linear(rows)
    factor = linear.give_up_scale()
    assert factor != 1.0
    assert torch.equal(linear(factor * rows), before)
    assert linear.give_up_scale() == 1.0


@needs_half
def test_a_layer_with_a_bias_keeps_its_scale():
    linear = HalfLinear(PlainLinear(torch.ones(8, 8), torch.ones(8)))
    assert linear.give_up_scale() == 1.0
    assert torch.equal(linear(torch.ones(1, 8)), torch.full((1, 8), 9.0))
