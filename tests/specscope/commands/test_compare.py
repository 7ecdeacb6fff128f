"""``specscope compare``."""

import json

import pytest
from click.testing import CliRunner, Result

from specscope.cli import main
from tests.specscope.stored import record

pytestmark = pytest.mark.usefixtures("data_folder")


def invoke(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "140"}).invoke(main, ["compare", *arguments])


def test_two_recorded_sessions() -> None:
    record(name="fast")
    record(name="plain", draft="none")
    output = invoke("fast", "plain").output
    assert "(baseline)" in output
    sessions = json.loads(invoke("fast", "plain", "--json").stdout)["sessions"]
    assert [each["name"] for each in sessions] == ["plain", "fast"]
    assert sessions[1]["speedup"]["value"] > 0


def test_one_session_is_nothing_to_compare() -> None:
    record(name="fast")
    result = invoke("fast")
    assert result.exit_code == 2
    assert "two sessions or more" in result.output
    assert invoke("fast", "nothing").exit_code == 2
