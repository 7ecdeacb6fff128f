"""``specscope run``: decode prompts and print the text and its figures."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace
from rich.console import Console

from engine.wire.config import RunConfig
from engine.wire.nsight import PHASES
from sessions.comparability import comparison_notes
from sessions.compare import compare
from sessions.library import Library
from sessions.session_errors import SessionFileError
from sessions.speed_reasons import speed_reasons
from specscope.compare_report import print_comparison
from specscope.engine_options import drafts_option, engine_options, make_config
from specscope.headless import EXIT_BAD_INPUT, EXIT_INTERRUPTED, RunFailed, run_sessions
from specscope.profiling import (
    NCU_OPTION,
    KeepsArguments,
    check_report,
    ncu_line,
    nsys_report,
    wrapper_for,
)
from specscope.prompts import Prompt, read_prompts
from specscope.readers import RunReaders
from specscope.report import TextReport, figures_table
from specscope.run_result import comparison_result, run_result


@click.command(cls=KeepsArguments)
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
@click.option("--record", is_flag=True, help="Keep the session in the library: `specscope list`.")
@click.option("--name", default="", help="The recorded session's name: with --record.")
@click.option(
    "--nsys",
    "nsys_path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="OUT.nsys-rep",
    help="Run the engine under Nsight Systems and keep its report of the decoding.",
)
@click.option(
    NCU_OPTION,
    "ncu_phase",
    type=click.Choice(PHASES),
    help="Run nothing: print the line that takes this run to Nsight Compute, in one phase.",
)
@drafts_option
@engine_options
def run(
    prompt: str | None,
    prompt_file: Path | None,
    as_json: bool,
    events_path: Path | None,
    record: bool,
    name: str,
    nsys_path: Path | None,
    ncu_phase: str | None,
    drafts: tuple[str, ...],
    **options: Any,
) -> None:
    """Decode PROMPT speculatively and print the text as it comes, then the figures.

    Tokens are told apart by where they came from: accepted from the draft, recovered after a
    rejection, bonus after a whole accepted draft.

    Several --draft decode the same prompts one after the other, the target loaded once, and are
    compared; --draft none is the baseline.
    """
    if ncu_phase is not None:
        click.echo(ncu_line(ncu_phase, click.get_current_context()))
        return
    if name and not record:
        raise click.UsageError("--name is for a recorded session: add --record.")
    prompts = _gather(prompt, prompt_file)
    configs = [make_config(draft=draft, **options) for draft in drafts or (None,)]
    wrapper: list[str] = []
    if nsys_path is not None:
        nsys_path = nsys_report(nsys_path)
        wrapper = wrapper_for(nsys_path, configs)
        configs = [replace(configs[0], nsys_report=str(nsys_path))]
    if events_path is not None and len(configs) > 1:
        raise click.UsageError("--events takes one stream: give one --draft, or --record.")
    is_single = len(configs) == 1
    notes = Console(stderr=True, quiet=as_json)
    output = Console(highlight=False, quiet=as_json)
    report = TextReport(
        output if is_single else Console(quiet=True),
        notes,
        is_live=configs[0].batch == 1,
        has_origins=not _is_plain(configs[0]),
    )
    runs: list[RunReaders] = []
    was_interrupted = False
    try:
        with report:
            for config in configs:
                runs.append(
                    RunReaders(
                        show=report.show,
                        warn=notes.print,
                        events_path=events_path,
                        session_path=_session_path(config) if record else None,
                    )
                )
            try:
                run_sessions(
                    configs, prompts, consumers=[each.consume for each in runs], wrapper=wrapper
                )
            except KeyboardInterrupt:
                was_interrupted = True
    except (RunFailed, SessionFileError) as failure:
        _tell_problems([*_refusals(runs), str(failure)])
        sys.exit(failure.exit_code if isinstance(failure, RunFailed) else EXIT_BAD_INPUT)
    finally:
        problems = [problem for each in runs for problem in each.close(name=name)]
    if as_json:
        click.echo(json.dumps(_result(configs, runs), allow_nan=False))
    elif is_single:
        _print_figures(configs[0], runs[0], report, output)
    elif not was_interrupted:
        named = _named(configs, runs)
        print_comparison(
            compare(named), output, reasons=speed_reasons(named), notes=comparison_notes(named)
        )
    _tell_where(runs, notes)
    if nsys_path is not None:
        problem = check_report(nsys_path)
        problems += [problem] if problem else []
        if not problem:
            notes.print(f"nsys report in {nsys_path}", markup=False, highlight=False)
    _finish([*problems, *_refusals(runs)], was_interrupted)


def _result(configs: Sequence[RunConfig], runs: Sequence[RunReaders]) -> dict[str, Any]:
    if len(runs) == 1:
        return run_result(runs[0].snapshot())
    named = _named(configs, runs)
    result = comparison_result(
        compare(named), comparison_notes(named), reasons=speed_reasons(named)
    )
    result["runs"] = {name: run_result(snapshot) for name, snapshot in named}
    return result


def _named(configs: Sequence[RunConfig], runs: Sequence[RunReaders]) -> list[tuple[str, Any]]:
    named: list[tuple[str, Any]] = []
    for config, each in zip(configs, runs, strict=True):
        n_before = sum(name.split(" #")[0] == config.draft for name, _ in named)
        name = f"{config.draft} #{n_before + 1}" if n_before else config.draft
        if each.has_events:
            named.append((name, each.snapshot()))
    return named


def _is_plain(config: RunConfig) -> bool:
    return config.draft == "none" or config.gamma == 0


def _session_path(config: RunConfig) -> Path:
    return Library().new_path(config.target, "" if _is_plain(config) else config.draft)


def _print_figures(
    config: RunConfig, readers: RunReaders, report: TextReport, output: Console
) -> None:
    snapshot = readers.snapshot()
    if len(snapshot.steps):
        output.print()
        if not _is_plain(config):
            output.print(report.legend(), style="dim")
        output.print(figures_table(snapshot))


def _tell_where(runs: Sequence[RunReaders], notes: Console) -> None:
    for each in runs:
        if each.session_path is not None and each.session_path.exists():
            notes.print(
                f"recorded in {each.session_path}", markup=False, highlight=False, soft_wrap=True
            )


def _refusals(runs: Sequence[RunReaders]) -> list[str]:
    """Each once: what one draft's run refuses, the others' mostly refuse too."""
    return list(dict.fromkeys(refusal for each in runs for refusal in each.refusals))


def _tell_problems(problems: Sequence[str]) -> None:
    for problem in problems:
        click.echo(f"Error: {problem}", err=True)


def _finish(problems: list[str], was_interrupted: bool) -> None:
    _tell_problems(problems)
    if problems:
        sys.exit(EXIT_BAD_INPUT)
    if was_interrupted:
        sys.exit(EXIT_INTERRUPTED)


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
