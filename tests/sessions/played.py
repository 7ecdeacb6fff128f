"""Sessions for tests: streams folded at once, tables made comparable, drafts of an exact law."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from engine.wire.events import CalibrationMeasured, Event, SpansMeasured
from sessions.columns import TablePrefix
from sessions.model import SessionModel
from sessions.snapshot import TABLE_NAMES, Snapshot
from tests.support.event_script import EventScript


def model_of(events: Iterable[Event], *, batch: int = 1000) -> SessionModel:
    model, told = SessionModel(), list(events)
    for first in range(0, len(told), batch):
        model.consume(told[first : first + batch])
    return model


def snapshot_of(events: Iterable[Event]) -> Snapshot:
    return model_of(events).snapshot()


def assert_same(one: Snapshot, other: Snapshot) -> None:
    """Table by table, column by column."""
    for name in TABLE_NAMES:
        assert_same_rows(name, one.table(name), other.table(name))


def assert_same_rows(name: str, one: TablePrefix, other: TablePrefix) -> None:
    assert len(one) == len(other), name
    for column in one.columns:
        if one.is_text(column):
            assert one.texts(column) == other.texts(column), f"{name}.{column}"
        else:
            np.testing.assert_array_equal(one[column], other[column], err_msg=f"{name}.{column}")


def iid_lengths(alpha: float, gamma: int, n: int) -> list[int]:
    """Accepted tokens of ``n`` drafts, spread exactly as i.i.d. acceptance spreads them."""
    shares = ((i + 0.5) / n for i in range(n))
    return [min(gamma, math.floor(math.log(share) / math.log(alpha))) for share in shares]


def drafted(
    accepted: Sequence[int],
    gamma: int,
    *,
    draft_ns: int | None = None,
    target_ns: Sequence[int] = (),
    with_spans: bool = False,
) -> list[Event]:
    """One sequence whose drafts of ``gamma`` tokens are accepted so far; with a calibration where
    ``target_ns`` gives the widths' times."""
    script = EventScript(n_blocks=4096)
    script.sequence(max_new_tokens=100_000)
    if target_ns:
        widths = tuple(range(1, len(target_ns) + 1))
        script.say(
            CalibrationMeasured(
                context_length=0,
                draft_forward_ns=draft_ns,
                target_widths=widths,
                target_forward_ns=tuple(target_ns),
            )
        )
    for n_accepted in accepted:
        script.step(drafted=gamma, accepted=n_accepted)
    script.finish()
    if with_spans:
        return script.events
    return [event for event in script.events if not isinstance(event, SpansMeasured)]
