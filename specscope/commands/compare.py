"""``specscope compare``: stored sessions side by side."""

import json
from pathlib import Path

import click
from rich.console import Console

from sessions.comparability import comparison_notes
from sessions.compare import compare as compare_sessions
from sessions.compare_names import column_heads, numbered
from sessions.run_facts import run_facts
from sessions.speed_reasons import speed_reasons
from specscope.compare_report import print_comparison
from specscope.opened import stored_snapshot
from specscope.run_result import comparison_result


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def compare(files: tuple[str, ...], as_json: bool) -> None:
    """Compare the sessions FILES, given as paths or by name.

    The first that drafted nothing is the baseline: prompts are paired by their text, speed-ups are
    measured against it, and outputs are held against its own. Ranking is by tokens per second; what
    makes each session slower than the fastest is said beneath the table.
    """
    if len(files) < 2:
        raise click.UsageError("Give two sessions or more: see `specscope list`.")
    names, snapshots = [Path(name).stem for name in files], list(map(stored_snapshot, files))
    heads = numbered(names) if as_json else column_heads(names, list(map(run_facts, snapshots)))
    named = list(zip(heads, snapshots, strict=True))
    columns, notes = compare_sessions(named), comparison_notes(named)
    reasons = speed_reasons(named)
    if as_json:
        click.echo(json.dumps(comparison_result(columns, notes, reasons=reasons), allow_nan=False))
        return
    which = [
        f"{head} is {file}"
        for head, name, file in zip(heads, names, files, strict=True)
        if head != name
    ]
    print_comparison(columns, Console(highlight=False), reasons=reasons, notes=[*which, *notes])
