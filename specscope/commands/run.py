"""``specscope run``: decode prompts and print the text and its figures."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import click
import msgspec
from rich.console import Console

from engine.wire.codec import encode
from engine.wire.events import Event, LogEmitted, ModelLoaded, Role, SessionStarted
from specscope.engine_options import engine_options, make_config
from specscope.figures import RunFigures
from specscope.headless import EXIT_BAD_INPUT, EXIT_INTERRUPTED, RunFailed, run_session
from specscope.prompts import Prompt, read_prompts
from specscope.report import TextReport, figures_table


@click.command()
@click.argument("prompt", required=False)
@click.option(
    "--prompt-file",
    type=click.Path(path_type=Path),
    help='One prompt a line, or JSON lines with "prompt".',
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@click.option(
    "--events",
    "events_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write every event to this file, one JSON object a line.",
)
@engine_options
def run(
    prompt: str | None,
    prompt_file: Path | None,
    as_json: bool,
    events_path: Path | None,
    **options: Any,
) -> None:
    """Decode PROMPT speculatively and print the text as it comes, then the figures.

    Tokens are told apart by where they came from: accepted from the draft, recovered after a
    rejection, bonus after a whole accepted draft.
    """
    prompts = _gather(prompt, prompt_file)
    config = make_config(**options)
    notes = Console(stderr=True, quiet=as_json)
    output = Console(highlight=False, quiet=as_json)
    figures = RunFigures()
    facts = _Facts()
    report = TextReport(
        output,
        notes,
        is_live=config.batch == 1,
        has_origins=config.draft != "none" and config.gamma != 0,
    )
    events_file = _open(events_path)
    was_interrupted = False
    try:
        with report:

            def consume(events: Sequence[Event]) -> None:
                figures.consume(events)
                for event in events:
                    facts.note(event)
                    if events_file is not None:
                        events_file.write(encode(event) + b"\n")
                    report.show(event)

            try:
                run_session(config, prompts, consume=consume)
            except KeyboardInterrupt:
                was_interrupted = True
    except RunFailed as failure:
        click.echo(f"Error: {failure}", err=True)
        sys.exit(failure.exit_code)
    finally:
        if events_file is not None:
            events_file.close()
    if as_json:
        click.echo(json.dumps(_as_json(figures, facts), allow_nan=False))
    elif figures.total.n_steps:
        output.print()
        if config.draft != "none":
            output.print(report.legend(), style="dim")
        output.print(figures_table(figures))
    if facts.refusals:
        for refusal in facts.refusals:
            click.echo(f"Error: {refusal}", err=True)
        sys.exit(EXIT_BAD_INPUT)
    if was_interrupted:
        sys.exit(EXIT_INTERRUPTED)


class _Facts:
    """What the engine said about itself."""

    def __init__(self) -> None:
        self.settings: dict[str, Any] = {}
        self.refusals: list[str] = []

    def note(self, event: Event) -> None:
        match event:
            case SessionStarted():
                self.settings |= json.loads(event.config_json)
                self.settings["torch_version"] = event.torch_version
                self.settings["device_name"] = event.device_name
            case ModelLoaded():
                role = "target" if event.role is Role.TARGET else "draft"
                loaded = msgspec.to_builtins(event)
                self.settings[f"{role}_model"] = {
                    name: loaded[name]
                    for name in (
                        "name", "n_parameters", "vocab_size", "context_length", "dtype", "device",
                        "weight_bytes", "notes",
                    )
                }  # fmt: skip
            case LogEmitted(level="error"):
                self.refusals.append(event.message)


def _as_json(figures: RunFigures, facts: _Facts) -> dict[str, Any]:
    sequences = [sequence.as_dict() for sequence in figures.sequences.values()]
    result = figures.as_dict()
    if len(sequences) == 1:
        result = {**sequences[0], **result}
    else:
        result["sequences"] = sequences
    return {**result, "settings": facts.settings}


def _gather(prompt: str | None, prompt_file: Path | None) -> list[Prompt]:
    if prompt is not None and prompt_file is not None:
        raise click.UsageError("Give a PROMPT or --prompt-file, not both.")
    if prompt_file is not None:
        return read_prompts(prompt_file)
    if prompt is None:
        if sys.stdin.isatty():
            raise click.UsageError(
                'Give a PROMPT, as in: specscope run "def quicksort(items):", or --prompt-file.'
            )
        prompt = sys.stdin.read()
    if not prompt.strip():
        raise click.UsageError("The prompt is empty: write the text to continue.")
    return [Prompt(prompt)]


def _open(path: Path | None) -> BinaryIO | None:
    if path is None:
        return None
    try:
        return path.open("wb")
    except OSError as error:
        raise click.BadParameter(f"{path} cannot be written: {error.strerror}.") from error
