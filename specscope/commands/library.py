"""``specscope list``, ``show`` and ``session``: the library of recorded sessions."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sessions.findings import find
from sessions.library import Library, LibraryEntry
from sessions.outputs import sequence_outputs
from sessions.recovery import recover
from sessions.run_facts import run_facts
from sessions.what_if import gamma_what_if
from specscope.opened import session_errors, stored_snapshot
from specscope.report import figures_table, number, what_if_table
from specscope.run_result import show_result

_SHOWN_SEQUENCES = 5


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
    table = Table()
    for heading in ("session", "target", "draft", "tokens", "tokens/s", "acceptance", "ended"):
        is_number = heading in ("tokens", "tokens/s", "acceptance")
        table.add_column(heading, justify="right" if is_number else "left", overflow="fold")
    for entry in entries:
        table.add_row(*_entry_cells(entry))
    console.print(table)
    console.print(Text(f"in {library.folder}", style="dim"), soft_wrap=True)


def _entry_cells(entry: LibraryEntry) -> list[str]:
    summary = entry.summary
    if summary is None:
        return [entry.path.stem, entry.problem, "", "", "", "", "broken"]
    figures = summary.figures or {}
    title = summary.name or entry.path.stem
    tags = "".join(f" #{tag}" for tag in summary.tags)
    return [
        f"{title}{tags}",
        summary.counts.target,
        summary.counts.draft or "-",
        str(summary.counts.n_output_tokens),
        number(figures.get("tokens_per_second"), 1),
        number(figures.get("acceptance_rate"), 3),
        "recording" if summary.is_recording else str(summary.end_reason),
    ]


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
    if len(outputs) > _SHOWN_SEQUENCES:
        console.print(f"... and {len(outputs) - _SHOWN_SEQUENCES} more sequences")
    console.rule("figures", align="left", style="dim")
    console.print(figures_table(snapshot))
    if (what_if := gamma_what_if(snapshot)) is not None:
        console.print(what_if_table(what_if))
    for finding in find(snapshot):
        console.print(f"- {finding.sentence}")


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
