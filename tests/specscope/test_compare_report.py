"""A comparison as a person reads it."""

import io
from dataclasses import replace

from rich.console import Console

from sessions.compare import compare
from sessions.speed_reasons import speed_reasons
from specscope.compare_report import print_comparison
from tests.sessions.scripted import baseline, speculative


def printed(*sessions: tuple) -> str:
    console = Console(file=io.StringIO(), width=140, color_system=None)
    print_comparison(
        compare(sessions), console, reasons=speed_reasons(sessions), notes=["Bear in mind."]
    )
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_the_table_has_the_baseline_first_and_every_row() -> None:
    text = printed(("fast", speculative()), ("plain", baseline()))
    places = {
        name: next(line.index(name) for line in text.splitlines() if name in line)
        for name in ("plain", "fast")
    }
    assert places["plain"] < places["fast"]
    for row in ("tokens per second", "speed-up, measured", "memory of the draft", "time drafting"):
        assert row in text
    assert "+ 1 KiB KV" in text
    assert "2 of 2" in text


def test_where_outputs_part_is_told() -> None:
    text = printed(("plain", baseline()), ("fast", speculative()))
    assert "fast: leaves the baseline at token 0 of sequence 0" in text
    assert "'x' instead of '!'" in text


def test_why_each_is_slower_stands_under_the_table_in_its_order() -> None:
    text = printed(("fast", speculative()), ("other", speculative(("ab",))), ("plain", baseline()))
    plain, other = (text.index(f"{name} ") for name in ("plain has", "other began"))
    assert text.index("prefill and calibration") < plain < other < text.index("note: Bear")
    assert "plain has 0.33 times the speed of fast: 0.33 times the tokens per step (it drafted " \
        "nothing)" in text  # fmt: skip
    assert "fast has" not in text


def test_a_doubted_reason_is_marked_and_names_are_bold() -> None:
    (reason,) = speed_reasons([("fast", speculative()), ("plain", baseline())])
    console = Console(file=io.StringIO(), width=300, force_terminal=True)
    print_comparison(
        compare([("plain", baseline())]), console, reasons=[replace(reason, is_doubted=True)]
    )
    assert "in doubt: \x1b[1mplain\x1b[0m has 0.33" in console.file.getvalue()  # type: ignore[attr-defined]
