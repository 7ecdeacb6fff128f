"""``specscope bench``: the same prompts decoded in several ways, in one run."""

import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from engine.wire.benchmark import SUITES, BenchmarkSettings, ProgramFailed, run_benchmark
from specscope.bench_report import print_report
from specscope.engine_options import draft_option, engine_options, make_config
from specscope.headless import EXIT_BAD_INPUT, EXIT_FAILED
from specscope.prompts import read_prompts

DEFAULT_PROMPTS = "code.jsonl"


@click.command()
@click.option(
    "--suite",
    type=click.Choice(SUITES),
    default="decoding",
    show_default=True,
    help="decoding: ours against transformers, plain and speculative. cache: paged against "
    "contiguous. events: the cost of writing every event.",
)
@click.option(
    "--prompts",
    "prompts_path",
    type=click.Path(path_type=Path),
    help="One prompt a line, or JSON lines. [default: held-out code]",
)
@click.option(
    "--limit", type=click.IntRange(1), default=10, show_default=True, help="Prompts used."
)
@click.option("--rounds", type=click.IntRange(1), default=1, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@draft_option
@engine_options
def bench(
    suite: str,
    prompts_path: Path | None,
    limit: int,
    rounds: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Measure, in one run on the same models and prompts: transformers' plain and assisted
    generate, our plain and our speculative decoding.

    Greedy tokens are compared; speeds are compared pair by pair, prompt by prompt.
    """
    path = prompts_path or Path(str(files("resources") / "prompts" / DEFAULT_PROMPTS))
    prompts = read_prompts(path)[:limit]
    settings = BenchmarkSettings(
        suite=suite,
        config=make_config(**options),
        prompts=tuple(prompt.text for prompt in prompts),
        n_rounds=rounds,
    )
    notes = Console(stderr=True, quiet=as_json)
    try:
        with notes.status("starting") as status:
            result = run_benchmark(settings, progress=status.update)
    except ProgramFailed as failure:
        click.echo(f"Error: {failure}", err=True)
        sys.exit(EXIT_BAD_INPUT if failure.is_bad_input else EXIT_FAILED)
    if as_json:
        click.echo(json.dumps(result, allow_nan=False))
    else:
        print_report(suite, result, Console(highlight=False))
