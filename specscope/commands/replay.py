"""``specscope replay``: a stored session, printed as it happened."""

import json
import time
from collections.abc import Iterator

import click
from rich.console import Console

from engine.wire.events import Event, SequenceStarted, SessionEnded
from sessions.missing_events import missing_events_note
from sessions.model import SessionModel
from sessions.run_facts import run_facts
from specscope.opened import stored_events
from specscope.report import TextReport, figures_table
from specscope.run_result import run_result


@click.command()
@click.argument("file")
@click.option(
    "--speed",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="Session seconds per second.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the run as one JSON object, without waiting."
)
def replay(file: str, speed: float, as_json: bool) -> None:
    """Print the session FILE as it happened: its text at the pace it came, then its figures."""
    model = SessionModel()
    if as_json:
        for event in stored_events(file):
            model.consume([event])
        click.echo(json.dumps(run_result(model.snapshot()), allow_nan=False))
        return
    output = Console(highlight=False)
    first = next(events := stored_events(file), None)
    if first is None:
        raise click.ClickException(f"{file} holds no events.")
    model.consume([first])
    facts = run_facts(model.snapshot())
    is_together = facts.settings.get("batch", 1) != 1
    report = TextReport(
        output,
        Console(stderr=True),
        is_live=not is_together,
        has_origins=not facts.is_baseline,
    )
    with report:
        for event in paced(events, speed=speed):
            model.consume([event])
            report.show(event)
            if isinstance(event, SessionEnded) and event.detail:
                click.echo(f"({event.reason}: {event.detail.splitlines()[-1]})", err=True)
    output.print()
    output.print(figures_table(model.snapshot()))
    if note := missing_events_note(model.snapshot()):
        output.print(note, style="yellow")


def paced(events: Iterator[Event], *, speed: float) -> Iterator[Event]:
    """Each event when its time has come, loading cut short: what came before the first sequence
    is not waited for."""
    start_s: float | None = None
    first_ns = 0
    for event in events:
        if isinstance(event, SequenceStarted) and start_s is None:
            start_s, first_ns = time.monotonic(), event.t_ns
        if start_s is not None:
            due_s = start_s + (event.t_ns - first_ns) / 1e9 / speed
            time.sleep(max(0.0, due_s - time.monotonic()))
        yield event
