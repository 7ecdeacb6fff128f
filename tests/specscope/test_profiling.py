"""Runs under a profiler: a script stands for nsys, the engine is one of toys."""

import json
import os
from pathlib import Path

import click
import pytest

from engine.wire.config import RunConfig
from specscope.profiling import CannotProfile, check_report, nsys_report, wrapper_for
from tests.specscope.conftest import RunCommand

FAKE_NSYS = """#!/bin/sh
# Notes how it was called, runs the program without its standard input, writes a report.
if [ "$2" = "--help" ]; then echo "--discard-environment=<true|false>"; exit 0; fi
shift
out=""
while [ "$1" != "${1#--}" ]; do
    case "$1" in --output=*) out="${1#--output=}" ;; esac
    echo "$1" >> "$SPECSCOPE_TEST_FOLDER/options"
    shift
done
"$@" < /dev/null
code=$?
[ -z "$SPECSCOPE_TEST_NO_REPORT" ] && echo report > "$out.nsys-rep"
exit $code
"""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a shell script stands for nsys")


@pytest.fixture
def nsys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a fake nsys that is on PATH."""
    program = tmp_path / "nsys"
    program.write_text(FAKE_NSYS)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SPECSCOPE_TEST_FOLDER", str(tmp_path))
    return tmp_path


def test_a_run_under_nsight_systems(run_command: RunCommand, nsys: Path) -> None:
    report = nsys / "run.nsys-rep"
    result = run_command("run", "hello", "--json", "--max-new-tokens", "8", "--nsys", str(report))
    assert result.exit_code == 0, result.output
    assert report.read_text() == "report\n"
    run = json.loads(result.stdout)
    assert run["nsys_report"] == run["settings"]["nsys_report"] == str(report)
    assert len(run["token_ids"]) == 8
    options = (nsys / "options").read_text().split()
    assert "--nvtx-capture=capture@specscope" in options
    assert "--cuda-graph-trace=node" in options
    assert "--discard-environment=true" in options


def test_a_report_that_was_not_written(
    run_command: RunCommand, nsys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECSCOPE_TEST_NO_REPORT", "1")
    result = run_command("run", "hello", "--max-new-tokens", "4", "--nsys", str(nsys / "run"))
    assert result.exit_code == 2
    assert "wrote no report" in result.stderr


def test_settings_that_are_refused_keep_their_exit_code(
    run_command: RunCommand, nsys: Path
) -> None:
    result = run_command("run", "hello", "--target", "missing", "--nsys", str(nsys / "run"))
    assert result.exit_code == 2
    assert "missing is no model" in result.stderr


def test_without_nsys_nothing_is_run(
    run_command: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = run_command("run", "hello", "--nsys", str(tmp_path / "run.nsys-rep"))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "nsys is not on PATH: install Nsight Systems" in result.stderr


def test_what_cannot_be_captured(tmp_path: Path) -> None:
    with pytest.raises(CannotProfile, match="one session"):
        wrapper_for(tmp_path, [RunConfig(), RunConfig(draft="none")])
    with pytest.raises(CannotProfile, match="CUPTI"):
        wrapper_for(tmp_path, [RunConfig(kernels_every=4)])
    assert "wrote no report" in check_report(tmp_path / "x")


def test_where_a_report_goes(tmp_path: Path) -> None:
    assert nsys_report(tmp_path / "a.b") == tmp_path / "a.b.nsys-rep"
    assert nsys_report(tmp_path / "a.nsys-rep") == tmp_path / "a.nsys-rep"
    (tmp_path / "there.nsys-rep").touch()
    with pytest.raises(CannotProfile, match="exists"):
        nsys_report(tmp_path / "there")
    with pytest.raises(click.ClickException, match="no folder"):
        nsys_report(tmp_path / "nowhere" / "a")


def test_the_line_for_nsight_compute(run_command: RunCommand) -> None:
    expected = "specscope@verify/ --graph-profiling=node --launch-count=20 --set=full --export"
    for arguments in (("--ncu-command", "verify"), ("--ncu-command=verify",)):
        result = run_command("run", "def f(x):", *arguments, "--gamma", "3")
        assert result.exit_code == 0, result.output
        assert expected in result.stdout
        assert result.stdout.endswith("specscope run 'def f(x):' --gamma 3\n")
    assert run_command("run", "x", "--ncu-command", "sleep").exit_code == 2
