"""What is captured before the first step, and what is refused for want of memory."""

from typing import Any

import pytest

from engine.sampling import SamplingParams
from engine.wire.events import LogEmitted
from tests.support.device_engine import DeviceEngine, FakeGraphs
from tests.support.toy_model import ToyModel

TARGET, DRAFT = ToyModel(24, seed=1), ToyModel(24, seed=2)
GREEDY = SamplingParams()


def prepare(gamma: int, positions: tuple[int, int], **settings: Any) -> FakeGraphs:
    graphs = FakeGraphs()
    running = DeviceEngine(TARGET, DRAFT, graphs=graphs, gamma=gamma, **settings)
    running.device_step.prepare(gamma, GREEDY, positions=positions)
    return graphs


@pytest.mark.parametrize(
    ("gamma", "batch", "positions", "n_captures"),
    [
        (4, 1, (10, 200), 4 + 5),  # every draft's length and every width
        (4, 3, (10, 200), 3 * 9),  # batches of 1, 2 and 3
        (4, 1, (10, 400), 2 * 9),  # contexts of 256 and of 512
        (10, 1, (10, 200), 1 + 2),  # a long draft: the whole of it, and a plain step
    ],
)
def test_what_is_captured(
    gamma: int, batch: int, positions: tuple[int, int], n_captures: int
) -> None:
    assert prepare(gamma, positions, batch=batch).n_captures == n_captures


def test_twice_is_once() -> None:
    graphs = FakeGraphs()
    running = DeviceEngine(TARGET, DRAFT, graphs=graphs, gamma=2)
    for _ in range(2):
        running.device_step.prepare(2, GREEDY, positions=(1, 100))
    assert graphs.n_captures == 5


def test_padding_touches_no_slot_of_a_sequence() -> None:
    running = DeviceEngine(TARGET, DRAFT, graphs=FakeGraphs(), gamma=2, n_blocks=4)
    cache = running.target_cache
    before = [keys.clone() for keys in cache._keys]
    running.device_step.prepare(2, GREEDY, positions=(1, 60))
    for keys, old in zip(cache._keys, before, strict=True):
        assert keys[: cache.scratch_slot].equal(old[: cache.scratch_slot])


def test_what_does_not_fit_is_refused_with_its_bytes() -> None:
    graphs = FakeGraphs()
    running = DeviceEngine(TARGET, DRAFT, graphs=graphs, gamma=4, batch=2)
    warm_up = running.device_step._warm_up
    needed = warm_up.n_bytes(2, 4, 300)
    warm_up.free_bytes = lambda: needed - 1
    running.device_step.prepare(4, GREEDY, positions=(1, 300))
    assert graphs.n_captures == 0
    (said,) = [event for event in running.events if isinstance(event, LogEmitted)]
    assert f"about {needed} bytes more, and {needed - 1} are free" in said.message
    running.run([3, 1, 4])
    assert graphs.n_captures == 0


def test_bytes_are_those_of_logits_and_of_one_layers_context() -> None:
    running = DeviceEngine(TARGET, DRAFT, graphs=None, gamma=4, batch=2)
    assert running.device_step._warm_up.n_bytes(2, 4, 300) == (
        2 * 5 * 24 * (4 + 4 * 6) + 2 * 2 * 2 * 512 * 2 * 8 * 4
    )
