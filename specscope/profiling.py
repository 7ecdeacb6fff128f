"""A run under Nsight Systems, and the line that takes it to Nsight Compute."""

from collections.abc import Sequence
from pathlib import Path

import click

from engine.wire.config import RunConfig
from engine.wire.nsight import (
    REPORT_SUFFIX,
    NsightMissing,
    as_typed,
    find_nsys,
    ncu_command,
    nsys_wrapper,
)

NCU_OPTION = "--ncu-command"
_ARGUMENTS = "specscope.arguments"


class CannotProfile(click.ClickException):
    """A sentence; nothing was run."""

    exit_code = 2


class KeepsArguments(click.Command):
    """A command that knows its arguments as they were typed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_ARGUMENTS] = tuple(args)
        return super().parse_args(ctx, args)


def nsys_report(path: Path) -> Path:
    """Where the report will be: ``path`` with its suffix, absolute.

    Raises:
        CannotProfile: there is something of that name, or no folder to write it to.
    """
    report = path if path.suffix == REPORT_SUFFIX else path.with_name(path.name + REPORT_SUFFIX)
    report = report.absolute()
    if report.exists():
        raise CannotProfile(f"{report} exists: name another report, or remove it first.")
    if not report.parent.is_dir():
        raise CannotProfile(f"{report.parent} is no folder: make it first.")
    return report


def wrapper_for(report: Path, configs: Sequence[RunConfig]) -> list[str]:
    """What to start the engine under.

    Raises:
        CannotProfile: nsys is missing, or the run cannot be captured as it is asked for.
    """
    if len(configs) > 1:
        raise CannotProfile("--nsys captures one session: give one --draft.")
    if configs[0].kernels_every:
        raise CannotProfile(
            "--nsys and --kernels-every both need CUPTI, which serves one at a time: give one."
        )
    try:
        return nsys_wrapper(report, find_nsys())
    except NsightMissing as missing:
        raise CannotProfile(str(missing)) from missing


def check_report(report: Path) -> str:
    """A sentence about a report that was not written; "" where it is there."""
    if report.exists():
        return ""
    return (
        f"Nsight Systems wrote no report to {report}: try `nsys status --environment`, which says "
        "what it may trace here."
    )


def ncu_line(phase: str, context: click.Context) -> str:
    """The line to copy: this very command, looked at by Nsight Compute in one phase."""
    typed = list(context.meta[_ARGUMENTS])
    arguments: list[str] = []
    while typed:
        word = typed.pop(0)
        if word == NCU_OPTION:
            typed.pop(0)
        elif not word.startswith(f"{NCU_OPTION}="):
            arguments.append(word)
    return as_typed(ncu_command(phase, ["specscope", "run", *arguments]))
