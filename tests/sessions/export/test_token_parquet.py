"""Draft tokens as Parquet: the rows of the CSV, with types."""

import importlib
from pathlib import Path

import pytest
from pyarrow import parquet

from sessions.export import EXPORTERS
from sessions.export import token_parquet as module
from sessions.export.options import WHOLE, ExportError
from sessions.export.token_parquet import write_token_parquet
from sessions.export.token_rows import TokenRow, token_rows
from tests.support.export_streams import left_in, plain_session, two_sequences


def test_rows_come_back_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS_PER_GROUP", 7)  # so that there are several groups
    path = tmp_path / "out.parquet"
    events = two_sequences()
    write_token_parquet(events, path)
    table = parquet.read_table(path)
    rows = list(token_rows(events, WHOLE))
    assert [tuple(row.values()) for row in table.to_pylist()] == rows
    assert parquet.ParquetFile(path).num_row_groups > 3
    assert table.schema.field("t_ns").metadata == {b"unit": b"ns"}
    assert str(table.schema.field("uniform").type) == "double"


def test_no_tokens_is_an_empty_table(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    write_token_parquet(plain_session(0), path)
    table = parquet.read_table(path)
    assert table.num_rows == 0
    assert tuple(table.schema.names) == TokenRow._fields


def test_without_pyarrow_it_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ExportError, match=r"pip install 'specscope\[parquet\]'"):
        write_token_parquet(plain_session(), tmp_path / "out.parquet")
    assert left_in(tmp_path) == []
    assert EXPORTERS["parquet"].is_available
