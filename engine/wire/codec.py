"""An event or a command to one line of JSON and back; msgspec checks every field on the way in."""

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from engine.wire.commands import Command
from engine.wire.events import Event

MAX_LINE_BYTES = 16 * 1024 * 1024
"""A longer line is refused: nothing the engine says comes near it."""

Message = TypeVar("Message")

_encoder = msgspec.json.Encoder()
_event_decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
_events_decoder: msgspec.json.Decoder[list[Event]] = msgspec.json.Decoder(list[Event])
_command_decoder: msgspec.json.Decoder[Command] = msgspec.json.Decoder(Command)


class CodecError(ValueError):
    """A line that is not a valid event or command."""


def encode(message: Event | Command) -> bytes:
    """One line of UTF-8 JSON, without the newline."""
    return _encoder.encode(message)


def decode_event(line: bytes) -> Event:
    """Raises CodecError when the line is too long or not a valid event."""
    return _decode(_event_decoder, line)


def decode_events(lines: Sequence[bytes]) -> list[Event]:
    """Many events at once, in half the time. What comes out of lines that are no events singly is
    as valid as any, but may be another number of events.

    Raises CodecError where they are not valid events.
    """
    return _decode(_events_decoder, b"[%b]" % b",".join(lines), n_lines=2)


def decode_command(line: bytes) -> Command:
    """Raises CodecError when the line is too long or not a valid command."""
    return _decode(_command_decoder, line)


def _decode(decoder: "msgspec.json.Decoder[Message]", line: bytes, *, n_lines: int = 1) -> Message:
    if len(line) > n_lines * MAX_LINE_BYTES:
        raise CodecError(f"a line of {len(line)} bytes is longer than {MAX_LINE_BYTES} allowed")
    try:
        return decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise CodecError(f"not a valid message: {error}") from error
