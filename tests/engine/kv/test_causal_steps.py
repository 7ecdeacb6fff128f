"""Masks cut from strips are those that would be made one by one."""

import pytest
import torch

from engine.kv import causal_steps
from engine.kv.causal_steps import CausalSteps

CPU = torch.device("cpu")


@pytest.mark.parametrize("width", [2, 5, 9])
def test_every_token_sees_the_context_and_its_elders(width: int) -> None:
    steps = CausalSteps(torch.float32, CPU)
    for start in (1, 7, 1023, 1024, 1025, 3000, 12):
        mask, bias = steps.of(start, width)
        expected = torch.arange(start + width) <= torch.arange(start, start + width)[:, None]
        assert torch.equal(mask[0, 0], expected)
        assert bias is not None
        assert bias.shape == mask.shape
        assert torch.equal(bias == 0, mask)
        assert torch.equal(bias == -torch.inf, ~mask)


def test_strips_too_large_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causal_steps, "_MOST_CELLS", 4096)
    steps = CausalSteps(torch.float32, CPU)
    steps.of(10, 4)
    steps.of(10, 5)
    assert list(steps._strips) == [4]


def test_attention_elsewhere_is_given_no_numbers() -> None:
    mask, bias = CausalSteps(torch.float32, torch.device("meta")).of(5, 2)
    assert (mask.shape, bias) == ((1, 1, 2, 7), None)
