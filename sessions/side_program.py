"""Programs of this package that run beside the one that wants their answers, which come as packets
of bytes through their standard output."""

import struct
import subprocess
from typing import IO, BinaryIO

from engine.wire.program import engine_command, engine_environment

_LENGTH = struct.Struct("<q")
"""Bytes of the packet that follows."""

_PIPE_BYTES = 1 << 20
"""Where a pipe can be so large: a program goes on while nobody reads."""


def start_program(program: str, *arguments: str) -> "subprocess.Popen[bytes]":
    """``python -m program``, to be killed by whoever starts it; without a reader it ends at its
    next packet. Raises OSError where no more processes are to be had."""
    return subprocess.Popen(
        engine_command(program, *arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        pipesize=_PIPE_BYTES,
        stderr=subprocess.DEVNULL,
        env=engine_environment(),
    )


def write_packet(out: BinaryIO, packet: bytes) -> None:
    """Raises OSError when nobody listens any more."""
    out.write(_LENGTH.pack(len(packet)))
    out.write(packet)
    out.flush()


def read_packet(stream: IO[bytes]) -> bytes:
    """The next packet; nothing where the program ended."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return b""
    (n_bytes,) = _LENGTH.unpack(head)
    packet = stream.read(n_bytes)
    return packet if len(packet) == n_bytes else b""
