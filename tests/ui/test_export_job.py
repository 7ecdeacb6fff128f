"""An export runs beside the window: written, cancelled, or failed with a sentence."""

import os
import time
from pathlib import Path

import pytest

from sessions.export import EXPORTERS
from sessions.export.options import WHOLE, ExportOptions, StepRange
from tests.sessions.recorded import record, script
from ui.export_job import ExportJob, ExportState

PATIENCE_S = 30.0


def ended(job: ExportJob) -> ExportState:
    deadline = time.monotonic() + PATIENCE_S
    while not job.poll().is_over:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    job.close()
    return job.poll()


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return record(tmp_path / "a.specscope", script(10))


@pytest.mark.parametrize("name", list(EXPORTERS))
def test_every_format_is_written(name: str, session: Path, tmp_path: Path) -> None:
    out = tmp_path / f"a{EXPORTERS[name].extension}"
    state = ended(ExportJob(session, out, name=name, options=WHOLE))
    assert state.is_written
    assert state.problem == ""
    assert state.n_events == len(script(10))
    assert state.n_bytes == out.stat().st_size > 0


def test_a_part_is_smaller(session: Path, tmp_path: Path) -> None:
    whole = ended(ExportJob(session, tmp_path / "w.csv", name="csv", options=WHOLE))
    options = ExportOptions(StepRange(0, 1))
    part = ended(ExportJob(session, tmp_path / "p.csv", name="csv", options=options))
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 1 + 2 * 4  # header, 4 a step
    assert part.n_bytes < whole.n_bytes


def test_cancelled_nothing_is_left(tmp_path: Path) -> None:
    session = record(tmp_path / "a.specscope", script(400))
    job = ExportJob(session, tmp_path / "a.sqlite", name="nsys-sqlite", options=WHOLE)
    job.cancel()
    state = ended(job)
    assert state.is_cancelled
    assert not state.is_written
    assert os.listdir(tmp_path) == ["a.specscope"]


def test_what_goes_wrong_is_a_sentence(session: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.specscope").write_text("text")
    for source, out, words in (
        (tmp_path / "bad.specscope", tmp_path / "a.csv", "not a session file"),
        (session, tmp_path / "no" / "a.csv", "is no folder"),
        (session, session, "the session itself"),
    ):
        before = session.read_bytes()
        state = ended(ExportJob(source, out, name="csv", options=WHOLE))
        assert words in state.problem
        assert not state.is_written
        assert session.read_bytes() == before
    assert not (tmp_path / "a.csv").exists()
