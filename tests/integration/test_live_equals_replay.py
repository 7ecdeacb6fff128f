"""The keystone: a session of the bundled pair is the same while it runs, replayed event by event,
and opened from columns that were kept of it: every table, every column."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.wire.config import RunConfig
from engine.wire.events import Event
from sessions.column_cache import ColumnCache
from sessions.model import SessionModel
from sessions.opening import open_session
from sessions.recorder import Recorder
from specscope.headless import run_session
from specscope.prompts import Prompt
from tests.sessions.played import assert_same, snapshot_of
from tests.sessions.recorded import stored
from tests.support.stream_rules import check_stream

PROMPTS = [Prompt("def quicksort(items):"), Prompt("import os\n\n"), Prompt('{"name": "')]


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", [{"draft": "composite", "batch": 2}, {"temperature": 0.8, "gamma": "auto"}]
)
def test_live_replayed_and_kept_are_one_session(
    tmp_path: Path, settings: dict[str, object]
) -> None:
    config = RunConfig(max_new_tokens=40, **settings)  # type: ignore[arg-type]
    path = tmp_path / "x.specscope"
    cache = ColumnCache(tmp_path / "columns", min_events=1)
    live, said = SessionModel(), []
    recorder = Recorder(path, model=lambda: live, cache=cache)

    def consume(events: Sequence[Event]) -> None:
        recorder.consume(events)
        live.consume(events)
        said.extend(events)

    try:
        run_session(config, PROMPTS, consume=consume)
    finally:
        recorder.close()
    assert recorder.error == ""
    assert len(live.snapshot().output_tokens) >= 40
    replayed = stored(path)
    assert replayed == said
    check_stream(replayed)
    assert_same(snapshot_of(replayed), live.snapshot())
    with_columns = open_session(path, cache=cache)
    with_columns.read_all()
    assert with_columns.is_from_cache
    assert_same(with_columns.snapshot(), live.snapshot())
    with_columns.close()
