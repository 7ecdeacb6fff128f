import math
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.wire import codec
from engine.wire.codec import (
    CodecError,
    decode_command,
    decode_event,
    decode_events,
    encode,
)
from engine.wire.commands import CloseQueue, Command, SetGamma, SetSampling, SubmitPrompt
from engine.wire.events import Event, KvAdvanced, LogEmitted, Role, SpansMeasured
from tests.support.event_script import EventScript


def finite(message: Any) -> Any:
    """The message without NaN and infinity, which none may hold."""
    fields = msgspec.structs.asdict(message)
    return type(message)(**{name: _finite(value) for name, value in fields.items()})


def _finite(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_finite, value))
    return 0.0 if isinstance(value, float) and not math.isfinite(value) else value


@settings(max_examples=200, deadline=None)
@given(st.from_type(Event).map(finite))  # type: ignore[arg-type]
def test_every_event_comes_back_as_it_was(event: Any) -> None:
    line = encode(event)
    assert b"\n" not in line
    back = decode_event(line)
    assert type(back) is type(event)
    assert encode(back) == line


@settings(max_examples=100, deadline=None)
@given(st.from_type(Command).map(finite))  # type: ignore[arg-type]
def test_every_command_comes_back_as_it_was(command: Any) -> None:
    assert encode(decode_command(encode(command))) == encode(command)


def test_what_is_not_finite_is_refused_by_the_reader() -> None:
    event = SetSampling(temperature=math.nan)
    with pytest.raises(CodecError, match="Expected `float`, got `null`"):
        decode_command(encode(event))


def test_a_script_comes_back_as_it_was() -> None:
    script = EventScript()
    script.sequence("pröbe\n", label="ünicode")
    script.step()
    script.finish()
    assert [decode_event(encode(event)) for event in script.events] == script.events


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"kind":"Nonsense"}',
        b'{"kind":"LogEmitted"}',
        b'{"kind":"LogEmitted","level":"info","message":3}',
        b'{"kind":"KvAdvanced","sequence_id":1.5,"role":"draft","step":0}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_event_is_refused(line: bytes) -> None:
    with pytest.raises(CodecError, match="not a valid message"):
        decode_event(line)


def test_an_event_is_no_command() -> None:
    with pytest.raises(CodecError):
        decode_command(encode(LogEmitted(level="info", message="")))
    with pytest.raises(CodecError):
        decode_event(encode(CloseQueue()))


def test_a_line_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "MAX_LINE_BYTES", 10)
    with pytest.raises(CodecError, match="longer than 10"):
        decode_event(encode(LogEmitted(level="info", message="")))


def test_fields_of_a_later_version_are_passed_over() -> None:
    line = encode(LogEmitted(level="info", message="x"))
    assert decode_event(line[:-1] + b',"added_later":1}') == decode_event(line)


def test_a_missing_reading_is_null() -> None:
    event = SpansMeasured(
        step=0,
        names=("step",),
        roles=(None,),
        start_ns=(1,),
        host_ns=(2,),
        gpu_ns=(None,),
        n_flops=(None,),
        n_bytes=(None,),
    )
    assert msgspec.json.decode(encode(event))["gpu_ns"] == [None]


def test_the_kind_is_in_the_line() -> None:
    event = KvAdvanced(
        sequence_id=0, role=Role.DRAFT, step=0, position=0, n_written=1, n_rolled_back=0
    )
    assert msgspec.json.decode(encode(event))["kind"] == "KvAdvanced"
    assert msgspec.json.decode(encode(SetGamma(gamma="auto")))["gamma"] == "auto"
    assert msgspec.json.decode(encode(SubmitPrompt(text="x")))["kind"] == "SubmitPrompt"


def test_many_lines_are_the_same_events_as_one_by_one() -> None:
    lines = [encode(LogEmitted(level="info", message=text)) for text in ("a", "b,]", "c")]
    assert decode_events(lines) == [decode_event(line) for line in lines]
    assert decode_events([]) == []
    with pytest.raises(CodecError, match="not a valid message"):
        decode_events([*lines, b"{"])
