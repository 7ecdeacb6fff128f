"""The ways on the bundled pair: equal tokens, and figures that add up."""

from typing import Any

import pytest
import torch

from engine.benchmark import decoding, device_figures
from engine.benchmark.decoding import EAGER_WAYS, first_difference, our_ways, run
from engine.wire.benchmark import BenchmarkSettings
from engine.wire.config import ConfigError, RunConfig

PROMPTS = ("def add(first, second):\n", '{"name": "Ada", "age": ')


def test_first_difference_is_an_index_or_the_shorter_length() -> None:
    assert first_difference([1, 2, 3], [1, 5, 3]) == 1
    assert first_difference([1, 2], [1, 2, 3]) == 2
    assert first_difference([], [1]) == 0


@pytest.mark.parametrize("draft", ["bundled-draft", "ngram", "composite"])
def test_all_ways_decode_the_same_tokens(draft: str) -> None:
    config = RunConfig(draft=draft, max_new_tokens=24, gamma=4)
    told: list[str] = []
    result = run(
        BenchmarkSettings(suite="decoding", config=config, prompts=PROMPTS), progress=told.append
    )
    assert result["greedy_equal"], result["divergences"]
    assert result["n_compared"] == len(PROMPTS)
    assert result["ratios"].keys() == {
        "speculative_vs_plain",
        "speculative_vs_transformers_plain",
        "speculative_vs_transformers_assisted",
        "plain_vs_transformers_plain",
    }
    assert all(ratio > 0 for ratio in result["ratios"].values())
    assert result["measured_speedup"] == result["ratios"]["speculative_vs_plain"]
    assert result["tokens_per_second"]["plain"]["n"] == len(PROMPTS)
    assert 0 < result["overhead_share"] < 1
    assert result["decoding_speedup"] > 0
    assert (result["warnings"], result["failed"]) == ([], {})
    assert 0 < result["plain_bytes_per_s"]["steps"] < result["plain_bytes_per_s"]["forwards"]
    assert (result["syncs_per_step"], result["device_figures"]) == (None, None)
    assert result["target"] == "bundled-target"
    if result["predicted_speedup"] is not None:
        assert result["verify_width_cost"] > 0
        assert result["c"] >= 0
    assert told


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (RunConfig(temperature=1.0), "leave the temperature at 0"),
        (RunConfig(gamma="auto"), "give a number"),
    ],
)
def test_what_cannot_be_compared_is_refused(config: RunConfig, sentence: str) -> None:
    settings = BenchmarkSettings(suite="decoding", config=config, prompts=PROMPTS)
    with pytest.raises(ConfigError, match=sentence):
        run(settings, progress=lambda _: None)


def test_device_figures_that_break_leave_what_was_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    def decode(*_: Any, **options: Any) -> dict[str, Any]:
        order.append("decoded")
        return {"measured_speedup": 2.0}

    def break_off(*_: Any, **options: Any) -> None:
        order.append("figures")
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(decoding, "decode", decode)
    monkeypatch.setattr(decoding, "let_go", lambda: order.append("let go"))
    monkeypatch.setattr(device_figures, "run", break_off)
    settings = BenchmarkSettings(suite="decoding", config=RunConfig(), prompts=PROMPTS)
    result = run(settings, progress=lambda _: None)
    assert order == ["decoded", "let go", "figures"]
    assert result["measured_speedup"] == 2.0
    assert "CUDA out of memory." in result["device_figures"]["why_not_captured"]
    assert result["failed"].keys() == {"device_figures"}


def test_on_cuda_both_ways_are_timed_without_graphs_too() -> None:
    config = RunConfig(gamma=2)
    assert [way for way, _ in our_ways(config, torch.device("cpu"))] == ["plain", "speculative"]
    ways = dict(our_ways(config, torch.device("cuda")))
    assert list(ways) == ["plain", "speculative", *EAGER_WAYS]
    assert [settings.graphs for settings in ways.values()] == [True, True, False, False]
    assert ways["plain_eager"].draft == "none"
    without = RunConfig(gamma=2, graphs=False)
    assert len(our_ways(without, torch.device("cuda"))) == 2
