"""Every suite's result as a person reads it."""

import io

import pytest
from rich.console import Console

from specscope.bench_report import print_report
from tests.specscope.bench_results import GPU_DECODING, RESULTS


def printed(suite: str, result: dict) -> str:
    console = Console(file=io.StringIO(), width=120, color_system=None)
    print_report(suite, result, console)
    return console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("suite", "words"),
    [
        ("decoding", ["1.60 x as fast", "speed-up measured", "equal but for ties", "(a tie)"]),
        ("cache", ["Rolling back 4 positions", "87.5 %", "8.00 MiB"]),
        ("events", ["1.0050", "1.0120", "417 bytes each"]),
        ("claims", ["Claims, on no GPU", "drafting is fast", "not measured", "no CUDA device"]),
        ("goals", ["2.60 TB/s", "What a GPU is to show", "7.2 %", "at most 5.0 %", "missed"]),
        ("sessions", ["20,000 draft tokens", "at most 2.0 %", "90,000 1/s", "MISSED", "0.256 s"]),
    ],
)
def test_a_result_is_told_with_its_numbers(suite: str, words: list[str]) -> None:
    text = printed(suite, RESULTS[suite])
    for word in words:
        assert word in text


def test_figures_that_do_not_exist_are_dashes() -> None:
    plain = {**RESULTS["decoding"], "predicted_speedup": None, "c": None, "overhead_share": None}
    lines = printed("decoding", plain).splitlines()
    assert any(line.startswith("speed-up predicted") and " - " in line for line in lines)


def test_a_difference_that_is_no_tie_is_loud() -> None:
    different = {**RESULTS["decoding"], "greedy_equal": False}
    assert "DIFFERENT" in printed("decoding", different)


def test_a_machine_that_did_not_keep_its_speed_is_told() -> None:
    decoding = RESULTS["decoding"]
    assert "did not keep its speed" in printed("decoding", decoding)
    assert "1 .. 2.50" in printed("decoding", decoding)
    steady = {**decoding, "steadiness": {**decoding["steadiness"], "is_steady": True}}
    assert "did not keep its speed" not in printed("decoding", steady)
    unknown = {**decoding, "steadiness": None}
    assert "the machine's speed" not in printed("decoding", unknown)


def test_a_device_is_told_captured_beside_kernel_by_kernel() -> None:
    text = " ".join(printed("decoding", GPU_DECODING).split())
    for words in (
        "a copy within its memory 2.60 TB/s",
        "plain steps read 2.10 TB/s weights, keys and values: 80.8 % of a copy",
        "draft forward 0.89 ms captured; 3.00 ms launched kernel by kernel",
        "target forward, width 6 6.97 ms captured; 14.30 ms",
        "launching 2.1 % of a captured draft's time; 61.0 %",
    ):
        assert words in text, words
    assert "FlashAttention" not in text
    assert "a copy within its memory" not in printed("decoding", RESULTS["decoding"])


def test_a_device_without_graphs_says_why_and_other_kernels_are_named() -> None:
    figures = {
        **GPU_DECODING["device_figures"],
        "captured": None,
        "why_not_captured": "CUDA graphs are not used: no memory.",
        "flash_attention": "FA3",
    }
    text = " ".join(printed("decoding", {**GPU_DECODING, "device_figures": figures}).split())
    assert "draft forward - captured; 3.00 ms launched kernel by kernel" in text
    assert "graphs none CUDA graphs are not used: no memory." in text
    assert "FlashAttention FA3 in place of torch's own" in text


def test_a_part_that_failed_is_told_with_its_trace() -> None:
    failed = {**RESULTS["goals"], "claims": None, "failed": {"claims": "RuntimeError: [x] broke"}}
    text = printed("goals", failed)
    assert "claims failed:\nRuntimeError: [x] broke" in text
    assert "Claims, on" not in text
    without = {**GPU_DECODING, "device_figures": {"why_not_captured": "The device is gone."}}
    text = printed("decoding", {**without, "failed": {"device_figures": "RuntimeError: [x]"}})
    assert "speed-up measured" in text
    assert " ".join(text.split()).count("the device's figures none The device is gone.") == 1
    assert "device_figures failed:\nRuntimeError: [x]" in text
