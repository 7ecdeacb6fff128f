"""``specscope``: the command line."""

import click

from specscope.commands.bench import bench
from specscope.commands.compare import compare
from specscope.commands.doctor import doctor
from specscope.commands.export import export
from specscope.commands.gui import gui
from specscope.commands.inflate import inflate
from specscope.commands.library import list_sessions, session, show
from specscope.commands.models import models
from specscope.commands.plan import plan
from specscope.commands.replay import replay
from specscope.commands.run import run


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(package_name="specscope", prog_name="specscope")
@click.pass_context
def main(context: click.Context) -> None:
    """A workbench for speculative decoding: decode real text with a draft and a target model, see
    what became of every drafted token, and check the numbers.

    Without a command it opens the window, like ``specscope gui``."""
    if context.invoked_subcommand is None:
        context.invoke(gui)


for command in (
    gui, run, list_sessions, show, replay, compare, export, session, bench, plan, models, doctor,
):  # fmt: skip
    main.add_command(command)
models.add_command(inflate)
