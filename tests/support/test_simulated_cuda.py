"""The simulated device keeps the rules that its users' tests rely on."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from engine.device.graphs import CudaGraphs
from tests.support.simulated_cuda.device import simulated_cuda
from tests.support.simulated_cuda.rules import DeviceRefusal, Rules

DEVICE = torch.device("cuda", 0)


@pytest.fixture
def rules() -> Iterator[Rules]:
    with simulated_cuda() as rules, torch.inference_mode():
        yield rules


def on_device(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers, device=DEVICE)


def test_tensors_say_where_they_are_and_so_do_views_and_results(rules: Rules) -> None:
    here, there = on_device(1.0, 2.0, 3.0), torch.tensor([1.0, 2.0, 3.0])
    for tensor in (here, here[1:], here * 2, here.view(1, 3), torch.stack([here, here])):
        assert tensor.device == DEVICE
        assert tensor.is_cuda
    for tensor in (there, here.cpu(), here.to("cpu"), torch.zeros(2)):
        assert tensor.device == torch.device("cpu")
        assert not tensor.is_cuda
    here[1:].add_(1.0)
    assert here.tolist() == [1.0, 3.0, 4.0], "a view is the same memory"


def test_a_module_moves_there_and_answers_there(rules: Rules) -> None:
    module = torch.nn.Linear(3, 2).requires_grad_(False)
    expected = module(torch.ones(3))
    module = module.to(DEVICE)
    assert {each.device for each in module.parameters()} == {DEVICE}
    assert torch.equal(module(on_device(1.0, 1.0, 1.0)).cpu(), expected)


@pytest.mark.parametrize(
    "mix",
    [
        lambda here, there: here + there,
        lambda here, there: torch.cat([here, there]),
        lambda here, there: here.index_copy_(0, torch.arange(2), here),
        lambda here, there: torch.nn.functional.linear(here, there[None]),
        lambda here, there: torch.where(here > 0, here, there),
    ],
)
def test_what_lies_in_two_places_is_not_mixed(mix: Any, rules: Rules) -> None:
    with pytest.raises(DeviceRefusal, match="same device"):
        mix(on_device(1.0, 2.0), torch.tensor([1.0, 2.0]))


WAITS = {
    "item": lambda here: here[0].item(),
    "tolist": lambda here: here.tolist(),
    "cpu": lambda here: here.cpu(),
    "to": lambda here: here.to("cpu"),
    "copy to the host": lambda here: torch.zeros(2).copy_(here),
    "truth": lambda here: bool(here[0] > 0),
    "mask": lambda here: here[here > 0],
    "nonzero": lambda here: here.nonzero(),
    "numbers": lambda here: torch.tensor([1.0], device=DEVICE),
    "pageable copy": lambda here: torch.zeros(2).to(DEVICE),
    "places": lambda here: torch.argwhere(here),
    "counts": lambda here: torch.bincount(here.long()),
    "repeats": lambda here: here.repeat_interleave(here.long()),
    "synchronize": lambda here: torch.cuda.synchronize(),
}


@pytest.mark.parametrize("name", list(WAITS))
def test_a_wait_is_counted_and_refused_where_none_may_be(name: str, rules: Rules) -> None:
    here = on_device(1.0, 2.0)
    n_before = rules.n_waits
    WAITS[name](here)
    assert rules.n_waits > n_before
    torch.cuda.set_sync_debug_mode("error")
    with pytest.raises(DeviceRefusal, match="synchronizing"):
        WAITS[name](here)
    torch.cuda.set_sync_debug_mode("default")
    with pytest.raises(DeviceRefusal, match="capturing"), torch.cuda.graph(torch.cuda.CUDAGraph()):
        WAITS[name](here)
    WAITS[name](here)


def test_a_graph_plays_operators_on_the_tensors_it_was_recorded_with(rules: Rules) -> None:
    given, kept = on_device(1.0, 2.0), on_device(0.0, 0.0)
    factor = 10.0

    def function() -> tuple[torch.Tensor, torch.Tensor]:
        kept.add_(given)
        return (given * factor).view(2, 1)[0], given.long()

    play, (output, whole) = CudaGraphs(DEVICE).capture(function)
    assert output.isnan().all(), "recording computes nothing"
    assert (whole < 0).all()
    kept.zero_()
    given.copy_(on_device(3.0, 4.0))
    factor = 100.0
    play()
    assert whole.tolist() == [3, 4]
    assert output.tolist() == [30.0], "the tensor is read anew, the host's number was read for good"
    play()
    assert kept.tolist() == [6.0, 8.0]


def test_pinned_memory_keeps_still_until_it_was_copied(rules: Rules) -> None:
    block = torch.zeros(4, pin_memory=True)
    here = torch.zeros(4, device=DEVICE)
    here.copy_(block, non_blocking=True)
    torch.cuda.synchronize()
    block[0] = 1.0
    here.copy_(block, non_blocking=True)
    block.numpy()[1] = 2.0
    with pytest.raises(DeviceRefusal, match="while it was being copied"):
        torch.cuda.synchronize()


def test_pageable_memory_is_not_copied_in_a_capture(rules: Rules) -> None:
    here, block = torch.zeros(4, device=DEVICE), torch.zeros(4)
    here.copy_(block, non_blocking=True)
    with pytest.raises(DeviceRefusal, match="pageable"), torch.cuda.graph(torch.cuda.CUDAGraph()):
        here.copy_(block, non_blocking=True)


def test_torch_is_itself_again_afterwards() -> None:
    before = (torch.cuda.is_available, torch.cuda.CUDAGraph, torch.cuda.synchronize)
    with simulated_cuda():
        assert torch.cuda.is_available()
        here = torch.ones(2, device=DEVICE)
    assert (torch.cuda.is_available, torch.cuda.CUDAGraph, torch.cuda.synchronize) == before
    assert not torch.ones(2).is_cuda
    assert here.is_cuda
