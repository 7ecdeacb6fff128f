"""Numbers that a captured function reads, in one block of memory that stays where it is."""

from collections.abc import Mapping

import numpy as np
import torch

Shape = tuple[int, ...]


class StaticInputs:
    """Named tensors of whole numbers and of numbers in double precision, laid side by side in
    memory of 8 bytes each, so that one copy sends them all to the device.

    ``host[name]`` is a NumPy array to write, ``device[name]`` the tensor a function reads. The
    host's block must not be written while a copy is under way: a step ends by reading its verdict,
    so the next one finds it free.
    """

    def __init__(
        self,
        device: torch.device,
        *,
        whole: Mapping[str, Shape],
        real: Mapping[str, Shape] | None = None,
    ) -> None:
        shapes = {**whole, **(real or {})}
        n_values = sum(_count(shape) for shape in shapes.values())
        is_cuda = device.type == "cuda"
        self._block = torch.zeros(n_values, dtype=torch.int64, pin_memory=is_cuda)
        self._on_device = torch.zeros(n_values, dtype=torch.int64, device=device)
        self.host: dict[str, np.ndarray] = {}
        self.device: dict[str, torch.Tensor] = {}
        first = 0
        for name, shape in shapes.items():
            place = slice(first, first := first + _count(shape))
            host, there = self._block[place], self._on_device[place]
            if name not in whole:
                host, there = host.view(torch.float64), there.view(torch.float64)
            self.host[name] = host.numpy().reshape(shape)
            self.device[name] = there.view(shape)

    @property
    def n_bytes(self) -> int:
        """On the device."""
        return self._on_device.nbytes

    def send(self) -> None:
        """Copy all to the device, in order with what runs there; returns at once on CUDA."""
        self._on_device.copy_(self._block, non_blocking=True)


def _count(shape: Shape) -> int:
    return int(np.prod(shape))
