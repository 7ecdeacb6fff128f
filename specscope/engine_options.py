"""The options that say what to decode with, shared by the commands that start an engine."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from engine.wire.config import DTYPES, WEIGHTS, ConfigError, RunConfig

Command = TypeVar("Command", bound=Callable[..., Any])


def parse_gamma(_ctx: click.Context, _param: click.Parameter, value: str) -> int | str:
    """A whole number, or "auto"."""
    try:
        return value if value == "auto" else int(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither a whole number nor auto.") from None


_DRAFT_HELP = (
    "What proposes: a model like --target, or ngram, composite, none. "
    "[default: bundled-draft with the bundled target, else ngram]"
)
draft_option = click.option("--draft", default=None, help=_DRAFT_HELP)
drafts_option = click.option(
    "--draft", "drafts", multiple=True, help=f"{_DRAFT_HELP} Repeat it to compare drafts."
)


def engine_options(command: Command) -> Command:
    """Adds the options of a RunConfig but for ``--draft``, in the order of ``--help``."""
    options = [
        click.option(
            "--target", default="bundled-target", show_default=True,
            help="The model whose text it is: a name of `specscope models`, a folder, a .gguf file "
            "or a hub id.",
        ),
        click.option(
            "--composite-draft", default=None,
            help="The model behind --draft composite. [default: bundled-draft]",
        ),
        click.option(
            "--gamma", callback=parse_gamma, default="4", show_default=True, metavar="N|auto",
            help="Tokens to draft a step; auto chooses by the acceptance seen so far.",
        ),
        click.option(
            "--max-gamma", type=int, default=8, show_default=True, help="The most auto chooses."
        ),
        click.option("--max-new-tokens", type=int, default=128, show_default=True),
        click.option(
            "--temperature", type=float, default=0.0, show_default=True, help="0 is greedy."
        ),
        click.option("--top-k", type=int, default=0, show_default=True, help="0 is off."),
        click.option("--top-p", type=float, default=1.0, show_default=True, help="1 is off."),
        click.option("--seed", type=int, default=0, show_default=True),
        click.option("--stop", "stop_strings", multiple=True, help="End at this text; repeatable."),
        click.option("--ignore-eos", is_flag=True, help="Go on behind an end-of-text token."),
        click.option(
            "--batch", type=int, default=1, show_default=True, help="Sequences decoded together."
        ),
        click.option(
            "--block-size", type=int, default=16, show_default=True,
            help="Slots of a KV block: 16 or 32.",
        ),
        click.option(
            "--allocation", type=click.Choice(["paged", "contiguous"]), default="paged",
            show_default=True, help="How the KV caches take memory.",
        ),
        click.option(
            "--blocks", "n_blocks", type=int, default=None,
            help="KV blocks of each model's pool. [default: enough for the batch]",
        ),
        click.option("--chat", is_flag=True, help="Wrap prompts in the model's chat template."),
        click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda, cuda:1"),
        click.option("--dtype", type=click.Choice(DTYPES), default="auto", show_default=True),
        click.option(
            "--weights", type=click.Choice(WEIGHTS), default="auto", show_default=True,
            help="Of both models' layers; int8 and int4 need torchao, and change the text.",
        ),
        click.option(
            "--packed/--no-packed", default=True, show_default=True,
            help="CPU: weights packed for narrow batches.",
        ),
        click.option(
            "--graphs/--no-graphs", default=True, show_default=True,
            help="CUDA: the draft's loop and the verification captured as graphs.",
        ),
        click.option("--threads", "n_threads", type=int, default=None, help="CPU threads to use."),
        click.option(
            "--calibrate/--no-calibrate", default=True, show_default=True,
            help="Time forwards of each width before decoding.",
        ),
        click.option(
            "--telemetry/--no-telemetry", default=True, show_default=True,
            help="Sample the host, and the GPU where one decodes.",
        ),
        click.option(
            "--kernels-every", type=int, default=0, metavar="N",
            help="Record the kernels of every N-th step, on a CPU the operators; such steps are "
            "slower and left out of figures of speed. [default: none]",
        ),
        click.option(
            "--trust-remote-code", is_flag=True,
            help="Run the code that comes with a hub model. Only for models you trust.",
        ),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def make_config(*, draft: str | None, composite_draft: str | None, **options: Any) -> RunConfig:
    """A RunConfig from the options above.

    Raises:
        click.UsageError: a setting is out of range (exit code 2).
    """
    if draft is None:
        draft = "bundled-draft" if options["target"] == "bundled-target" else "ngram"
    try:
        return RunConfig(draft=draft, composite_draft=composite_draft or "bundled-draft", **options)
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
