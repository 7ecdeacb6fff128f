"""How a program of the engine is started: a process of its own, whatever folder one stands in."""

import os
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


def engine_command(program: str, *arguments: str, python: str = sys.executable) -> list[str]:
    """The command line of ``python -m program``. The folder one stands in is not looked into, so
    that an ``engine`` folder there is not taken for ours."""
    return [python, "-P", "-m", program, *arguments]


def engine_environment() -> dict[str, str]:
    """This environment, so that a profiler watching this process sees the engine too, with our
    packages to be found."""
    python_path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH", "")]))
    # Kineto writes a line to standard error whenever a trace begins or ends.
    quiet = {"KINETO_LOG_LEVEL": "6"} if "KINETO_LOG_LEVEL" not in os.environ else {}
    return {**os.environ, **quiet, "PYTHONPATH": python_path}
