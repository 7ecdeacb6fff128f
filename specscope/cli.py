"""``specscope``: the command line."""

import click

from specscope.commands.bench import bench
from specscope.commands.doctor import doctor
from specscope.commands.models import models
from specscope.commands.plan import plan
from specscope.commands.run import run


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="specscope", prog_name="specscope")
def main() -> None:
    """A workbench for speculative decoding: decode real text with a draft and a target model, see
    what became of every drafted token, and check the numbers."""


for command in (run, bench, plan, models, doctor):
    main.add_command(command)
