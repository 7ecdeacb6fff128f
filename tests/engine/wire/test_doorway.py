import os
import socket
import stat
import tempfile
import threading
from collections.abc import Iterator
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection
from pathlib import Path

import msgspec
import pytest

from engine.wire.config import RunConfig
from engine.wire.doorway import Doorway, Greeting


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where socket files go; nothing is left there."""
    folder = tmp_path / "s"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


class Accepting:
    """Accepts in a thread."""

    def __init__(self, doorway: Doorway) -> None:
        self.connection: Connection | None = None
        self._doorway = doorway
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    def _accept(self) -> None:
        self.connection = self._doorway.accept()

    def join(self) -> Connection | None:
        self._thread.join(10.0)
        assert not self._thread.is_alive()
        return self.connection


def converse(doorway: Doorway) -> None:
    accepting = Accepting(doorway)
    with Client(doorway.address, authkey=doorway.authkey) as caller:
        accepted = accepting.join()
        assert accepted is not None
        with accepted:
            caller.send_bytes(b"hello")
            assert accepted.recv_bytes() == b"hello"
    doorway.close()
    doorway.close()


def test_lets_in_who_has_the_key() -> None:
    converse(Doorway())


def test_loopback_where_there_are_no_socket_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(socket, "AF_UNIX")
    doorway = Doorway()
    assert doorway.address[0] == "127.0.0.1"
    converse(doorway)


def test_loopback_where_the_path_would_be_too_long(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = folder / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    doorway = Doorway()
    assert doorway.address[0] == "127.0.0.1"
    converse(doorway)
    long.rmdir()


def test_turns_away_who_has_another_key_and_waits_on() -> None:
    doorway = Doorway()
    accepting = Accepting(doorway)
    with pytest.raises((AuthenticationError, EOFError, OSError)):
        Client(doorway.address, authkey=b"wrong")
    with Client(doorway.address, authkey=doorway.authkey):
        accepted = accepting.join()
        assert accepted is not None
        accepted.close()


def test_closing_wakes_who_waits() -> None:
    doorway = Doorway()
    accepting = Accepting(doorway)
    doorway.close()
    assert accepting.join() is None


def test_closed_before_anybody_waited() -> None:
    doorway = Doorway()
    doorway.close()
    assert doorway.accept() is None


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no socket files")
def test_the_socket_file_is_for_this_user_alone() -> None:
    doorway = Doorway()
    assert isinstance(doorway.address, str)
    mode = os.stat(Path(doorway.address).parent).st_mode
    assert stat.S_IMODE(mode) == 0o700
    doorway.close()


def test_keys_are_random() -> None:
    first, second = Doorway(), Doorway()
    assert first.authkey != second.authkey
    assert len(first.authkey) == 32
    first.close()
    second.close()


def test_a_greeting_can_be_left_in_a_file_for_this_user_alone() -> None:
    doorway = Doorway()
    greeting = doorway.greeting((RunConfig(seed=5),))
    path = doorway.leave(greeting)
    assert path.stat().st_mode & 0o077 == 0
    told = msgspec.json.decode(path.read_bytes(), type=Greeting)
    assert told.configs[0].seed == 5
    assert bytes.fromhex(told.authkey) == doorway.authkey
    doorway.close()
    assert not path.exists()
