"""Programs of the engine that tell, in lines of JSON on standard output, how far they are."""

import json
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.wire.program import engine_environment


@dataclass(frozen=True, slots=True)
class Told:
    """How a program ended: its last object that was no progress ({} where there was none), and the
    last line it wrote to standard error."""

    result: dict[str, Any]
    last_words: str


def run_told(command: Sequence[str], on_message: Callable[[dict[str, Any]], bool]) -> Told:
    """Run ``command`` to its end. ``on_message`` takes each object and says whether it was
    progress; lines that are no JSON are whatever libraries print."""
    result: dict[str, Any] = {}
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
        subprocess.Popen(
            command, env=engine_environment(), stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if not on_message(message):
                result = message
        process.wait()
        errors.seek(0)
        last_words = (errors.read().strip().splitlines() or ["it said nothing"])[-1]
    return Told(result, last_words)
