"""``specscope export``: a stored session as a file for other programs."""

import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from engine.wire.events import Event, EventBase
from sessions.export import EXPORTERS, Exporter
from sessions.export.jsonl import read_jsonl
from sessions.export.options import ExportError, ExportOptions, parse_part
from sessions.export.progress import ExportCancelled
from sessions.export.trace_size import TraceCounts
from sessions.library import Library
from sessions.replay import StoredSource
from sessions.session_errors import SessionFileError
from specscope.opened import collector_at_rest

EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130

_POLL_LIMIT = 1000

_FORMATS = "\n".join(
    ["\b", *(f"{name:13}{exporter.description}" for name, exporter in EXPORTERS.items())]
)


@click.command(epilog=f"Formats:\n\n{_FORMATS}")
@click.argument("file")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--as", "name", type=click.Choice(list(EXPORTERS)), required=True, help="Which format."
)
@click.option(
    "--range",
    "part",
    metavar="RANGE",
    help="Only steps:10-20, both included, or only time:1.5-2.0, in seconds.",
)
@click.option("--per-step", is_flag=True, help="Timelines only: leave out single tokens, kernels.")
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
@click.option(
    "--estimate", is_flag=True, help="chrome-trace only: say how large OUT would be, write nothing."
)
def export(
    file: str,
    out: Path,
    name: str,
    part: str | None,
    per_step: bool,
    force: bool,
    estimate: bool,
) -> None:
    """Write the session in FILE to OUT, in another program's format.

    FILE is a stored session, by path or by name as `specscope list` shows it, or a stream of events
    (.jsonl) as `specscope run --events` writes it. OUT appears when it is whole; interrupted,
    nothing is left of it.
    """
    exporter = EXPORTERS[name]
    try:
        options = ExportOptions(parse_part(part) if part else None, per_step)
        source = found_file(file)
        _check(name, exporter, source, out, options, force=force, estimate=estimate)
        with opened_events(source, without=() if estimate else exporter.ignores) as events:
            if estimate:
                click.echo(_estimated(events, options, is_gzipped=out.suffix == ".gz"))
                return
            with _progress() as on_progress, collector_at_rest():
                exporter.write(events, out, options=options, on_progress=on_progress)
    except (ExportError, SessionFileError) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(EXIT_BAD_INPUT)
    except (KeyboardInterrupt, ExportCancelled):
        click.echo("Interrupted: nothing was written.", err=True)
        sys.exit(EXIT_INTERRUPTED)
    click.echo(f"{out} has {out.stat().st_size:,} bytes.", err=True)


def found_file(text: str) -> Path:
    """The stream or the session file a person means.

    Raises:
        ExportError: there is no such stream.
        SessionFileError: there is no such session, or more than one.
    """
    path = Path(text).expanduser()
    if path.suffix != ".jsonl":
        return Library().find(text)
    if not path.is_file():
        raise ExportError(f"{path} is no file: name a stored session or a .jsonl stream.")
    return path


@contextmanager
def opened_events(
    file: Path, *, without: Collection[type[EventBase]] = ()
) -> Iterator[Iterable[Event]]:
    """The events of a stored session, those of some kinds not read, or of a ``.jsonl`` stream.

    Raises:
        ExportError: the stream cannot be read.
        SessionFileError: the session cannot be read.
    """
    if file.suffix == ".jsonl":
        yield read_jsonl(file)
        return
    with closing(StoredSource(Library().open(file), without=without)) as source:
        yield _polled(source)


def _polled(source: StoredSource) -> Iterator[Event]:
    while not source.exhausted:
        yield from source.poll(_POLL_LIMIT)


def _check(
    name: str,
    exporter: Exporter,
    file: Path,
    out: Path,
    options: ExportOptions,
    *,
    force: bool,
    estimate: bool,
) -> None:
    if estimate and name != "chrome-trace":
        raise ExportError(f"--estimate is for chrome-trace: the size of {name} is not foretold.")
    if options.per_step and not exporter.is_timeline:
        raise ExportError(f"--per-step is for timelines: {name} has no single ranges to leave out.")
    if out.exists():
        if file.samefile(out):
            raise ExportError(f"{out} is the session itself: name another file.")
        if not (force or estimate):
            raise ExportError(f"{out} exists already: use --force to replace it.")


def _estimated(events: Iterable[Event], options: ExportOptions, *, is_gzipped: bool) -> str:
    counts = TraceCounts.of(events, options.part)
    size = counts.trace_bytes(per_step=options.per_step, is_gzipped=is_gzipped)
    return f"About {max(size, 1000) / 1e6:,.3f} MB."


@contextmanager
def _progress() -> Iterator[Callable[[int], None]]:
    console = Console(stderr=True)
    columns = (TextColumn("{task.completed:,.0f} events"), BarColumn(20), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("export", total=None)

        def advance(n_events: int) -> None:
            progress.update(task, completed=n_events)

        yield advance
