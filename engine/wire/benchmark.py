"""What a benchmark is told, and how its program is run and its answer read."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from engine.wire.config import RunConfig
from engine.wire.program import engine_command, engine_environment

SUITES = ("decoding", "cache", "events", "claims", "goals")
PROGRAM = "engine.benchmark"
EXIT_BAD_INPUT = 2


class BenchmarkSettings(msgspec.Struct, frozen=True, kw_only=True):
    """``prompts`` are decoded one at a time, each ``n_rounds`` times in every way compared."""

    suite: str
    config: RunConfig
    prompts: tuple[str, ...] = ()
    n_rounds: int = 1


class ProgramFailed(Exception):
    """The program ended without an answer; ``is_bad_input`` when the settings were at fault."""

    def __init__(self, message: str, *, is_bad_input: bool) -> None:
        super().__init__(message)
        self.is_bad_input = is_bad_input


def run_benchmark(
    settings: BenchmarkSettings, *, progress: Callable[[str], None], python: str = sys.executable
) -> dict[str, Any]:
    """Run the benchmark in a process of its own and return its result.

    The program writes JSON lines on standard output: ``{"progress": ...}`` as it goes, then
    ``{"result": ...}`` or ``{"error": ...}``. Anything else there is some library's print.

    Raises:
        ProgramFailed: no result came; the message is the program's sentence, or its last lines.
    """
    process = subprocess.Popen(
        engine_command(PROGRAM, python=python),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=engine_environment(),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    result: dict[str, Any] | None = None
    error: str | None = None
    printed: list[str] = []
    try:
        process.stdin.write(msgspec.json.encode(settings) + b"\n")
        process.stdin.close()
        for line in process.stdout:
            message = _message(line)
            if message is None:
                printed = [*printed[-50:], line.decode(errors="replace").rstrip()]
            elif "progress" in message:
                progress(str(message["progress"]))
            else:
                result = message.get("result", result)
                error = message.get("error", error)
        code = process.wait()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()
    if result is None:
        raise ProgramFailed(
            error or f"The benchmark ended with exit code {code}.\n" + "\n".join(printed),
            is_bad_input=code == EXIT_BAD_INPUT,
        )
    return result


def _message(line: bytes) -> dict[str, Any] | None:
    try:
        message = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return None
    if isinstance(message, dict) and message.keys() & {"progress", "result", "error"}:
        return message
    return None
