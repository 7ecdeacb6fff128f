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
from specscope.headless import EXIT_BAD_INPUT, EXIT_FAILED, RunFailed
from specscope.prompts import read_prompts
from specscope.session_bench import N_DRAFT_TOKENS, N_RANGES, run_session_bench
from specscope.window_bench import FEED_S, run_window_bench

DEFAULT_PROMPTS = "code.jsonl"
SESSIONS = "sessions"
UI = "ui"
_SMALL = 50


@click.command()
@click.option(
    "--suite",
    type=click.Choice([*SUITES, SESSIONS, UI]),
    default="decoding",
    show_default=True,
    help="decoding: ours against transformers, plain and speculative. cache: paged against "
    "contiguous. events: the cost of writing every event, and of all that a run tells of itself. "
    "claims: published claims about an H100, as far as they can be measured here. goals: decoding, "
    "events and claims in one, and what a GPU is to show by them, judged. sessions: recording, "
    "opening and exporting, a session of a million draft tokens among them. ui: the window, "
    "offscreen: start, frames, a flood of steps, and what it costs beside a run.",
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
@click.option("--small", is_flag=True, help="sessions and ui: a fiftieth of the size.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@draft_option
@engine_options
def bench(
    suite: str,
    prompts_path: Path | None,
    limit: int,
    rounds: int,
    small: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Measure, in one run on the same models and prompts: transformers' plain and assisted
    generate, our plain and our speculative decoding.

    Greedy tokens are compared; speeds are compared pair by pair, prompt by prompt, and include
    prefill (those of `specscope run` and `compare` do not). Other suites measure other things.
    """
    path = prompts_path or Path(str(files("resources") / "prompts" / DEFAULT_PROMPTS))
    prompts = read_prompts(path)[:limit]
    config = make_config(**options)
    notes = Console(stderr=True, quiet=as_json)
    try:
        with notes.status("starting") as status:
            if suite == SESSIONS:
                result = run_session_bench(
                    config,
                    prompts,
                    n_rounds=rounds,
                    n_draft_tokens=N_DRAFT_TOKENS // (_SMALL if small else 1),
                    n_ranges=N_RANGES // (_SMALL if small else 1),
                    progress=status.update,
                )
            elif suite == UI:
                scale = _SMALL if small else 1
                result = run_window_bench(
                    n_draft_tokens=N_DRAFT_TOKENS // scale,
                    feed_s=FEED_S / scale,
                    n_rounds=rounds,
                    say=status.update,
                )
            else:
                settings = BenchmarkSettings(
                    suite=suite,
                    config=config,
                    prompts=tuple(prompt.text for prompt in prompts),
                    n_rounds=rounds,
                )
                result = run_benchmark(settings, progress=status.update)
    except ProgramFailed as failure:
        click.echo(f"Error: {failure}", err=True)
        sys.exit(EXIT_BAD_INPUT if failure.is_bad_input else EXIT_FAILED)
    except RunFailed as failure:
        click.echo(f"Error: {failure}", err=True)
        sys.exit(failure.exit_code)
    if as_json:
        click.echo(json.dumps(result, allow_nan=False))
    else:
        print_report(suite, result, Console(highlight=False))
    if result.get("failed"):
        sys.exit(EXIT_FAILED)
