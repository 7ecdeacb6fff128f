"""The optimizer of both models: Muon for the matrices of the layers, AdamW for the rest."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn


def orthogonalised(update: Tensor, steps: int = 5) -> Tensor:
    """Newton-Schulz iterations on a stack (n, rows, columns) of matrices, in bf16."""
    x = update.bfloat16()
    flipped = x.shape[-2] > x.shape[-1]
    if flipped:
        x = x.transpose(-1, -2)
    x = x / (x.float().norm(dim=(-2, -1), keepdim=True) + 1e-7).bfloat16()
    for _ in range(steps):
        gram = x @ x.transpose(-1, -2)
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return x.transpose(-1, -2) if flipped else x


class Muon(torch.optim.Optimizer):
    """Momentum with orthogonalised updates; matrices of one shape are handled as one stack."""

    def __init__(
        self,
        params: Iterable[nn.Parameter],
        lr: float,
        momentum: float = 0.95,
        weight_decay: float = 0.02,
    ) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """One update from the gradients at hand."""
        for group in self.param_groups:
            shapes: dict[torch.Size, list[nn.Parameter]] = {}
            for parameter in group["params"]:
                if parameter.grad is not None:
                    shapes.setdefault(parameter.shape, []).append(parameter)
            for shape, same in shapes.items():
                updates = []
                for parameter in same:
                    state = self.state[parameter]
                    if "moment" not in state:
                        state["moment"] = torch.zeros_like(parameter)
                    moment = state["moment"]
                    assert parameter.grad is not None
                    moment.lerp_(parameter.grad, 1 - group["momentum"])
                    updates.append(parameter.grad.lerp(moment, group["momentum"]))
                stack = orthogonalised(torch.stack(updates))
                scale = max(1.0, shape[0] / shape[1]) ** 0.5
                for parameter, update in zip(same, stack, strict=True):
                    parameter.mul_(1 - group["lr"] * group["weight_decay"])
                    parameter.add_(update, alpha=-group["lr"] * scale)


class PairOptimizer:
    """Muon and AdamW over both models, with one learning-rate factor for all."""

    def __init__(self, models: Iterable[nn.Module], muon_lr: float, adam_lr: float) -> None:
        matrices: list[nn.Parameter] = []
        rest: list[nn.Parameter] = []
        for model in models:
            for name, parameter in model.named_parameters():
                inner = parameter.ndim == 2 and "embed" not in name
                (matrices if inner else rest).append(parameter)
        self.muon = Muon(matrices, muon_lr)
        self.adam = torch.optim.AdamW(rest, adam_lr, (0.9, 0.95), weight_decay=0.0, fused=True)
        self._rates = (muon_lr, adam_lr)
        self._rest = rest

    def step(self, factor: float) -> None:
        """Update everything at ``factor`` (0 to 1) of the peak rates and clear the gradients."""
        for optimizer, rate in zip((self.muon, self.adam), self._rates, strict=True):
            for group in optimizer.param_groups:
                group["lr"] = rate * factor
        torch.nn.utils.clip_grad_norm_(self._rest, 1.0)
        self.muon.step()
        self.adam.step()
        self.muon.zero_grad(set_to_none=True)
        self.adam.zero_grad(set_to_none=True)

    def state(self) -> dict[str, object]:
        """Everything that a resumed run needs."""
        return {"muon": self.muon.state_dict(), "adam": self.adam.state_dict()}

    def load(self, state: dict[str, dict[str, object]]) -> None:
        """Restore :meth:`state`."""
        self.muon.load_state_dict(state["muon"])
        self.adam.load_state_dict(state["adam"])
