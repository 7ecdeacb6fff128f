from typing import Any

import pytest

from engine.assembly import Parts
from engine.benchmark import device_figures
from engine.benchmark.device_figures import flash_attention, forward_figures, run
from engine.benchmark.rehearsal import CONTEXT
from engine.wire.config import RunConfig
from tests.engine.benchmark.host_timer import HostTimer
from tests.support.device_engine import FakeGraphs
from tests.support.toy_model import ToyModel, ToyTokenizer

PARTS = Parts(
    ToyModel(24, seed=1, context_length=2048),
    ToyModel(24, seed=2, context_length=2048),
    ToyTokenizer(24),
    24,
)
CONFIG = RunConfig(target="toy", draft="toy", gamma=3)


def figures(graphs: FakeGraphs | None) -> dict[str, Any]:
    return forward_figures(CONFIG, PARTS, timer=HostTimer(), backend=graphs)


def test_there_are_none_on_a_cpu() -> None:
    assert run(RunConfig(device="cpu"), progress=lambda detail: None, shelf={}) is None


def test_both_ways_are_timed_at_every_width() -> None:
    told = figures(FakeGraphs())
    assert (told["context_length"], told["gamma"]) == (CONTEXT, 3)
    for way in ("captured", "eager"):
        assert list(told[way]["target_forward_ns"]) == ["1", "2", "3", "4"]
        assert all(ns > 0 for ns in told[way]["target_forward_ns"].values())
        assert told[way]["draft_forward_ns"] > 0
    assert 0.0 <= told["draft_launch_share"] < 1.0
    assert 0.0 <= told["uncaptured_launch_share"] < 1.0
    assert told["why_not_captured"] == ""


def test_what_was_not_captured_says_why() -> None:
    failed = figures(FakeGraphs(fails_at=1))
    assert failed["captured"] is None
    assert failed["draft_launch_share"] is None
    assert "operation not permitted" in failed["why_not_captured"]
    assert failed["eager"]["draft_forward_ns"] > 0
    assert "told to capture no graphs" in figures(None)["why_not_captured"]


def test_the_kernels_in_force_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert flash_attention() is None
    from torch.nn import attention

    monkeypatch.setattr(attention, "current_flash_attention_impl", lambda: "FA3")
    assert flash_attention() == "FA3"
    monkeypatch.delattr(attention, "current_flash_attention_impl")
    assert flash_attention() is None
    assert device_figures.CONTEXT == CONTEXT
