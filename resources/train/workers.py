"""Two single-threaded worker processes that average their gradients through shared memory.

Small matrices gain little from threads inside an operation, so each worker runs whole
forward/backward passes on its own half of a batch. Every worker then applies the same update, so
all copies of the models stay equal bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.multiprocessing as mp
from torch import Tensor, nn

WORKERS = 2


class GradientMean:
    """Replaces the gradients of some parameters by their mean over all workers."""

    def __init__(self, rank: int, shared: Tensor, barrier: Any) -> None:
        self.rank = rank
        self.shared = shared  # (WORKERS, at least as many numbers as there are parameters)
        self.barrier = barrier

    def apply(self, parameters: Iterable[nn.Parameter], extra: list[float]) -> list[float]:
        """Average gradients in place; returns the mean of ``extra`` over the workers."""
        listed = list(parameters)
        mine, at = self.shared[self.rank], 0
        for parameter in listed:
            assert parameter.grad is not None
            mine[at : at + parameter.numel()].copy_(parameter.grad.flatten())
            at += parameter.numel()
        mine[at : at + len(extra)] = torch.tensor(extra)
        self.barrier.wait()
        mean = self.shared[:, : at + len(extra)].mean(0)
        self.barrier.wait()
        start = 0
        for parameter in listed:
            assert parameter.grad is not None
            parameter.grad.copy_(mean[start : start + parameter.numel()].view_as(parameter))
            start += parameter.numel()
        return mean[at:].tolist()


def _enter(
    rank: int, task: Callable[..., None], shared: Tensor, barrier: Any, arguments: tuple[Any, ...]
) -> None:
    torch.set_num_threads(1)
    task(rank, GradientMean(rank, shared, barrier), *arguments)


def run_workers(task: Callable[..., None], numbers: int, *arguments: Any) -> None:
    """Run ``task(rank, gradient_mean, *arguments)`` in every worker and wait for all of them."""
    shared = torch.zeros(WORKERS, numbers).share_memory_()
    barrier = mp.get_context("spawn").Barrier(WORKERS)
    mp.spawn(_enter, (task, shared, barrier, arguments), nprocs=WORKERS)
