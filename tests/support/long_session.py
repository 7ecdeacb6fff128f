"""A session of any length without its events: a short one's columns, repeated one behind the
other, so that sizes can be tried in a second."""

import numpy as np

from sessions.columns import Table
from sessions.model import SessionModel
from sessions.snapshot import Snapshot, take_snapshot
from sessions.synthetic import synthetic_events
from sessions.tables import TABLE_COLUMNS

_REPEATED = (
    "sequences", "prefills", "drafts", "proposals", "verdicts", "draft_tokens", "steps",
    "output_tokens", "spans",
)  # fmt: skip
_STEPS_A_TIME = 1000
_GAMMA = 4


def long_snapshot(n_steps: int) -> Snapshot:
    """At least so many steps of four draft tokens and seven spans each."""
    model = SessionModel()
    model.consume(list(synthetic_events(_STEPS_A_TIME * _GAMMA, gamma=_GAMMA)))
    short = model.snapshot()
    shifts = {
        "t_ns": short.t_ns,
        "start_ns": short.t_ns,
        "ordinal": model.n_events,
        "step": _STEPS_A_TIME,
        "sequence_id": len(short.sequences) // 2,
    }
    times = -(-n_steps // _STEPS_A_TIME)
    tables = {}
    for name, kinds in TABLE_COLUMNS.items():
        source = short.table(name)
        table = tables[name] = Table(name, kinds, model.tables[name].pool)
        again = times if name in _REPEATED else 1
        which = np.repeat(np.arange(again), len(source))
        columns = {
            column: np.tile(source[column], again) + shifts.get(column, 0) * which
            for column in source.columns
        }
        table.append(len(which), **columns)
    return take_snapshot(tables, times * short.t_ns)
