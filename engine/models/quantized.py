"""Weights in 8 or 4 bits through torchao, where it is installed: fewer bytes to read for a token.

Only the layers between embedding and head are changed. The text is then that of the quantized
model: it is compared with nothing else.
"""

from typing import Any

import torch
from torch import nn

from engine.models.linear import PlainLinear
from engine.models.straight import LINEAR_PARTS, StraightForward
from engine.wire.config import ConfigError

_GROUP = 128
"""Weights of a row that share a scale in 4 bits."""
_BYTES = {"int8": 1.0, "int4": 0.5 + 4 / _GROUP}
"""Of a weight; in 4 bits with the scale and the zero point of its group, 2 bytes each."""


class QuantizedLinear:
    """The layer of a :class:`PlainLinear`, its weight quantized."""

    def __init__(self, plain: PlainLinear, config: Any) -> None:
        n_out, n_in = plain.weight.shape
        linear = nn.Linear(n_in, n_out, bias=plain.bias is not None, device="meta")
        linear.weight = nn.Parameter(plain.weight, requires_grad=False)
        if plain.bias is not None:
            linear.bias = nn.Parameter(plain.bias, requires_grad=False)
        _quantize(nn.Sequential(linear), config)
        self._linear = linear

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """[..., in] -> [..., out]."""
        product: torch.Tensor = self._linear(rows)
        return product


def require_torchao(weights: str) -> None:
    """Raises ConfigError, with what to do, when ``weights`` needs a library that is not there."""
    if weights == "auto":
        return
    try:
        import torchao  # noqa: F401
    except Exception as error:  # not installed, or not for this release of torch
        raise ConfigError(
            f"weights is {weights}, which needs torchao: pip install torchao, or leave --weights "
            f"at auto ({type(error).__name__}: {str(error) or 'no message'})."
        ) from error


def quantize_straight(forward: StraightForward, weights: str, *, name: str) -> int:
    """Exchange the linear layers of ``forward`` for quantized ones.

    Returns:
        The bytes that their weights take less. Those of the original are free once nobody else
        holds them.

    Raises:
        ConfigError: torchao cannot quantize this model on this device.
    """
    parts = [(layer, part) for layer in forward.layers for part in LINEAR_PARTS]
    n_saved = 0
    try:
        config = _config(weights)
        for layer, part in parts:
            plain = getattr(layer, part)
            if isinstance(plain, PlainLinear):
                setattr(layer, part, QuantizedLinear(plain, config))
                n_saved += _saved_bytes(plain.weight, weights)
    except Exception as error:  # whatever a kernel or a layout has to say
        raise _refusal(weights, name, error) from error
    return n_saved


def quantize_module(module: nn.Module, weights: str, *, name: str) -> int:
    """The same for a model that runs transformers' own forward: what lies in its list of layers."""
    body = next(each for each in module.modules() if isinstance(each, nn.ModuleList))
    linears = [each for each in body.modules() if type(each) is nn.Linear]
    n_saved = sum(_saved_bytes(linear.weight, weights) for linear in linears)
    try:
        _quantize(body, _config(weights))
    except Exception as error:  # whatever a kernel or a layout has to say
        raise _refusal(weights, name, error) from error
    return n_saved


def _saved_bytes(weight: torch.Tensor, weights: str) -> int:
    scales = 2 * weight.shape[0] if weights == "int8" else 0  # one a row
    return int(weight.nbytes - weight.numel() * _BYTES[weights] - scales)


def _config(weights: str) -> Any:
    from torchao.quantization import Int4WeightOnlyConfig, Int8WeightOnlyConfig

    if weights == "int8":
        return Int8WeightOnlyConfig()
    # The layout of torch's own kernel; others need a library of kernels besides.
    return Int4WeightOnlyConfig(group_size=_GROUP, int4_packing_format="tile_packed_to_4d")


def _quantize(module: nn.Module, config: Any) -> None:
    from torchao.quantization import quantize_

    quantize_(module, config)


def _refusal(weights: str, name: str, error: Exception) -> ConfigError:
    reason = (str(error).strip().splitlines() or ["no message"])[0]
    return ConfigError(
        f"the weights of {name} cannot be held in {weights} here ({type(error).__name__}: "
        f"{reason}): leave --weights at auto."
    )
