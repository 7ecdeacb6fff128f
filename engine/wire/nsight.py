"""Command lines of Nsight Systems and Nsight Compute for the engine: built here, as text, for
whoever starts an engine or shows a line to copy."""

import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

DOMAIN = "specscope"
"""The NVTX domain of every range."""

CAPTURE = "capture"
"""The start/end range around all of a session's decoding, loading left out."""

PHASES = ("step", "draft", "draft_forward", "verify", "sample", "commit", "prefill")
"""The push/pop ranges."""

REPORT_SUFFIX = ".nsys-rep"
N_LAUNCHES = 20
"""Kernels that Nsight Compute looks at unless told otherwise: each is replayed dozens of times."""

NSYS_MISSING = (
    "nsys is not on PATH: install Nsight Systems (developer.nvidia.com/nsight-systems, or "
    "the package nsight-systems-cli of NVIDIA's repository for your system) and try again."
)

_HELP_S = 60.0


class NsightMissing(RuntimeError):
    """The program is not there; the message is a sentence about how to get it."""


@dataclass(frozen=True)
class NsysProgram:
    """``nsys`` as it was found. ``can_discard_environment``: its reports can be kept free of the
    environment, which older releases write into every report, secrets included."""

    path: str
    can_discard_environment: bool = False


def find_nsys() -> NsysProgram:
    """The ``nsys`` on PATH.

    Raises:
        NsightMissing: there is none, or it does not run.
    """
    path = shutil.which("nsys")
    if path is None:
        raise NsightMissing(NSYS_MISSING)
    try:
        done = subprocess.run(
            [path, "profile", "--help"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_HELP_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NsightMissing(f"{path} does not run: {error}. Reinstall Nsight Systems.") from error
    return NsysProgram(path, "--discard-environment" in done.stdout)


def nsys_wrapper(report: Path, nsys: NsysProgram) -> list[str]:
    """What to put before an engine's command line, so that its decoding is captured in ``report``.

    CUDA and NVTX are traced, every node of a CUDA graph by itself; the processor is not sampled.
    Capturing begins with the range ``CAPTURE`` and ends with it, and the engine goes on.
    """
    options = [
        "--trace=cuda,nvtx",
        "--sample=none",
        "--cpuctxsw=none",
        "--cuda-graph-trace=node",
        "--capture-range=nvtx",
        f"--nvtx-capture={CAPTURE}@{DOMAIN}",
        "--capture-range-end=stop",
        "--wait=primary",
        f"--output={report.with_suffix('')}",  # nsys adds the suffix
    ]
    if nsys.can_discard_environment:
        options.append("--discard-environment=true")
    return [nsys.path, "profile", *options]


def ncu_command(
    phase: str, program: Sequence[str], *, report: str = "", n_launches: int = N_LAUNCHES
) -> list[str]:
    """The command line under which Nsight Compute looks at the first kernels of one phase.

    The slash makes the name that of a push/pop range; the engine is a child of ``program``.

    Args:
        phase: one of ``PHASES``, else ValueError.
        program: the command line to run, as typed.
        report: its name without suffix; "" for one named after the phase.
    """
    if phase not in PHASES:
        raise ValueError(f"{phase!r} is no phase: give one of {', '.join(PHASES)}.")
    return [
        "ncu",
        "--target-processes=all",
        "--nvtx",
        "--nvtx-include",
        f"{DOMAIN}@{phase}/",
        "--graph-profiling=node",
        f"--launch-count={n_launches}",
        "--set=full",
        "--export",
        report or f"specscope-{phase}",
        *program,
    ]


def as_typed(command: Sequence[str]) -> str:
    """A command line for a POSIX shell, quoted where it must be."""
    return shlex.join(command)
