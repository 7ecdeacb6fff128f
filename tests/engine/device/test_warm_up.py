"""What is captured before the first step, and what is refused for want of memory."""

from typing import Any

import pytest

from engine import engine
from engine.sampling import SamplingParams
from engine.wire.events import LogEmitted, StepCommitted
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


def test_a_short_prompt_behind_a_long_one_finds_its_graphs() -> None:
    running = DeviceEngine(TARGET, DRAFT, graphs=FakeGraphs(), gamma=2, max_new_tokens=6)
    running.run([3, 1, 4] * 90, [5, 6], [7] * 250)
    steps = running.all(StepCommitted)
    assert len(steps) > 6
    assert not any(step.is_profiled for step in steps), "a step captured what it needed"


def test_a_draft_without_room_for_the_sequences_is_not_captured() -> None:
    graphs = FakeGraphs()
    draft = ToyModel(24, seed=2, context_length=64)
    running = DeviceEngine(TARGET, draft, graphs=graphs, gamma=2, max_new_tokens=6)
    for length in (100, 130, 160):
        running.run([3] * length, check=False)
    assert graphs.n_captures == 3, "verifications of three widths"
    running.run([3] * 10)
    assert graphs.n_captures == 3 + 2
    assert not any(step.is_profiled for step in running.all(StepCommitted))


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


def test_no_more_bytes_are_wanted_than_the_models_context_takes() -> None:
    graphs = FakeGraphs()
    running = DeviceEngine(TARGET, DRAFT, graphs=graphs, gamma=2, max_new_tokens=10**9)
    warm_up = running.device_step._warm_up
    warm_up.free_bytes = lambda: warm_up.n_bytes(1, 2, TARGET.context_length)
    running.submit([3, 1, 4])
    running.step()
    assert graphs.n_captures == 2 * 5


def test_bytes_are_those_of_logits_and_of_one_layers_context() -> None:
    running = DeviceEngine(TARGET, DRAFT, graphs=None, gamma=4, batch=2)
    assert running.device_step._warm_up.n_bytes(2, 4, 300) == (
        2 * 5 * 24 * (4 + 4 * 6) + 2 * 2 * 2 * 512 * 2 * 8 * 4
    )


def test_the_engine_can_stop_between_two_captures() -> None:
    graphs = FakeGraphs()

    class Stopped(Exception):
        pass

    def rest(point: str) -> None:
        if point == "capture" and graphs.n_captures == 2:
            raise Stopped

    running = DeviceEngine(TARGET, DRAFT, graphs=graphs, gamma=4, rest=rest)
    running.submit([3, 1, 4])
    with pytest.raises(Stopped):
        running.step()
    assert graphs.n_captures == 2
    assert not running.all(StepCommitted)


def test_a_long_capture_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "CAPTURES_TOLD_NS", -1)
    running = DeviceEngine(TARGET, DRAFT, graphs=FakeGraphs(), gamma=2)
    running.run([3, 1, 4])
    said = [
        event.message for event in running.all(LogEmitted) if "graphs captured" in event.message
    ]
    assert said[:5] == [f"{n} CUDA graphs captured so far" for n in range(5)]
    assert said[5].startswith("5 CUDA graphs captured in ")


def test_graphs_that_were_given_up_are_not_counted_as_captured() -> None:
    running = DeviceEngine(TARGET, DRAFT, graphs=FakeGraphs(fails_at=3), gamma=2)
    running.run([3, 1, 4])
    (said,) = running.all(LogEmitted)
    assert "graphs are not used" in said.message
