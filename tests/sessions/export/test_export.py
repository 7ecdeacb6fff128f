"""What holds for every exporter: it streams, reports, can be stopped, and leaves nothing half."""

import gc
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.wire.events import DraftVerified, Event, SpansMeasured
from sessions.export import EXPORTERS, nsys_sqlite_file, token_parquet, trace_file
from sessions.export.options import ExportError
from sessions.export.progress import ExportCancelled
from tests.support.event_script import EventScript
from tests.support.export_streams import (
    cancelled_inside_verify,
    gpu_session,
    left_in,
    long_session,
    plain_session,
    two_sequences,
)

every_format = pytest.mark.parametrize("name", EXPORTERS)


def nothing_done() -> list[Event]:
    script = EventScript()
    script.finish()
    return script.events


def test_the_table_can_be_listed() -> None:
    assert list(EXPORTERS) == ["nsys-sqlite", "nvtxt", "chrome-trace", "csv", "parquet", "jsonl"]
    for exporter in EXPORTERS.values():
        assert exporter.extension.startswith(".")
        assert exporter.description.endswith(".")
        assert exporter.is_available
    assert "not yet tried in Nsight" in EXPORTERS["nvtxt"].description


@every_format
@pytest.mark.parametrize(
    "make", [plain_session, two_sequences, gpu_session, cancelled_inside_verify, nothing_done]
)
def test_every_session_can_be_written(name: str, make, tmp_path: Path) -> None:
    path = tmp_path / "out"
    seen: list[int] = []
    events = make()
    EXPORTERS[name].write(iter(events), path, on_progress=seen.append)
    assert left_in(tmp_path) == ["out"]
    assert path.stat().st_size > 0
    assert seen[-1] == len(events)


@every_format
def test_the_beginning_of_a_session_can_be_written(name: str, tmp_path: Path) -> None:
    """A stream that ends anywhere, as a recording that was killed leaves it."""
    events = two_sequences()
    for n_events in range(1, len(events), 5):
        EXPORTERS[name].write(events[:n_events], tmp_path / "out")


@every_format
def test_stopped_in_the_middle_it_leaves_nothing(name: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    n_read = 0

    def counted() -> Iterator[Event]:
        nonlocal n_read
        for event in long_session(2000):
            n_read += 1
            yield event

    write = EXPORTERS[name].write
    with pytest.raises(ExportCancelled):
        write(counted(), path, should_stop=lambda: n_read >= 5000)
    assert n_read < 5600
    assert left_in(tmp_path) == []
    path.write_text("an earlier export")
    with pytest.raises(ExportCancelled):
        write(counted(), path, should_stop=lambda: True)
    assert left_in(tmp_path) == ["out"]
    assert path.read_text() == "an earlier export"


@every_format
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupt_leaves_nothing(name: str, error: type[BaseException], tmp_path: Path) -> None:
    def broken() -> Iterator[Event]:
        for event in long_session(3000):
            if getattr(event, "step", 0) == 2500:
                raise error
            yield event

    with pytest.raises(error):
        EXPORTERS[name].write(broken(), tmp_path / "out")
    assert left_in(tmp_path) == []


@every_format
def test_no_events_and_no_folder_are_sentences(name: str, tmp_path: Path) -> None:
    write = EXPORTERS[name].write
    with pytest.raises(ExportError, match="nothing to export"):
        write([], tmp_path / "out")
    with pytest.raises(ExportError, match="is no folder"):
        write(plain_session(), tmp_path / "missing" / "out")
    assert left_in(tmp_path) == []


@every_format
def test_a_stream_without_spans_or_verdicts_can_be_written(name: str, tmp_path: Path) -> None:
    for kind in (SpansMeasured, DraftVerified):
        events = [event for event in two_sequences() if not isinstance(event, kind)]
        EXPORTERS[name].write(events, tmp_path / "out")


@every_format
def test_it_does_not_keep_what_it_has_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice as long a session takes no more memory, of what Python allocates."""
    monkeypatch.setattr(token_parquet, "ROWS_PER_GROUP", 500)
    monkeypatch.setattr(nsys_sqlite_file, "ROWS_PER_BATCH", 500)
    monkeypatch.setattr(trace_file, "BUFFER_BYTES", 1 << 14)

    def peak(n_steps: int) -> int:
        gc.collect()
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        EXPORTERS[name].write(long_session(n_steps), tmp_path / "out")
        return tracemalloc.get_traced_memory()[1] - before

    tracemalloc.start()
    try:
        peak(20)  # fills caches
        first, second = peak(700), peak(1400)
    finally:
        tracemalloc.stop()
    assert second < first + 200_000


@every_format
@pytest.mark.parametrize("make", [two_sequences, gpu_session, lambda: list(long_session(30))])
def test_what_it_ignores_changes_nothing(name: str, make, tmp_path: Path) -> None:
    exporter = EXPORTERS[name]
    events = make()
    exporter.write(events, tmp_path / "whole")
    wanted = [event for event in events if type(event) not in exporter.ignores]
    exporter.write(wanted, tmp_path / "wanted")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "wanted").read_bytes()
