"""``specscope compare``."""

import json
from pathlib import Path

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
    result = json.loads(invoke("fast", "plain", "--json").stdout)
    sessions = result["sessions"]
    (reason,) = result["reasons"]
    assert reason["sentence"] in " ".join(line.strip() for line in output.splitlines())
    assert [each["name"] for each in sessions] == ["plain", "fast"]
    assert sessions[1]["speedup"]["value"] > 0


def test_long_names_are_told_apart_by_short_ones() -> None:
    paths = [str(record(draft=draft)[0]) for draft in ("small", "small", "none")]
    lines = invoke(*paths).output.splitlines()
    heads = next(line for line in lines if "small gamma 2" in line)
    assert heads.count("small gamma 2") == 2
    told = " ".join(lines).replace(" ", "")  # long lines were broken
    for head, path in zip(("smallgamma2", "smallgamma2#2", "none"), paths, strict=True):
        assert f"note:{head}is{path}" in told
    sessions = json.loads(invoke(*paths, "--json").stdout)["sessions"]
    assert {each["name"] for each in sessions} == {Path(path).stem for path in paths}


def test_one_session_is_nothing_to_compare() -> None:
    record(name="fast")
    result = invoke("fast")
    assert result.exit_code == 2
    assert "two sessions or more" in result.output
    assert invoke("fast", "nothing").exit_code == 2
