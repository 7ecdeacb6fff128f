"""The group of commands."""

from click.testing import CliRunner

from specscope.cli import main


def test_help_names_every_command() -> None:
    output = CliRunner().invoke(main, ["--help"]).output
    for name in ("run", "bench", "plan", "models", "doctor"):
        assert f"\n  {name} " in output


def test_each_command_explains_itself() -> None:
    for name in main.commands:
        result = CliRunner().invoke(main, [name, "--help"])
        assert result.exit_code == 0
        assert "Usage:" in result.output
