"""Snapshot: the session as it was at one moment - its tables, shorter."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from sessions.columns import Table, TablePrefix


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Read-only prefixes of all tables at ``t_ns``, nothing copied. ``sessions.tables`` says what
    the rows and columns are. A snapshot stays as it is while the session goes on."""

    t_ns: int
    starts: TablePrefix
    models: TablePrefix
    caches: TablePrefix
    states: TablePrefix
    settings: TablePrefix
    ends: TablePrefix
    calibrations: TablePrefix
    sequences: TablePrefix
    prompt_tokens: TablePrefix
    prefills: TablePrefix
    drafts: TablePrefix
    proposals: TablePrefix
    verdicts: TablePrefix
    draft_tokens: TablePrefix
    steps: TablePrefix
    output_tokens: TablePrefix
    kv_changes: TablePrefix
    spans: TablePrefix
    kernels: TablePrefix
    recordings: TablePrefix
    host_samples: TablePrefix
    gpu_samples: TablePrefix
    logs: TablePrefix
    drops: TablePrefix
    gaps: TablePrefix

    def table(self, name: str) -> TablePrefix:
        """A table by its name."""
        table = getattr(self, name)
        assert isinstance(table, TablePrefix), f"{name} is no table"
        return table

    def lengths(self) -> dict[str, int]:
        """Rows per table: what changed between two snapshots is told by these alone."""
        return {name: len(self.table(name)) for name in TABLE_NAMES}


TABLE_NAMES = tuple(field.name for field in fields(Snapshot) if field.name != "t_ns")


def take_snapshot(tables: Mapping[str, Table], t_ns: int) -> Snapshot:
    """The tables' rows up to and including ``t_ns``."""
    return Snapshot(
        t_ns, *[tables[name].prefix(tables[name].n_rows_at(t_ns)) for name in TABLE_NAMES]
    )
