"""Thousands of session files that somebody tampered with: each one opens, or is refused with a
sentence. Never another error, never a change to the file."""

import os
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.wire.codec import encode
from sessions.recovery import recover
from sessions.replay import StoredSource
from sessions.session_errors import SessionFileError
from sessions.session_file import SessionFile
from tests.sessions.recorded import lines, record, script

N_FILES = 3000
N_LINES = 2000
N_RECOVERED = 150
MAX_SECONDS_PER_FILE = 5.0

NUMBERS = [b"-1", b"0", b"4294967296", b"9223372036854775807", b"9223372036854775808", b"1e400",
           b"-0.0", b"1e-400", b"99999999999999999999999999999999", b"null", b"true", b'"x"', b"[]",
           b"{}", b"[[[[", b"NaN"]  # fmt: skip

Change = Callable[[random.Random, bytearray], None]


def flip(chance: random.Random, data: bytearray) -> None:
    for _ in range(chance.choice([1, 1, 2, 8, 64])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def set_bytes(chance: random.Random, data: bytearray) -> None:
    at = chance.randrange(len(data))
    data[at : at + 4] = chance.choice(
        [b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\1"]
    )


def change_header(chance: random.Random, data: bytearray) -> None:
    data[chance.randrange(100)] = chance.randrange(256)


def change_page_head(chance: random.Random, data: bytearray) -> None:
    """The first bytes of a page say what is in it, and where."""
    at = chance.randrange(len(data) // 4096) * 4096 + chance.randrange(24)
    data[at] = chance.choice([0, 1, 2, 5, 10, 13, 255, chance.randrange(256)])


def swap_pages(chance: random.Random, data: bytearray) -> None:
    first, second = (chance.randrange(len(data) // 4096) * 4096 for _ in range(2))
    page = data[first : first + 4096]
    data[first : first + 4096] = data[second : second + 4096]
    data[second : second + 4096] = page


def cut(chance: random.Random, data: bytearray) -> None:
    del data[chance.randrange(len(data)) :]


def grow(chance: random.Random, data: bytearray) -> None:
    data += bytes(chance.randrange(10_000))


def change_schema(chance: random.Random, data: bytearray) -> None:
    old, new = chance.choice(
        [
            (b"INTEGER PRIMARY KEY", b"INTEGER PRIMARY KE "),
            (b'TABLE "events"', b'TABLE "evemts"'),
            (b'TABLE "session"', b"TABLE events   "),
            (b"VIEW", b"TABL"),
            (b"TEXT", b"BLOB"),
            (b"CREATE TABLE", b"CREATE VIEW "),
            (b"NOT NULL", b"AS (1+1)"),
        ]
    )
    places = data.count(old)
    if places:
        at = -1
        for _ in range(chance.randrange(places) + 1):
            at = data.index(old, at + 1)
        data[at : at + len(old)] = new


def change_text(chance: random.Random, data: bytearray) -> None:
    """Numbers and letters of events, without moving anything."""
    for _ in range(chance.choice([1, 3, 30])):
        at = chance.randrange(len(data))
        if 32 <= data[at] < 127:
            data[at] = chance.choice(b'0123456789-{}[]",:eE.tfn\\')


FILE_CHANGES: list[Change] = [
    flip, set_bytes, change_header, change_page_head, swap_pages, cut, grow, change_schema,
    change_text,
]  # fmt: skip


def read_everything(path: Path) -> str:
    """Open, look and replay; what became of it."""
    refusal = None
    try:
        with SessionFile.open(path) as file:
            file.summary()
            source = StoredSource(file)
            while not source.exhausted:
                source.poll(100)
    except SessionFileError as error:
        refusal = error
    if refusal is None:
        return "loaded"
    assert str(path) in str(refusal)
    assert len(str(refusal)) > len(str(path)) + 10
    return type(refusal).__name__


@pytest.mark.slow
def test_mutated_files_are_loaded_or_refused(tmp_path: Path) -> None:
    whole = record(tmp_path / "whole.specscope", script(8)).read_bytes()
    chance = random.Random(20261129)
    seen: Counter[str] = Counter()
    path = tmp_path / "mutated.specscope"
    for number in range(N_FILES):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 1, 1, 2, 4])):
            if len(data) > 5000:
                FILE_CHANGES[number % len(FILE_CHANGES)](chance, data)
        path.write_bytes(data)
        start = time.thread_time()
        seen[read_everything(path)] += 1
        assert time.thread_time() - start < MAX_SECONDS_PER_FILE
        assert path.read_bytes() == data, "looking at it has changed it"
        if number % (N_FILES // N_RECOVERED) == 0:
            out = tmp_path / f"{number}.specscope"
            try:
                recover(path, out)
            except SessionFileError:
                seen["nothing recovered"] += 1
            else:
                assert read_everything(out) == "loaded"
                out.unlink()
            assert path.read_bytes() == data
    assert seen["loaded"] > N_FILES / 20
    assert seen["DamagedSessionFile"] > N_FILES / 20
    assert seen["NotASessionFile"] > 0
    assert {
        name for name in os.listdir(tmp_path) if "whole" not in name and "mutated" not in name
    } == set()


def mutate_line(chance: random.Random, line: bytes) -> bytes:
    data = bytearray(line)
    for _ in range(chance.choice([1, 1, 2, 5])):
        choice = chance.randrange(5)
        at = chance.randrange(len(data)) if data else 0
        if choice == 0:
            digits = [i for i, byte in enumerate(data) if 48 <= byte < 58] or [at]
            at = chance.choice(digits)
            data[at : at + 1] = chance.choice(NUMBERS)
        elif choice == 1:
            del data[at : at + chance.randrange(1, 20)]
        elif choice == 2:
            data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 5)))
        elif choice == 3:
            end = min(len(data), at + 40)
            data[at:at] = data[at:end]
        else:
            data[at:at] = chance.choice(
                [b"[" * 2000, b"{" * 2000, b'"' + b"\\ud800" + b'"', b"\xff"]
            )
    return bytes(data)


@pytest.mark.slow
def test_mutated_events_are_loaded_or_refused(tmp_path: Path) -> None:
    """The lines of events in a file that is otherwise sound."""
    events = script(8)
    path = record(tmp_path / "x.specscope", events)
    chance = random.Random(5)
    seen: Counter[str] = Counter()
    with SessionFile.open(path, writable=True) as editor:
        for _ in range(N_LINES):
            event = chance.choice(events)
            line = mutate_line(chance, encode(event)).decode("latin-1")
            sql = "UPDATE events SET payload = ? WHERE ordinal = ?"
            editor._database.execute("PRAGMA synchronous = OFF")
            editor._database.execute(sql, [line, event.ordinal])
            seen[read_everything(path)] += 1
            editor._database.execute(sql, [encode(event).decode(), event.ordinal])
    assert read_everything(path) == "loaded"
    assert seen["DamagedSessionFile"] > N_LINES / 2
    assert seen["loaded"] > 0
    assert set(seen) <= {"loaded", "DamagedSessionFile", "NewerSessionFile"}


def test_a_line_of_another_event_is_not_taken_for_it(tmp_path: Path) -> None:
    events = script(8)
    with SessionFile.create(tmp_path / "x.specscope") as file:
        file.append(lines(events))
        line = encode(events[5]).decode()
        file._database.execute("UPDATE events SET payload = ? WHERE ordinal = 6", [line])
    assert read_everything(tmp_path / "x.specscope") == "DamagedSessionFile"
