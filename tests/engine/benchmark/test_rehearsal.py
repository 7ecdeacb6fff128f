"""The engine's own functions, alone: on toys, with graphs that need no device."""

from typing import Any

import pytest
import torch

from engine.assembly import Parts
from engine.benchmark.rehearsal import CONTEXT, Rehearsal
from engine.theory.roofline import forward_cost
from engine.wire.config import RunConfig
from tests.engine.benchmark.host_timer import HostTimer
from tests.support.device_engine import FakeGraphs
from tests.support.toy_model import ToyModel, ToyTokenizer

TARGET, DRAFT = (ToyModel(24, seed=seed, context_length=2048) for seed in (1, 2))
PARTS = Parts(TARGET, DRAFT, ToyTokenizer(24), 24)


def make(graphs: FakeGraphs | None, **settings: Any) -> Rehearsal:
    config = RunConfig(**{"target": "toy", "draft": "toy", "gamma": 3, **settings})
    return Rehearsal(config, PARTS, timer=HostTimer(), backend=graphs)


def test_forwards_are_timed_as_the_engine_calibrates_them() -> None:
    graphs = FakeGraphs()
    rehearsal = make(graphs)
    costs = rehearsal.costs()
    assert costs.context_length == CONTEXT
    assert len(costs.target_forward_ns) == 4
    assert costs.draft_forward_ns is not None
    assert 0.0 <= costs.draft_launch_share < 1.0
    assert rehearsal.is_captured
    assert rehearsal.why_not_captured == ""
    assert graphs.n_captures == 5, "a draft, and verifications of 1 to 4 tokens"


def test_graphs_are_played_and_nothing_is_computed_beside_them() -> None:
    graphs = FakeGraphs()
    rehearsal = make(graphs)
    rehearsal.costs()
    verification, draft = rehearsal.verification(), rehearsal.draft()
    assert verification is not None
    assert draft is not None
    assert graphs.n_captures == 5, "what was timed is what is played"
    n_before, n_forwards = graphs.n_replays, (TARGET.n_forwards, DRAFT.n_forwards)
    with torch.inference_mode():
        for playable in (verification, draft):
            playable.play()
            playable.play()
    assert graphs.n_replays == n_before + 4
    assert (TARGET.n_forwards, DRAFT.n_forwards) == (n_forwards[0] + 2, n_forwards[1] + 6)
    rehearsal.close()
    assert graphs.n_drops > 0


def test_the_bytes_of_a_verification_are_what_it_reads() -> None:
    verification = make(FakeGraphs()).verification()
    assert verification is not None
    cost = forward_cost(
        TARGET.shape,
        [CONTEXT],
        [4],
        bytes_per_weight=TARGET.weight_bytes / TARGET.shape.n_parameters,
        bytes_per_kv=4,
        bytes_per_activation=4,
    )
    assert verification.n_bytes == pytest.approx(cost.n_bytes, rel=1e-6)
    assert cost.kv_read_bytes == CONTEXT * 2 * 16 * 4
    n_unread = (24 - 4) * 16 * 4  # rows of the embedding that no token of the four asks for
    assert cost.weight_bytes <= TARGET.weight_bytes - n_unread


def test_a_capture_that_fails_is_told_and_nothing_is_played() -> None:
    rehearsal = make(FakeGraphs(fails_at=2))
    rehearsal.costs()
    assert not rehearsal.is_captured
    assert "operation not permitted" in rehearsal.why_not_captured
    assert rehearsal.verification() is None
    assert rehearsal.draft() is None


def test_without_graphs_kernels_are_launched_one_by_one() -> None:
    rehearsal = make(None)
    assert not rehearsal.is_captured
    costs = rehearsal.costs()
    assert costs.draft_forward_ns is not None
    assert costs.draft_launch_share is None
    assert rehearsal.attention == "attention gathers the context"


@pytest.mark.parametrize("draft", ["none", "ngram"])
def test_without_a_draft_model_there_is_no_loop(draft: str) -> None:
    rehearsal = make(FakeGraphs(), draft=draft)
    assert rehearsal.costs().draft_forward_ns is None
    assert rehearsal.draft() is None
    assert rehearsal.verification() is not None


def test_a_short_context_is_not_outrun() -> None:
    short = ToyModel(24, seed=3, context_length=40)
    parts = Parts(TARGET, short, ToyTokenizer(24), 24)
    config = RunConfig(target="toy", draft="toy", gamma=3)
    rehearsal = Rehearsal(config, parts, timer=HostTimer(), backend=FakeGraphs())
    assert rehearsal.draft() is not None
