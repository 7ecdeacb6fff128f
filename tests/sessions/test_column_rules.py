"""The bounds that every folded column keeps."""

import numpy as np
import pytest

from engine.wire.events import EndReason, FinishReason
from sessions.column_rules import check_column, enum_of
from sessions.columns import Array, Kind
from sessions.synthetic import synthetic_events
from sessions.tables import TABLE_COLUMNS
from tests.sessions.played import snapshot_of


def test_every_code_column_has_its_class() -> None:
    for table, kinds in TABLE_COLUMNS.items():
        for name, kind in kinds.items():
            if kind is Kind.CODE:
                assert len(enum_of(table, name)) > 1
    assert enum_of("ends", "reason") is EndReason
    assert enum_of("sequences", "reason") is FinishReason


def test_what_was_folded_keeps_them() -> None:
    snapshot = snapshot_of(synthetic_events(500))
    n_texts = len(snapshot.steps._table.pool.texts)
    for table in TABLE_COLUMNS:
        rows = snapshot.table(table)
        for column in rows.columns:
            assert check_column(table, column, rows[column], n_texts, snapshot.t_ns) == ""


@pytest.mark.parametrize(
    ("table", "column", "values", "word"),
    [
        ("draft_tokens", "fate", np.array([0, 3], np.int8), "below 3"),
        ("draft_tokens", "fate", np.array([-2, 0], np.int8), "below 3"),
        ("steps", "t_ns", np.array([5, 4]), "order"),
        ("steps", "t_ns", np.array([-1, 4]), "order"),
        ("steps", "t_ns", np.array([4, 101]), "newest"),
        ("steps", "ordinal", np.array([5, 4]), "order"),
        ("output_tokens", "text", np.array([0, 10], np.int32), "below 10"),
        ("output_tokens", "text", np.array([0, -2], np.int32), "below 10"),
    ],
)
def test_what_is_wrong_is_said(table: str, column: str, values: Array, word: str) -> None:
    assert word in check_column(table, column, values, 10, 100)
