"""FoldProcesses: a long session file becomes columns on all cores, beside whoever waits for it."""

import contextlib
import os
import subprocess
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event, Thread
from time import monotonic

import msgspec

from sessions.column_pieces import read_piece
from sessions.model import ColumnPiece
from sessions.side_program import read_packet, start_program

_PROGRAM = "sessions.fold_program"
_MAX_PROCESSES = 4
_MAX_WAITING = 2
"""Pieces of one process that are kept until they are wanted; it waits meanwhile."""

_LOOK_EVERY_S = 0.1


class FoldProcesses:
    """Processes that read a session file, each every so-manieth piece of it.

    ``poll`` gives the pieces in order, as far as they are sound. Nothing that goes wrong is raised:
    the pieces end early, and whoever goes on event by event meets the trouble itself.
    """

    def __init__(
        self,
        path: Path,
        last_ordinal: int,
        *,
        first_ordinal: int = 0,
        n_processes: int | None = None,
    ) -> None:
        n = n_processes or min(os.cpu_count() or 1, _MAX_PROCESSES)
        self._n_given = 0
        self._is_over = False
        self._is_closed = Event()
        self._queues: list[Queue[bytes]] = [Queue(_MAX_WAITING) for _ in range(n)]
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads: list[Thread] = []
        try:
            for share, queue in enumerate(self._queues):
                numbers = (share, n, first_ordinal, last_ordinal)
                arguments = (str(path.absolute()), *map(str, numbers))
                process = start_program(_PROGRAM, *arguments)
                self._processes.append(process)
                thread = Thread(
                    target=self._drain, args=(process, queue), name=f"fold-{share}", daemon=True
                )
                thread.start()
                self._threads.append(thread)
        except (OSError, RuntimeError):  # no more processes, or threads, are to be had
            self.close()

    @property
    def is_over(self) -> bool:
        """Whether no piece will come any more."""
        return self._is_over

    def poll(self, timeout_s: float) -> ColumnPiece | None:
        """The next piece; None when it is not there by then, or there is none. Pieces without an
        event are passed over for as long, one at least."""
        deadline_s = monotonic() + timeout_s
        while not self._is_over:
            left_s = max(deadline_s - monotonic(), 0.0)
            try:
                packed = self._queues[self._n_given % len(self._queues)].get(timeout=left_s)
            except Empty:
                return None
            self._n_given += 1
            try:
                piece = read_piece(packed) if packed else None
            except msgspec.MsgspecError:  # something else wrote to its output
                packed = b""
            if not packed:
                self.close()
            elif piece is not None or monotonic() >= deadline_s:
                return piece
        return None

    def close(self) -> None:
        """End the processes; may be called again."""
        self._is_over = True
        self._is_closed.set()
        for process in self._processes:
            process.kill()
        for thread in self._threads:
            thread.join()
        for process in self._processes:
            process.wait()

    def _drain(self, process: "subprocess.Popen[bytes]", queue: "Queue[bytes]") -> None:
        assert process.stdout is not None
        with process.stdout as stream:
            while True:
                packed = read_packet(stream)
                self._put(queue, packed)
                if not packed or self._is_closed.is_set():
                    return

    def _put(self, queue: "Queue[bytes]", packed: bytes) -> None:
        while not self._is_closed.is_set():
            with contextlib.suppress(Full):
                queue.put(packed, timeout=_LOOK_EVERY_S)
                return
