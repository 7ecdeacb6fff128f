"""``python -m engine.benchmark``: settings as one line of JSON on standard input, JSON lines
out."""

import sys
from typing import Any

import msgspec

from engine.wire.benchmark import EXIT_BAD_INPUT, BenchmarkSettings
from engine.wire.config import ConfigError


def say(**message: Any) -> None:
    """One line on standard output, flushed."""
    sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
    sys.stdout.buffer.flush()


def progress(detail: str) -> None:
    say(progress=detail)


def main() -> int:
    settings = msgspec.json.decode(sys.stdin.buffer.readline(), type=BenchmarkSettings)
    progress("importing torch and transformers")
    from engine.benchmark import cache, claims, decoding, events, goals  # they take seconds

    suites = {
        "decoding": decoding.run,
        "cache": cache.run,
        "events": events.run,
        "claims": claims.run,
        "goals": goals.run,
    }
    try:
        result = suites[settings.suite](settings, progress=progress)
    except ConfigError as error:
        say(error=str(error))
        return EXIT_BAD_INPUT
    say(result=result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
