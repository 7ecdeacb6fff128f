"""A comparison as a person reads it."""

import io

from rich.console import Console

from sessions.compare import compare
from specscope.compare_report import print_comparison
from tests.sessions.scripted import baseline, speculative


def printed(*sessions: tuple) -> str:
    console = Console(file=io.StringIO(), width=140, color_system=None)
    print_comparison(compare(sessions), console)
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
