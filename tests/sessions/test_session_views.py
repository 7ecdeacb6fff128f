"""The views show what the events say, and the page about them is right."""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlite_utils import Database

from engine.wire.events import (
    BlocksAllocated,
    BlocksFreed,
    DraftVerified,
    Event,
    GpuSampled,
    SpansMeasured,
    StepCommitted,
)
from sessions.session_schema import APPLICATION_ID, EVENT_COLUMNS, SCHEMA_VERSION, SESSION_COLUMNS
from sessions.session_views import VIEWS
from tests.sessions.recorded import record
from tests.support.event_script import EventScript

PAGE = Path(__file__).resolve().parents[2] / "resources" / "docs" / "session-file.md"
TEXT = PAGE.read_text(encoding="utf-8")
QUERIES = re.findall(r"```sql\n(.*?)```", TEXT, re.DOTALL)


def told() -> list[Event]:
    """Two sequences, every fate and origin, and samples with and without readings."""
    script = EventScript(block_size=4)
    script.sequence("abc")
    script.sequence("de")
    for _ in range(6):
        script.step(0, drafted=4, accepted=2, more=True)
        script.step(1, drafted=3, accepted=3)
    for power in (None, 300_000):
        script.say(
            GpuSampled(
                device_uuid="GPU-1",
                utilization_pct=50.0,
                memory_used_bytes=2**30,
                memory_total_bytes=2**34,
                power_mw=power,
                temperature_c=60,
                sm_clock_mhz=1500,
            )
        )
    script.finish()
    return script.events


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(record(tmp_path / "x.specscope", told()))
    yield database
    database.close()


def of(kind: type[Event]) -> list[Event]:
    return [event for event in told() if isinstance(event, kind)]


def test_draft_tokens(database: Database) -> None:
    expected = [
        {
            "ordinal": event.ordinal,
            "t_ns": event.t_ns,
            "sequence_id": event.sequence_id,
            "step": event.step,
            "draft_index": index,
            "position": event.position + index,
            "token_id": token_id,
            "text": event.token_texts[index],
            "fate": event.fates[index],
            "draft_prob": event.draft_probs[index],
            "target_prob": event.target_probs[index],
            "draft_confidence": event.draft_confidences[index],
            "target_confidence": event.target_confidences[index],
            "overlap": event.overlaps[index],
            "target_entropy": event.target_entropies[index],
            "uniform": event.uniforms[index],
        }
        for event in of(DraftVerified)
        for index, token_id in enumerate(event.token_ids)
    ]
    assert list(database["draft_tokens"].rows) == expected


def test_steps_and_output_tokens(database: Database) -> None:
    events = of(StepCommitted)
    steps = list(database["steps"].rows)
    assert [row["n_committed"] for row in steps] == [len(event.token_ids) for event in events]
    for name in ("sequence_id", "step", "position", "gamma", "n_drafted", "n_accepted", "step_ns"):
        assert [row[name] for row in steps] == [getattr(event, name) for event in events]
    tokens = [
        (event.sequence_id, event.position + index, token_id, text, origin)
        for event in events
        for index, (token_id, text, origin) in enumerate(
            zip(event.token_ids, event.token_texts, event.origins, strict=True)
        )
    ]
    columns = ("sequence_id", "position", "token_id", "text", "origin")
    rows = database["output_tokens"].rows
    assert [tuple(row[name] for name in columns) for row in rows] == tokens


def test_spans(database: Database) -> None:
    columns = {"name": "names", "role": "roles", "start_ns": "start_ns", "host_ns": "host_ns",
               "gpu_ns": "gpu_ns", "n_flops": "n_flops", "n_bytes": "n_bytes"}  # fmt: skip
    rows = list(database["spans"].rows)
    for column, field in columns.items():
        expected = [value for event in of(SpansMeasured) for value in getattr(event, field)]
        assert [row[column] for row in rows] == expected


def test_gpu_samples(database: Database) -> None:
    rows = list(database["gpu_samples"].rows)
    assert [row["power_mw"] for row in rows] == [None, 300_000]
    assert [row["device_uuid"] for row in rows] == ["GPU-1", "GPU-1"]


def test_blocks(database: Database) -> None:
    allocated = [
        (event.role, event.first_logical_block + index, block)
        for event in of(BlocksAllocated)
        for index, block in enumerate(event.physical_blocks)
    ]
    rows = list(database["blocks"].rows)
    assert [
        (row["role"], row["logical_block"], row["physical_block"])
        for row in rows
        if row["change"] == "allocated"
    ] == allocated
    freed = [row for row in rows if row["change"] == "freed"]
    assert len(freed) == sum(len(event.physical_blocks) for event in of(BlocksFreed))
    assert {row["logical_block"] for row in freed} == {None}


# --- the page ------------------------------------------------------------------------------------


def test_the_page_has_queries() -> None:
    assert len(QUERIES) >= 8


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_of_the_page_answers(database: Database, query: str) -> None:
    if sqlite3.sqlite_version_info < (3, 30):
        pytest.skip("FILTER came with SQLite 3.30")
    rows = list(database.query(query))
    assert rows
    assert any(value is not None for value in rows[0].values())


def test_the_page_answers_are_right(database: Database) -> None:
    (row,) = database.query(QUERIES[0])
    # Per two sequences: 2 accepted, 1 rejected; 3 accepted.
    assert row["acceptance_rate"] == pytest.approx(5 / 6)
    assert row["expected_acceptance_rate"] == pytest.approx(0.7)


def test_the_page_names_every_view_and_column(database: Database) -> None:
    for name in VIEWS:
        section = TEXT[TEXT.index(f"**`{name}`**") :].split("\n\n")[0]
        for column in database[name].columns_dict:
            assert column in ("ordinal", "t_ns") or f"`{column}`" in section, f"{name}.{column}"
    for column in (*SESSION_COLUMNS, *EVENT_COLUMNS):
        assert f"`{column}`" in TEXT, column


def test_the_page_names_the_marks() -> None:
    assert f"| {APPLICATION_ID}," in TEXT
    assert f"`PRAGMA user_version` | {SCHEMA_VERSION}," in TEXT
