"""Verdicts on results as an H100 might give them, whole and with figures missing."""

from typing import Any

import pytest

from engine.benchmark.verdicts import HOLDS, MISSED, NOT_MEASURED, check_goals
from tests.specscope.bench_results import GPU_DECODING, RESULTS

EVENTS = {
    "device": "cuda:0",
    "everything_cost_share": 0.011,
    "everything_on_vs_off": {
        "median": 1.011, "lower_quartile": 1.004, "upper_quartile": 1.016, "n": 9,
    },
}  # fmt: skip


def changed(result: dict[str, Any], *path: str, value: Any) -> dict[str, Any]:
    """A copy in which what lies at ``path`` is ``value``."""
    name, *rest = path
    return {**result, name: changed(result[name], *rest, value=value) if rest else value}


def test_a_run_that_shows_all_of_it() -> None:
    verdicts = check_goals(GPU_DECODING, EVENTS)
    assert [verdict.verdict for verdict in verdicts] == [HOLDS] * 9
    assert [(verdict.measured, verdict.limit) for verdict in verdicts] == [
        ("2.1 %", "at most 5.0 %"),
        ("0.295", "at most 0.500"),
        ("80.8 %", "at least 75.0 %"),
        ("1.040", "at most 1.100"),
        ("1.95 times", "at least 1.80 times"),
        ("6.20 times", "at least 3.00 times"),
        ("4.8 %", "at most 10.0 %"),
        ("1 a step", "at most 1 a step"),
        ("1.1 %", "at most 2.0 %"),
    ]
    assert all(verdict.why.endswith(".") for verdict in verdicts)
    told = " ".join(verdict.why for verdict in verdicts)
    for words in ("61.0 %", "2.10 TB/s", "2.60 TB/s", "bytes read and bytes written together",
                  "2.000 measured", "2.100 by the formula", "9 pairs on cuda:0"):  # fmt: skip
        assert words in told, words


@pytest.mark.parametrize(
    ("place", "path", "value"),
    [
        (0, ("device_figures", "draft_launch_share"), 0.051),
        (1, ("device_figures", "eager", "draft_forward_ns"), 1_700_000),
        (2, ("plain_bytes_per_s", "steps"), 1.9e12),
        (3, ("device_figures", "captured", "target_forward_ns", "6"), 8_000_000),
        (4, ("measured_speedup",), 1.79),
        (5, ("ratios", "speculative_vs_transformers_plain"), 2.9),
        (6, ("decoding_speedup",), 1.8),
        (6, ("decoding_speedup",), 2.4),
        (7, ("syncs_per_step", "most"), 2),
    ],
)
def test_each_goal_can_be_missed_and_no_other_with_it(
    place: int, path: tuple[str, ...], value: float
) -> None:
    verdicts = check_goals(changed(GPU_DECODING, *path, value=value), EVENTS)
    missed = [index for index, verdict in enumerate(verdicts) if verdict.verdict == MISSED]
    assert missed == [place]
    assert verdicts[place].measured


def test_telling_that_costs_too_much_is_missed() -> None:
    verdicts = check_goals(GPU_DECODING, changed(EVENTS, "everything_cost_share", value=0.021))
    assert verdicts[-1].verdict == MISSED


def test_what_is_compared_with_telling_is_said() -> None:
    """Events are made in both, and what is left in the queue is not waited for."""
    verdict = check_goals(GPU_DECODING, EVENTS)[-1]
    assert verdict.what.startswith("sending events")
    assert "/ with events made and dropped and none of the rest" in verdict.why
    assert "what is sent after it is not timed" in verdict.why


def test_pairs_too_far_apart_tell_nothing() -> None:
    noisy = {**EVENTS["everything_on_vs_off"], "lower_quartile": 0.9, "upper_quartile": 1.1}
    verdict = check_goals(GPU_DECODING, {**EVENTS, "everything_on_vs_off": noisy})[-1]
    assert verdict.verdict == NOT_MEASURED
    assert "of 9 pairs the quartiles were 0.900 and 1.100" in verdict.why
    near = {**noisy, "lower_quartile": 0.95, "upper_quartile": 1.06}
    verdict = check_goals(GPU_DECODING, {**EVENTS, "everything_on_vs_off": near})[-1]
    assert verdict.verdict == NOT_MEASURED
    assert "the median's standard error is 3.4 %" in verdict.why
    many = {**noisy, "n": 100}
    assert check_goals(GPU_DECODING, {**EVENTS, "everything_on_vs_off": many})[-1].verdict == HOLDS


def test_on_a_cpu_only_the_cost_of_telling_is_measured() -> None:
    verdicts = check_goals(RESULTS["decoding"], {**EVENTS, "device": "cpu"})
    assert {verdict.verdict for verdict in verdicts[:-1]} == {NOT_MEASURED}
    assert {verdict.why for verdict in verdicts[:-1]} == {
        "the goal is one of a CUDA device, and this was decoded on cpu."
    }
    assert verdicts[-1].verdict == HOLDS


def test_without_graphs_nothing_is_said_of_captured_decoding() -> None:
    figures = {
        **GPU_DECODING["device_figures"],
        "captured": None,
        "draft_launch_share": None,
        "why_not_captured": "CUDA graphs are not used: out of memory. And so on.",
    }
    verdicts = check_goals({**GPU_DECODING, "device_figures": figures}, EVENTS)
    assert [verdict.verdict for verdict in verdicts] == [NOT_MEASURED] * 7 + [HOLDS] * 2
    assert {verdict.why for verdict in verdicts[:7]} == {figures["why_not_captured"]}
    assert {verdict.measured for verdict in verdicts[:7]} == {""}


def test_a_run_that_gave_up_its_graphs_is_not_of_captured_decoding() -> None:
    warnings = [
        "another",
        "CUDA graphs are not used: no memory. Every kernel is launched by itself.",
    ]
    verdicts = check_goals({**GPU_DECODING, "warnings": warnings}, EVENTS)
    judged = [verdict.verdict == HOLDS for verdict in verdicts]
    assert judged == [True, True, False, True, False, False, False, True, True]
    assert verdicts[4].why == warnings[1]


def test_a_smaller_gamma_verifies_too_few_tokens() -> None:
    decoding = changed(
        GPU_DECODING, "device_figures", "captured", "target_forward_ns", value={"1": 7_000_000}
    )
    verdict = check_goals(changed(decoding, "device_figures", "gamma", value=4), EVENTS)[3]
    assert verdict.verdict == NOT_MEASURED
    assert verdict.why == "gamma was 4, and a verification of 6 tokens needs 5."


@pytest.mark.parametrize(
    ("place", "path", "words"),
    [
        (0, ("device_figures", "draft_launch_share"), "no captured draft"),
        (1, ("device_figures", "eager", "draft_forward_ns"), "both ways"),
        (2, ("device_figures", "copy_bytes_per_s"), "beside a copy"),
        (5, ("ratios",), "transformers was not timed"),
        (6, ("predicted_speedup",), "acceptance, c or v"),
        (7, ("syncs_per_step",), "no step was counted"),
    ],
)
def test_a_missing_figure_says_so(place: int, path: tuple[str, ...], words: str) -> None:
    verdicts = check_goals(changed(GPU_DECODING, *path, value=None), EVENTS)
    assert verdicts[place].verdict == NOT_MEASURED
    assert words in verdicts[place].why


def test_nothing_at_all_is_measured_in_empty_results() -> None:
    verdicts = check_goals({}, {})
    assert {verdict.verdict for verdict in verdicts} == {NOT_MEASURED}
    assert {verdict.why for verdict in verdicts[:-1]} == {"nothing was decoded."}


def test_other_kernels_for_transformers_are_named() -> None:
    decoding = changed(GPU_DECODING, "device_figures", "flash_attention", value="FA3")
    assert "FlashAttention is FA3 for both" in check_goals(decoding, EVENTS)[5].why
    assert "FlashAttention" not in check_goals(GPU_DECODING, EVENTS)[5].why
