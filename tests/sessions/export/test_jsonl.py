"""A stream as lines and back: equal, or a sentence with the line's number."""

from pathlib import Path

import msgspec
import pytest

from engine.wire.codec import MAX_LINE_BYTES
from engine.wire.events import Event, LogEmitted, StepCommitted
from sessions.export.jsonl import read_jsonl, write_jsonl
from sessions.export.options import ExportError, ExportOptions, StepRange
from tests.support.event_script import EventScript
from tests.support.export_streams import gpu_session, plain_session, two_sequences
from tests.support.running_engine import RunningEngine
from tests.support.toy_model import ToyModel


def toy_run() -> list[Event]:
    return RunningEngine(ToyModel(24, seed=1), ToyModel(24, seed=2), max_new_tokens=9).run([3, 1])


@pytest.mark.parametrize("make", [toy_run, two_sequences, gpu_session, lambda: plain_session(0)])
def test_it_comes_back_equal(make, tmp_path: Path) -> None:
    events = make()
    path = tmp_path / "out.jsonl"
    write_jsonl(events, path)
    assert list(read_jsonl(path)) == events
    assert path.read_bytes().count(b"\n") == len(events)


def test_line_breaks_in_texts_stay_inside_their_line(tmp_path: Path) -> None:
    script = EventScript()
    script.say(LogEmitted(level="info", message="a\nb\r\n\u2028\u0085c"))
    path = tmp_path / "out.jsonl"
    write_jsonl(script.events, path)
    assert list(read_jsonl(path)) == script.events


def test_a_part_keeps_its_steps(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write_jsonl(plain_session(5), path, options=ExportOptions(StepRange(1, 3)))
    steps = [event.step for event in read_jsonl(path) if isinstance(event, StepCommitted)]
    assert steps == [1, 2, 3]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (b"{", "line 3: not a valid message"),
        (b"", "line 3: is empty"),
        (b'{"kind":"Nonsense"}', "line 3: not a valid message"),
        (b'{"kind":"LogEmitted","level":"info"}', "line 3: not a valid message.*message"),
        (b'{"kind":"HostSampled","process_cpu_pct":NaN}', "line 3: not a valid message"),
        (b"\xff\xfe", "line 3: not a valid message"),
        (b"[" * 100_000, "line 3: not a valid message"),
        (b'"' + b"x" * MAX_LINE_BYTES + b'"', "line 3: is longer than"),
    ],
)
def test_a_bad_line_is_a_sentence_with_its_number(bad: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write_jsonl(plain_session(), path)
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:2], bad, *lines[2:]]))
    events = read_jsonl(path)
    assert [next(events), next(events)] == plain_session()[:2]
    with pytest.raises(ExportError, match=said):
        next(events)


def test_a_line_that_was_cut_off_is_told(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write_jsonl(plain_session(), path)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(ExportError, match=f"line {len(plain_session())}:"):
        list(read_jsonl(path))


def test_what_is_no_session_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with pytest.raises(ExportError, match="cannot be read: No such file"):
        list(read_jsonl(path))
    path.write_bytes(b"")
    with pytest.raises(ExportError, match="is empty"):
        list(read_jsonl(path))
    write_jsonl(plain_session()[1:], path)
    with pytest.raises(ExportError, match="line 1: is ModelLoaded"):
        list(read_jsonl(path))
    newer = msgspec.structs.replace(plain_session()[0], schema_version=99)
    write_jsonl([newer], path)
    with pytest.raises(ExportError, match="which is newer"):
        list(read_jsonl(path))
