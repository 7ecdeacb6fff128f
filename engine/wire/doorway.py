"""A listening socket for one caller: a socket file where there are such, else loopback."""

import contextlib
import secrets
import shutil
import socket
import tempfile
import threading
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener
from pathlib import Path

import msgspec

from engine.wire.config import RunConfig

MAX_SOCKET_PATH = 100
"""Longer paths are refused by some systems; loopback is used instead."""


class Greeting(msgspec.Struct, frozen=True, kw_only=True):
    """The one line of JSON on the engine's standard input: where to call, the key, what to run."""

    address: str | tuple[str, int]  # a socket file, or a loopback host and port
    authkey: str  # hexadecimal
    configs: tuple[RunConfig, ...]  # of the sessions to run, one after the other


class Doorway:
    """Listens at ``address`` for a caller that knows ``authkey``; both are random.

    ``accept`` waits in one thread; ``close`` from another wakes it.
    """

    def __init__(self) -> None:
        self.authkey = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._is_closed = False
        self._folder: str | None = None
        self._left: Path | None = None  # a greeting in a file
        if hasattr(socket, "AF_UNIX"):
            folder = tempfile.mkdtemp(prefix="specscope-")  # for this user alone
            path = str(Path(folder) / "engine")
            if len(path) <= MAX_SOCKET_PATH:
                self._folder = folder
                self._listener = Listener(path, "AF_UNIX", authkey=self.authkey)
            else:
                shutil.rmtree(folder)
        if self._folder is None:
            self._listener = Listener(("127.0.0.1", 0), "AF_INET", authkey=self.authkey)
        self.address: str | tuple[str, int] = self._listener.address

    def greeting(self, configs: tuple[RunConfig, ...]) -> bytes:
        """The line that tells an engine where to call and what to run."""
        told = Greeting(address=self.address, authkey=self.authkey.hex(), configs=configs)
        return msgspec.json.encode(told) + b"\n"

    def leave(self, greeting: bytes) -> Path:
        """Put ``greeting`` into a file that only this user can read; ``close`` removes it if
        nobody has."""
        handle, name = tempfile.mkstemp(prefix="specscope-")  # mode 0600
        with open(handle, "wb") as file:
            file.write(greeting)
        self._left = Path(name)
        return self._left

    def accept(self) -> Connection | None:
        """Wait for the caller, then stop listening. None when closed before anybody came.

        A caller without the key is turned away.
        """
        connection: Connection | None = None
        try:
            while connection is None and not self._is_closed:
                with contextlib.suppress(AuthenticationError, EOFError, ConnectionError):
                    connection = self._listener.accept()
        except OSError:  # closed from another thread
            if not self._is_closed:
                raise
        finally:
            self._stop_listening()
        return connection

    def close(self) -> None:
        """Stop listening; may be called again."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._left is not None:
            self._left.unlink(missing_ok=True)
        family = socket.AF_INET if self._folder is None else socket.AF_UNIX
        # Whoever waits in accept is woken by a caller that says nothing.
        with contextlib.suppress(OSError), socket.socket(family) as caller:
            caller.connect(self.address)
        self._stop_listening()

    def _stop_listening(self) -> None:
        with self._lock:
            self._listener.close()
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
