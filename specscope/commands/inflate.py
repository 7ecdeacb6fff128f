"""``specscope models inflate``: a model of a large shape that writes what a bundled one writes."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from engine.theory.presets import PRESETS
from engine.wire.catalog import INFLATED_NOTE, added_folder
from engine.wire.program import engine_command
from specscope.commands.models import user_data_folder
from specscope.told_program import run_told

DRAFT_BELOW = 2_000_000_000
"""Parameters below which a shape is taken to be a draft's."""

_BYTES_PER_PARAMETER = 2  # bfloat16


class CannotInflate(click.ClickException):
    """A sentence; nothing was written."""

    exit_code = 2


@click.command()
@click.option(
    "--shape",
    "shape_name",
    type=click.Choice(sorted(PRESETS)),
    required=True,
    help="The model whose layers, widths, heads and vocabulary to take.",
)
@click.option(
    "--from",
    "source",
    default=None,
    help="The small model whose text it writes. [default: bundled-draft below 2 B parameters, else "
    "bundled-target]",
)
@click.argument("out", required=False, type=click.Path(path_type=Path))
def inflate(shape_name: str, source: str | None, out: Path | None) -> None:
    """Build a model of a large shape, for timing only, in the new folder OUT.

    It moves the bytes and does the arithmetic of its shape, and writes exactly what the small model
    writes: accept rates are the small pair's, times the large one's. Without OUT it goes into the
    data folder and can be named inflated-SHAPE.
    """
    shape = PRESETS[shape_name].shape
    if source is None:
        source = "bundled-draft" if shape.n_parameters < DRAFT_BELOW else "bundled-target"
    name = f"inflated-{shape_name}"
    folder = out or added_folder(user_data_folder(), name)
    if folder.exists():
        raise CannotInflate(f"{folder} exists: name another folder, or remove it first.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    needed, free = shape.n_parameters * _BYTES_PER_PARAMETER, shutil.disk_usage(folder.parent).free
    if free < needed:
        raise CannotInflate(
            f"{folder.parent} has {free / 1e9:.1f} GB free and {needed / 1e9:.1f} GB are needed: "
            "name a folder on another disk."
        )
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with (
        Progress(*columns, console=Console(stderr=True), transient=True) as progress,
        # Beside its destination, so that the last step is a rename.
        tempfile.TemporaryDirectory(prefix=".inflating-", dir=folder.parent) as work,
    ):
        task = progress.add_task(f"{source} in the shape of {shape_name}", total=needed)
        made = Path(work) / name
        run_inflate(
            source,
            shape_name,
            made,
            report=lambda done, of: progress.update(task, completed=done, total=of),
        )
        made.rename(folder)
    named = name if out is None else folder
    click.echo(
        f"{folder}: {source} in the shape of {shape_name}, {INFLATED_NOTE}. "
        f"specscope run --target {named} ..."
    )


def run_inflate(
    source: str, shape_name: str, folder: Path, *, report: Callable[[int, int], None]
) -> None:
    """Build ``folder`` in a process of its own; ``report`` is told how many bytes of how many are
    written.

    Raises:
        CannotInflate: it did not become a model.
    """
    command = engine_command("engine.models.inflate", source, shape_name, str(folder))

    def hear(message: dict[str, Any]) -> bool:
        if "done" not in message:
            return False
        report(int(message["done"]), int(message["of"]))
        return True

    told = run_told(command, hear)
    if "folder" not in told.result:
        reason = told.result.get("error") or f"the program stopped: {told.last_words}"
        raise CannotInflate(f"{source} could not be inflated: {reason}")
