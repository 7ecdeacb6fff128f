"""``specscope list``, ``show`` and ``session``: the library of recorded sessions."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from engine.wire.config import DRAFTERS_WITHOUT_MODEL
from sessions.findings import find
from sessions.library import Library, LibraryEntry
from sessions.metrics.doubt import calibration_doubt
from sessions.missing_events import missing_events_note
from sessions.outputs import sequence_outputs
from sessions.recovery import recover
from sessions.run_facts import run_facts, told_settings
from sessions.what_if import gamma_what_if
from specscope.opened import session_errors, stored_snapshot
from specscope.report import ending_note, figures_table, number, what_if_table
from specscope.run_result import show_result

_SHOWN_SEQUENCES = 5
_DRAFTS_OF_NO_MODEL = (*DRAFTERS_WITHOUT_MODEL, "composite")
_COLUMNS = (
    "session", "date", "draft", "gamma", "tokens", "tokens/s", "acceptance", "ended", "target",
    "tags",
)  # fmt: skip
_NUMBERS = ("gamma", "tokens", "tokens/s", "acceptance")
_WANTED = (
    "session", "draft", "gamma", "tokens/s", "ended", "acceptance", "date", "tokens", "target",
    "tags",
)  # fmt: skip
"""The columns of the list again, first what is left out last."""


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def list_sessions(as_json: bool) -> None:
    """List the recorded sessions, newest first."""
    library = Library()
    with session_errors():
        entries = library.entries()
    if as_json:
        click.echo(json.dumps({"sessions": [_entry_json(entry) for entry in entries]}))
        return
    console = Console(highlight=False)
    if not entries:
        console.print(f"No sessions in {library.folder}: record one with `specscope run --record`.")
        return
    _print_rows(console, [_entry_cells(entry) for entry in entries])
    for entry in entries:
        if entry.problem:
            problem = f"{entry.path.stem}: {entry.problem}"
            console.print(Text(problem, style="yellow"), soft_wrap=True)
    console.print(Text(f"in {library.folder}", style="dim"), soft_wrap=True)


def _print_rows(console: Console, rows: list[dict[str, str]]) -> None:
    """One line each, the name whole; columns there is no room for are left out."""
    widths = {
        column: max(cell_len(text) for text in (column, *(row[column] for row in rows)))
        for column in _COLUMNS
        if any(row[column] for row in rows)
    }
    gap, shown = 2, _fitting(widths, 2, console.width)
    if len(shown) < len(widths):
        gap, shown = 1, _fitting(widths, 1, console.width)
    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold")
    for column in shown:
        justify: JustifyMethod = "right" if column in _NUMBERS else "left"
        table.add_column(column, justify=justify, no_wrap=True, min_width=widths[column])
    for row in rows:
        table.add_row(*(Text(row[column]) for column in shown))
    # A terminal too narrow for the name alone wraps the line itself: copied, it is one line.
    needed = sum(widths[column] + gap for column in shown)
    console.print(table, width=max(console.width, needed), crop=False, soft_wrap=True)


def _fitting(widths: dict[str, int], gap: int, width: int) -> list[str]:
    """The columns that fit, the most wanted first to be placed, in the order of ``_COLUMNS``."""
    left = width + gap
    fitting: list[str] = []
    for column in filter(widths.get, _WANTED):
        if not fitting or widths[column] + gap <= left:
            fitting.append(column)
            left -= widths[column] + gap
    return [column for column in _COLUMNS if column in fitting]


def _entry_cells(entry: LibraryEntry) -> dict[str, str]:
    summary = entry.summary
    cells = dict.fromkeys(_COLUMNS, "") | {"date": _short_date(entry.started_unix_ns)}
    if summary is None:
        return cells | {"session": entry.path.stem, "ended": "broken"}
    figures = summary.figures or {}
    settings = told_settings(summary.config_json)
    draft = str(settings.get("draft", ""))
    if draft not in _DRAFTS_OF_NO_MODEL:
        draft = summary.counts.draft or draft or "-"
    return cells | {
        "session": " ".join((summary.name or entry.path.stem).splitlines()),
        "draft": _short_model(draft),
        "gamma": summary.gamma or "-",
        "tokens": str(summary.counts.n_output_tokens),
        "tokens/s": number(figures.get("tokens_per_second"), 1),
        "acceptance": number(figures.get("acceptance_rate"), 3),
        "ended": "recording" if summary.is_recording else str(summary.end_reason),
        "target": _short_model(summary.counts.target),
        "tags": " ".join(f"#{tag}" for tag in summary.tags),
    }


def _short_model(name: str) -> str:
    """The last part of a path or hub id."""
    return name.rstrip("/\\").replace("\\", "/").rpartition("/")[2]


def _short_date(unix_ns: int) -> str:
    """The minute, or the day where it was another year."""
    moment = datetime.fromtimestamp(unix_ns / 1e9)
    return f"{moment:%m-%d %H:%M}" if moment.year == datetime.now().year else f"{moment:%Y-%m-%d}"


def _entry_json(entry: LibraryEntry) -> dict[str, Any]:
    summary = entry.summary
    return {
        "path": str(entry.path),
        "problem": entry.problem,
        "summary": None if summary is None else msgspec.to_builtins(summary, enc_hook=str),
    }


@click.command()
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def show(file: str, as_json: bool) -> None:
    """Show the session FILE: its settings, outputs, figures and findings."""
    snapshot = stored_snapshot(file)
    if as_json:
        click.echo(json.dumps(show_result(snapshot), allow_nan=False))
        return
    console = Console(highlight=False)
    facts = run_facts(snapshot)
    for role, model in (("target", facts.target), ("draft", facts.draft)):
        if model is not None:
            console.print(f"{role:7}{model.name}, {model.dtype} on {model.device}")
    if facts.draft is None:
        console.print(f"draft  {facts.drafter}")
    console.print(f"gamma  {facts.gamma}, temperature {facts.settings.get('temperature', '-')}")
    outputs = sequence_outputs(snapshot)
    for output in outputs[:_SHOWN_SEQUENCES]:
        console.rule(
            f"sequence {output.sequence_id}, {len(output.token_ids)} tokens, "
            f"{output.finish_reason or 'unfinished'}",
            align="left",
            style="dim",
        )
        console.print(Text.assemble((output.prompt, "dim"), output.text), soft_wrap=True)
        ending = ending_note(
            output.finish_reason or "",
            output.finish_detail,
            context_length=facts.target.context_length if facts.target else None,
        )
        if ending:
            console.print(Text(ending, style="dim"), soft_wrap=True)
    if len(outputs) > _SHOWN_SEQUENCES:
        console.print(f"... and {len(outputs) - _SHOWN_SEQUENCES} more sequences")
    console.rule("figures", align="left", style="dim")
    console.print(figures_table(snapshot))
    if note := missing_events_note(snapshot):
        console.print(Text(note, style="yellow"))
    if (what_if := gamma_what_if(snapshot)) is not None:
        is_doubtful = calibration_doubt(snapshot) is not None
        console.print(what_if_table(what_if, is_doubtful=is_doubtful))
    for finding in find(snapshot):
        console.print(f"- {finding.words}")


@click.group()
def session() -> None:
    """Rename, tag, annotate, import, recover or delete a recorded session."""


@session.command()
@click.argument("file")
@click.argument("name")
def rename(file: str, name: str) -> None:
    """Give the session FILE another NAME."""
    with session_errors():
        library = Library()
        library.rename(library.find(file), name)


@session.command()
@click.argument("file")
@click.argument("tags", nargs=-1)
def tag(file: str, tags: tuple[str, ...]) -> None:
    """Replace the tags of the session FILE by TAGS; none removes them."""
    with session_errors():
        library = Library()
        library.set_tags(library.find(file), tags)


@session.command()
@click.argument("file")
@click.argument("text")
def note(file: str, text: str) -> None:
    """Replace the notes of the session FILE by TEXT."""
    with session_errors():
        library = Library()
        library.set_notes(library.find(file), text)


@session.command("import")
@click.argument("path", type=click.Path(path_type=Path))
def import_session(path: Path) -> None:
    """Check the session file at PATH and copy what it says into the library."""
    with session_errors():
        click.echo(Library().import_file(path))


@session.command("recover")
@click.argument("path", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
def recover_session(path: Path, out: Path) -> None:
    """Copy what is readable of the damaged file PATH into the new file OUT."""
    with session_errors():
        for sentence in recover(path, out).sentences():
            click.echo(sentence)


@session.command()
@click.argument("file")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(file: str, yes: bool) -> None:
    """Delete the session FILE for good."""
    with session_errors():
        library = Library()
        path = library.find(file)
        if not yes:
            modified = datetime.fromtimestamp(path.stat().st_mtime)
            click.confirm(f"Delete {path} ({modified:%Y-%m-%d %H:%M}) for good?", abort=True)
        library.delete(path)
