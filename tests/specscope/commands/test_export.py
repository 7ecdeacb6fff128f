"""``specscope export``: from a session file or a stream, to every format, or a sentence."""

import sqlite3
from contextlib import closing
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from engine.wire.codec import encode
from engine.wire.events import Event
from sessions.export import EXPORTERS, Exporter
from sessions.export.jsonl import read_jsonl, write_jsonl
from sessions.library import Library
from sessions.session_file import SessionFile
from specscope.commands import export as module
from specscope.commands.export import export
from tests.support.export_streams import left_in, plain_session, two_sequences
from tests.support.trace_reader import read_trace


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    path = tmp_path / "run.jsonl"
    write_jsonl(two_sequences(), path)
    return path


def store(events: list[Event], path: Path) -> Path:
    with SessionFile.create(path) as file:
        file.append((event, encode(event)) for event in events)
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(export, [str(argument) for argument in arguments])


@pytest.mark.parametrize("name", EXPORTERS)
def test_every_format_from_a_stream_and_from_a_session(
    name: str, stream: Path, tmp_path: Path
) -> None:
    session = store(two_sequences(), tmp_path / "run.specscope")
    first, second = tmp_path / "a", tmp_path / "b"
    for source, out in ((stream, first), (session, second)):
        result = run(source, "--as", name, out)
        assert result.exit_code == 0, result.stderr
        assert result.stdout == ""
        assert f"has {out.stat().st_size:,} bytes" in result.stderr.replace("\n", "")
    assert first.read_bytes() == second.read_bytes()


def test_a_session_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(tmp_path))
    path = Library().new_path("target", "draft")
    path.parent.mkdir(parents=True, exist_ok=True)
    store(plain_session(), path)
    out = tmp_path / "out.jsonl"
    result = run(path.stem, "--as", "jsonl", out)
    assert result.exit_code == 0, result.stderr
    assert list(read_jsonl(out)) == plain_session()
    result = run("nobody", "--as", "jsonl", tmp_path / "other")
    assert (result.exit_code, "There is no session 'nobody'" in result.stderr) == (2, True)


def test_jsonl_comes_back_equal(tmp_path: Path) -> None:
    session = store(plain_session(), tmp_path / "run.specscope")
    out = tmp_path / "out.jsonl"
    assert run(session, "--as", "jsonl", out).exit_code == 0
    assert list(read_jsonl(out)) == plain_session()


def test_a_range_and_per_step(stream: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json.gz"
    result = run(stream, "--as", "chrome-trace", "--range", "steps:1-2", "--per-step", out)
    assert result.exit_code == 0, result.stderr
    trace = read_trace(out)
    assert {r.args["step"] for r in trace.named("step")} == {1, 2}
    assert not trace.named("draft_forward")


def test_an_existing_file_is_kept_unless_forced(stream: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("mine")
    result = run(stream, "--as", "csv", out)
    assert result.exit_code == 2
    assert "exists already: use --force" in result.stderr
    assert out.read_text() == "mine"
    assert run(stream, "--as", "csv", "--force", out).exit_code == 0
    assert out.read_text().startswith("t_ns,")


def test_the_session_itself_is_never_replaced(stream: Path) -> None:
    before = stream.read_bytes()
    result = run(stream, "--as", "jsonl", "--force", stream)
    assert result.exit_code == 2
    assert "is the session itself" in result.stderr
    assert stream.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--as", "csv", "--range", "steps:9-1"], "is empty"),
        (["--as", "csv", "--range", "all"], "is no range"),
        (["--as", "csv", "--per-step"], "--per-step is for timelines"),
        (["--as", "csv", "--estimate"], "--estimate is for chrome-trace"),
        (["--as", "mp4"], "is not one of"),
        ([], "Missing option '--as'"),
    ],
)
def test_bad_options_are_sentences(
    arguments: list[str], said: str, stream: Path, tmp_path: Path
) -> None:
    result = run(stream, tmp_path / "out", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert left_in(tmp_path) == ["run.jsonl"]


def test_bad_files_are_sentences(stream: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    result = run(tmp_path / "no.jsonl", "--as", "csv", out)
    assert (result.exit_code, "is no file" in result.stderr) == (2, True)
    stream.write_bytes(stream.read_bytes() + b"{}\n")
    result = run(stream, "--as", "csv", out)
    n_lines = len(two_sequences()) + 1
    assert (result.exit_code, f"line {n_lines}: " in result.stderr) == (2, True)
    other = tmp_path / "other.specscope"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE t (x)")
    result = run(other, "--as", "csv", out)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")
    other.write_bytes(b"no database at all" * 100)
    assert run(other, "--as", "csv", out).exit_code == 2
    assert not out.exists()


def test_an_interrupt_leaves_nothing(
    stream: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(events, path, **options):
        def until() -> object:
            yield from list(events)[:10]
            raise KeyboardInterrupt

        EXPORTERS["csv"].write(until(), path, **options)

    monkeypatch.setitem(module.EXPORTERS, "nvtxt", Exporter(interrupted, ".nvtxt", "x"))
    result = run(stream, "--as", "nvtxt", tmp_path / "out")
    assert result.exit_code == 130
    assert "nothing was written" in result.stderr
    assert left_in(tmp_path) == ["run.jsonl"]


def test_the_size_is_foretold_without_writing(stream: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    result = run(stream, "--as", "chrome-trace", "--estimate", out)
    assert (result.exit_code, left_in(tmp_path)) == (0, ["run.jsonl"])
    foretold = float(result.stdout.split()[1]) * 1e6
    run(stream, "--as", "chrome-trace", out)
    size = out.stat().st_size
    assert size / 1.5 < foretold < size * 1.5


def test_help_lists_the_formats() -> None:
    told = run("--help").stdout
    for name in EXPORTERS:
        assert name in told
    assert "not yet tried in Nsight" in told
    assert isinstance(export, click.Command)
