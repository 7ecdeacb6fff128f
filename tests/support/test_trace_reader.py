"""The strict reader of Chrome traces refuses what a viewer would forgive."""

from pathlib import Path

import pytest

from sessions.export.chrome_trace import write_chrome_trace
from tests.support.export_streams import plain_session, with_clear_spans
from tests.support.trace_reader import read_trace


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"displayTimeUnit":"ns"', '"displayTimeUnit":"us"'),
        ('"draft_prob":0.5', '"draft_prob":NaN'),
        ('"draft_prob":0.5', '"draft_prob":0.5,"draft_prob":0.5'),
        ('"step":0', '"step":9007199254740993'),
        ('"ph":"s"', '"ph":"f","bp":"e"'),
        ('"ph":"f","bp":"e"', '"ph":"f"'),
        ('"s":"t"', '"s":"q"'),
        ('"dur":0.300', '"dur":-0.300'),
        ('"dur":0.300', '"dur":0.3005'),
        ('"dur":0.300', '"dur":"0.300"'),
        ('"dur":0.300', '"dur":9000.300'),
        ('"name":"thread_name"', '"name":"thread_nom"'),
        ('"name":"process_name"', '"name":"process_nom"'),
        ("\n],", ",\n],"),
    ],
)
def test_it_refuses(old: str, new: str, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    write_chrome_trace(with_clear_spans(plain_session()), path)
    read_trace(path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises((AssertionError, ValueError, KeyError)):
        read_trace(path)
