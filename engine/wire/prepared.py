"""An engine's process that has imported what takes long, and waits to be told what to run."""

import contextlib
import subprocess
from collections.abc import Sequence

from engine.wire.program import engine_command, engine_environment

PREPARE = "--prepare"
"""The argument by which the engine's program imports first and reads its greeting then."""


def open_engine(command: Sequence[str], *, has_input: bool = True) -> "subprocess.Popen[bytes]":
    """Start the engine's process. Raises OSError."""
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE if has_input else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=engine_environment(),
    )


class PreparedEngine:
    """For one run: whoever starts it takes the process, else ``close`` ends it. One thread's."""

    def __init__(self, program: str = "engine.worker") -> None:
        """Raises OSError."""
        self._process: subprocess.Popen[bytes] | None = open_engine(
            engine_command(program, PREPARE)
        )

    @property
    def is_ready(self) -> bool:
        """Whether there is a process to take."""
        return self._process is not None and self._process.poll() is None

    def take(self) -> "subprocess.Popen[bytes] | None":
        """The process, its greeting not yet said; None if it has ended or was taken before."""
        process, self._process = self._process, None
        if process is None or process.poll() is None:
            return process
        _end(process)
        return None

    def close(self) -> None:
        """End the process, unless it was taken; may be called again."""
        process, self._process = self._process, None
        if process is not None:
            _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """It holds nothing yet that it would have to put away."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
