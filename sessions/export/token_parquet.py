"""Draft tokens as Parquet: one row a token, types and units in the schema. Needs pyarrow."""

import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engine.wire.events import Event
from sessions.export.atomic import written_beside
from sessions.export.options import WHOLE, ExportError, ExportOptions
from sessions.export.progress import OnProgress, ShouldStop, watched
from sessions.export.token_rows import UNITS, TokenRow, token_rows

ROWS_PER_GROUP = 20_000

_INTEGERS = ("t_ns", "sequence_id", "step", "draft_index", "position", "gamma", "token_id")
_WORDS = ("drafter", "fate")


def write_token_parquet(
    events: Iterable[Event],
    path: Path,
    *,
    options: ExportOptions = WHOLE,
    on_progress: OnProgress | None = None,
    should_stop: ShouldStop | None = None,
) -> None:
    """Write the draft tokens; the file appears when it is whole.

    Raises:
        ExportError: pyarrow is not installed, there is nothing to write, or the file cannot be
        written.
        ExportCancelled: ``should_stop`` said so.
    """
    arrow, parquet = _load()
    schema = _schema(arrow)
    rows = token_rows(watched(events, on_progress, should_stop), options)
    with (
        written_beside(path) as beside,
        parquet.ParquetWriter(str(beside), schema, compression="zstd") as writer,
    ):
        group: list[TokenRow] = []
        for row in rows:
            group.append(row)
            if len(group) == ROWS_PER_GROUP:
                writer.write_table(_table(arrow, schema, group))
                group.clear()
        writer.write_table(_table(arrow, schema, group))


def _load() -> tuple[Any, Any]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise ExportError(
            "Parquet needs pyarrow, which is not installed: pip install 'specscope[parquet]'."
        ) from error


def _schema(arrow: Any) -> Any:
    fields = []
    for name in TokenRow._fields:
        if name in _INTEGERS:
            kind = arrow.int64()
        elif name in _WORDS:
            kind = arrow.dictionary(arrow.int8(), arrow.string())
        else:
            kind = arrow.string() if name == "token_text" else arrow.float64()
        metadata = {"unit": UNITS[name]} if name in UNITS else None
        fields.append(arrow.field(name, kind, metadata=metadata))
    return arrow.schema(fields)


def _table(arrow: Any, schema: Any, rows: list[TokenRow]) -> Any:
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    return arrow.table(
        [
            arrow.array(column, type=field.type)
            for column, field in zip(columns, schema, strict=True)
        ],
        schema=schema,
    )
