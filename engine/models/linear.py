"""What stands for a linear layer in a forward, however its weight is laid out."""

from collections.abc import Callable

import torch
from torch.nn import functional

Linear = Callable[[torch.Tensor], torch.Tensor]


class PlainLinear:
    """``functional.linear`` over a weight [out, in] that is shared, not copied."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> None:
        self.weight = weight.detach()
        self.bias = None if bias is None else bias.detach()

    def reordered(self, order: torch.Tensor) -> "PlainLinear":
        """A copy that gives its output in another order: [out] places that it comes from."""
        return PlainLinear(self.weight[order], None if self.bias is None else self.bias[order])

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """[..., in] -> [..., out]."""
        return functional.linear(rows, self.weight, self.bias)
