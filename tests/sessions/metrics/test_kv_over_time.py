"""Caches over time, held against the block map of each moment."""

import numpy as np
import pytest

from engine.wire.events import Event
from sessions.kv_map import contiguous_reservation, kv_map
from sessions.metrics.kv_over_time import kv_over_time
from sessions.synthetic import synthetic_events
from sessions.tables import DRAFT, TARGET
from tests.sessions.played import model_of, snapshot_of
from tests.support.event_script import EventScript


def busy() -> list[Event]:
    """Two sequences decoded together, one of them set back and resumed, a third one behind."""
    script = EventScript(n_blocks=32, block_size=4)
    script.sequence("abcde", max_new_tokens=40)
    script.sequence("ab", max_new_tokens=9)
    for accepted in (4, 0, 2):
        script.step(0, accepted=accepted, more=True)
        script.step(1, accepted=4 - accepted)
    script.set_back(1)
    script.step(0, drafted=6, accepted=1)
    script.resume(1)
    script.step(1, accepted=3)
    script.finish_sequence(0)
    script.sequence("abcdefghi", max_new_tokens=3)
    script.step(2, accepted=1)
    script.finish()
    return script.events


@pytest.mark.parametrize("role", [TARGET, DRAFT])
@pytest.mark.parametrize("events", [busy(), list(synthetic_events(300))], ids=["busy", "long"])
def test_every_moment_is_as_its_block_map_says(events: list[Event], role: int) -> None:
    model = model_of(events)
    series = kv_over_time(model.snapshot(), role)
    assert series is not None
    assert len(series.t_ns) > 10
    assert np.all(np.diff(series.t_ns) > 0)
    for index in range(0, len(series.t_ns), 1 + len(series.t_ns) // 60):
        moment = model.snapshot(int(series.t_ns[index]))
        kv = kv_map(moment, role)
        assert kv is not None
        assert series.n_owned[index] == kv.n_owned
        assert series.n_filled[index] == kv.n_filled.sum()
        assert series.n_reserved[index] == contiguous_reservation(moment, kv).n_blocks
        share = series.fragmentation[index]
        assert (None if np.isnan(share) else share) == pytest.approx(kv.fragmentation)
    assert (series.n_blocks, series.bytes_per_block) == (kv.n_blocks, kv.bytes_per_block)


def test_a_rollback_is_seen_as_slots_that_empty() -> None:
    script = EventScript(n_blocks=8, block_size=4)
    script.sequence("abcd", max_new_tokens=20)  # three positions are cached
    script.step(drafted=4, accepted=0)  # eight positions written, four of them kept
    series = kv_over_time(snapshot_of(script.events), TARGET)
    assert series is not None
    assert series.n_owned.tolist() == [1, 1, 2, 2]
    assert series.n_filled.tolist() == [0, 3, 3, 4]
    assert series.n_reserved.tolist() == [6, 6, 6, 6]
    assert series.fragmentation.tolist() == [1.0, 0.25, 0.625, 0.5]


def test_no_cache_and_an_empty_one() -> None:
    assert kv_over_time(snapshot_of([]), TARGET) is None
    series = kv_over_time(snapshot_of(EventScript().events), TARGET)
    assert series is not None
    assert len(series.t_ns) == len(series.fragmentation) == 0
