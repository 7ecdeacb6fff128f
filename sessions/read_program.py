"""The program of a process that reads a session file ahead of another: ``python -m
sessions.read_program FILE AFTER AFTER_NS LAST KIND...``.

Events that were read and checked go to standard output, hundreds in a packet; those of the KINDs
are passed over. The first trouble ends it: whoever reads goes on from there and meets it.
"""

import gc
import sys
from pathlib import Path
from typing import BinaryIO

import msgspec

from engine.wire.events import Event
from sessions.session_file import SessionFile
from sessions.side_program import write_packet

_KINDS = {kind.__name__: kind for kind in Event.__args__}

unpack_events = msgspec.msgpack.Decoder(list[Event]).decode
"""The events of a packet: a quarter of what reading and checking them takes."""


def read_ahead(file: SessionFile, packets: BinaryIO, arguments: list[str]) -> None:
    """Write the events behind the ordinal AFTER, whose time is AFTER_NS, up to the ordinal LAST.

    Raises:
        SessionFileError: the file is damaged or busy; what came before was written.
        OSError: nobody listens any more.
    """
    after, after_ns, until = map(int, arguments[:3])
    without = [_KINDS[name] for name in arguments[3:]]
    pack = msgspec.msgpack.Encoder().encode
    for events in file.batches(after=after, after_ns=after_ns, until=until, without=without):
        write_packet(packets, pack(events))


def main(arguments: list[str]) -> None:
    with SessionFile.open(Path(arguments[0])) as file:
        read_ahead(file, sys.stdout.buffer, arguments[1:])


if __name__ == "__main__":
    gc.disable()  # events are no cycles, and the collector would look at all their lists
    main(sys.argv[1:])
