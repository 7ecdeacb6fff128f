"""Results as JSON."""

import json

from sessions.compare import compare
from sessions.metrics.forward_work import forward_work
from sessions.speed_reasons import speed_reasons
from specscope.run_result import comparison_result, run_result, show_result
from tests.sessions.scripted import baseline, folded, speculative
from tests.support.event_script import EventScript


def test_one_sequence_stands_beside_the_figures() -> None:
    result = run_result(speculative(("ab",)))
    assert result["text"] == "xy!xy!"
    assert result["n_steps"] == 2
    assert result["n_accepted"] == 4
    assert result["acceptance_by_position"][0] == {
        "draft_index": 0, "n_drafted": 2, "n_tested": 2, "n_accepted": 2,
        "conditional": 1.0, "unconditional": 1.0,
    }  # fmt: skip
    assert result["settings"]["draft_model"]["name"] == "scripted-draft"
    assert "sequences" not in result
    assert result["kernels"] is None
    assert [each["phase"] for each in result["utilization"]] == [
        work.forward for work in forward_work(speculative(("ab",)))
    ]
    assert result["nsys_report"] is None


def test_several_sequences_are_listed_with_figures_of_their_own() -> None:
    result = run_result(speculative())
    assert [each["prompt"] for each in result["sequences"]] == ["ab", "cd"]
    assert sum(each["n_accepted"] for each in result["sequences"]) == result["n_accepted"] == 8


def test_everything_is_json_even_of_nothing() -> None:
    for snapshot in (speculative(), baseline(), folded([]), folded(EventScript().events)):
        json.dumps(show_result(snapshot), allow_nan=False)
        json.dumps(comparison_result(compare([("one", snapshot)])), allow_nan=False)


def test_a_comparison_names_baseline_rank_memory_and_intervals() -> None:
    result = comparison_result(compare([("fast", speculative()), ("plain", baseline())]))
    plain, fast = result["sessions"]
    assert plain["is_baseline"]
    assert plain["speedup"] is None
    assert fast["rank"] == 1
    assert fast["draft_bytes"] == fast["draft_weight_bytes"] + fast["draft_kv_bytes"]
    assert fast["speedup"]["low"] <= fast["speedup"]["value"] <= fast["speedup"]["high"]
    assert [each["position"] for each in fast["divergences"]] == [0, 0]


def test_a_comparison_says_why_the_slower_is_slower() -> None:
    sessions = [("fast", speculative()), ("plain", baseline())]
    result = comparison_result(compare(sessions), reasons=speed_reasons(sessions))
    (reason,) = json.loads(json.dumps(result, allow_nan=False))["reasons"]
    assert (reason["name"], reason["best"], reason["kind"]) == ("plain", "fast", "reason")
    assert reason["ratio"]["tokens_per_step"] == 1 / 3
    assert reason["sentence"].startswith("plain has 0.33 times the speed of fast: ")
    assert comparison_result(compare(sessions))["reasons"] == []
