"""CPU: linear layers whose weights are held in half precision, where that costs no precision.

Checkpoints of bfloat16 have 8 significant bits and half precision has 11, so their weights, widened
to fp32 for decoding, survive being stored in 16 bits. The product stays fp32, accumulated in fp32:
half the bytes are read, and torch's kernel for it is made for few rows.
"""

import math
import warnings

import torch

from engine.models.linear import PlainLinear

_ROUNDING = 2.0**-24  # of fp32, relative
_LARGEST = 2.0**15  # a power of two that half precision holds


def is_half_available() -> bool:
    """Whether this torch multiplies fp32 rows with weights of half precision."""
    try:
        weight = torch.eye(16)
        with warnings.catch_warnings():  # it says once that it may be gone in another version
            warnings.simplefilter("ignore")
            packed = torch.fbgemm_pack_gemm_matrix_fp16(weight)
            product = torch.fbgemm_linear_fp16_weight_fp32_activation(weight, packed, None)
    except (AttributeError, RuntimeError, NotImplementedError, TypeError):
        return False
    return bool(torch.equal(product, weight))


def fits_half(weight: torch.Tensor) -> bool:
    """Whether every row of fp32 ``weight`` [out, in] is off by less in half precision than by
    fp32's own rounding. Of bfloat16's numbers only the tiniest are off at all."""
    scaled = weight * _scale(weight)
    errors = (scaled.half().float() - scaled).norm(dim=1)
    return bool((errors <= _ROUNDING * scaled.norm(dim=1)).all())  # False if one is not finite


def _scale(weight: torch.Tensor) -> float:
    """The power of two that makes the largest weight nearly as large as half precision can hold:
    weights that it holds only as denormal numbers would take three times as long."""
    largest = float(weight.abs().max())
    if not 0.0 < largest < math.inf:
        return 1.0
    return float(_LARGEST / 2.0 ** math.ceil(math.log2(largest)))


class HalfLinear:
    """``functional.linear`` in fp32 over a scaled copy of the weight [out, in] in half precision.
    The scale is a power of two, so it is taken back exactly."""

    def __init__(self, plain: PlainLinear) -> None:
        scale = _scale(plain.weight)
        self._packed = torch.fbgemm_pack_gemm_matrix_fp16(plain.weight * scale)
        self._bias = None if plain.bias is None else plain.bias * scale
        # As a tensor: a Python number would be made one at every call. None: nothing to take back.
        self._unscale: torch.Tensor | None = torch.tensor(1.0 / scale)

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """[..., in] -> [..., out]."""
        product = torch.fbgemm_linear_fp16_weight_fp32_activation(rows, self._packed, self._bias)
        return product if self._unscale is None else product.mul_(self._unscale)

    def give_up_scale(self) -> float:
        """The factor that rows must be multiplied by before they come here from now on."""
        factor = 1.0 if self._unscale is None or self._bias is not None else float(self._unscale)
        if factor != 1.0:
            self._unscale = None
        return factor
