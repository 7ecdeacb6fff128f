"""Weights in fewer bits: what is exchanged, what is said, and what happens without the library."""

import sys
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn

from engine.models.linear import PlainLinear
from engine.models.quantized import quantize_module, quantize_straight, require_torchao
from engine.models.straight import LINEAR_PARTS
from engine.wire.config import ConfigError


class Simulated:
    """A torchao that rounds to eight bits, or fails."""

    def __init__(self, problem: str = "") -> None:
        self.problem = problem
        self.asked: list[dict[str, Any]] = []

    def config(self, **settings: Any) -> dict[str, Any]:
        self.asked.append(settings)
        return settings

    def quantize_(self, module: nn.Module, config: Any) -> None:
        if self.problem:
            raise RuntimeError(self.problem)
        for child in module.modules():
            if type(child) is nn.Linear:
                scale = child.weight.abs().amax(1, keepdim=True) / 127
                rounded = (child.weight / scale).round() * scale
                child.weight = nn.Parameter(rounded, requires_grad=False)


@pytest.fixture
def torchao(monkeypatch: pytest.MonkeyPatch) -> Simulated:
    simulated = Simulated()
    package, quantization = ModuleType("torchao"), ModuleType("torchao.quantization")
    quantization.Int8WeightOnlyConfig = simulated.config  # type: ignore[attr-defined]
    quantization.Int4WeightOnlyConfig = simulated.config  # type: ignore[attr-defined]
    quantization.quantize_ = simulated.quantize_  # type: ignore[attr-defined]
    package.quantization = quantization  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torchao", package)
    monkeypatch.setitem(sys.modules, "torchao.quantization", quantization)
    return simulated


class Layer:
    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(1)
        for part in LINEAR_PARTS:
            weight = torch.randn(16, 128, generator=generator)
            setattr(self, part, PlainLinear(weight, torch.ones(16) if part == "qkv" else None))


class Forward:
    def __init__(self) -> None:
        self.layers = [Layer(), Layer()]
        self.head = PlainLinear(torch.eye(4))


def test_without_the_library_a_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchao", None)
    require_torchao("auto")
    with pytest.raises(ConfigError, match="weights is int8, which needs torchao: pip install"):
        require_torchao("int8")


@pytest.mark.parametrize(("weights", "n_bytes"), [("int8", 16 * 128 + 32), ("int4", 16 * 64 + 64)])
def test_layers_are_exchanged_and_the_head_is_not(
    torchao: Simulated, weights: str, n_bytes: int
) -> None:
    forward: Any = Forward()
    rows = torch.randn(3, 128, generator=torch.Generator().manual_seed(2))
    before = forward.layers[1].qkv(rows)
    head = forward.head
    n_saved = quantize_straight(forward, weights, name="m")
    assert n_saved == 8 * (16 * 128 * 4 - n_bytes)
    after = forward.layers[1].qkv(rows)
    assert not after.equal(before)
    torch.testing.assert_close(after, before, atol=0.5, rtol=0.1)
    assert forward.head is head
    if weights == "int4":
        assert torchao.asked[0]["group_size"] == 128


def test_a_model_of_transformers_own_forward(torchao: Simulated) -> None:
    layers = nn.ModuleList([nn.Linear(128, 16, bias=False)])
    module = nn.ModuleDict({"layers": layers, "head": nn.Linear(128, 4)})
    assert quantize_module(module, "int8", name="m") == 16 * 128 * 3 - 32


def test_what_cannot_be_quantized_is_refused(torchao: Simulated) -> None:
    torchao.problem = "only bfloat16 on CUDA.\nmore"
    forward: Any = Forward()
    with pytest.raises(ConfigError, match=r"weights of m cannot be held in int4 here .*bfloat16"):
        quantize_straight(forward, "int4", name="m")
