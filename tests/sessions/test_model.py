"""The fold: of a stream's beginning it is the beginning of the fold; and it loses nothing."""

import gc
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.wire.events import (
    DraftVerified,
    Event,
    EventsDropped,
    Fate,
    LogEmitted,
    SequenceFinished,
    StepCommitted,
)
from sessions.model import SessionModel
from sessions.tables import ACCEPTED, DISCARDED, REJECTED
from tests.sessions.played import assert_same, drafted, model_of
from tests.support.event_script import EventScript
from tests.support.running_engine import RunningEngine
from tests.support.toy_model import ToyModel

STEPS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 5), st.integers(0, 5), st.booleans()),
    min_size=1,
    max_size=12,
)


def played(steps: list[tuple[int, int, int, bool]]) -> list[Event]:
    """Two sequences; each step (whose, drafted, accepted, set back afterwards)."""
    script = EventScript(block_size=4)
    for prompt in ("ab", "cde"):
        script.sequence(prompt)
    for sequence_id, n_drafted, n_accepted, is_set_back in steps:
        script.step(sequence_id, drafted=n_drafted, accepted=min(n_accepted, n_drafted))
        if is_set_back:
            script.set_back(sequence_id)
            script.resume(sequence_id)
    script.finish()
    return script.events


@given(STEPS, st.integers(0, 10_000), st.integers(1, 50))
@settings(max_examples=40, deadline=None)
def test_the_fold_of_a_beginning_is_the_session_at_that_time(
    steps: list[tuple[int, int, int, bool]], cut: int, batch: int
) -> None:
    events = played(steps)
    n = 1 + cut % len(events)
    whole = model_of(events)
    assert_same(model_of(events[:n], batch=batch).snapshot(), whole.snapshot(events[n - 1].t_ns))


@given(STEPS, st.integers(1, 20))
@settings(max_examples=20, deadline=None)
def test_batches_make_no_difference(steps: list[tuple[int, int, int, bool]], batch: int) -> None:
    events = played(steps)
    assert_same(model_of(events, batch=batch).snapshot(), model_of(events).snapshot())


def test_a_snapshot_is_not_changed_by_what_comes_later() -> None:
    events = drafted([2] * 50, 4, with_spans=True)
    model = SessionModel()
    model.consume(events[:100])
    early = model.snapshot()
    kept = {name: early.table(name)["t_ns"].copy() for name in early.lengths()}
    model.consume(events[100:])
    for name, times in kept.items():
        assert early.table(name)["t_ns"].tolist() == times.tolist()


def test_holes_are_counted_where_they_are() -> None:
    def log(ordinal: int) -> Event:
        return LogEmitted(ordinal=ordinal, t_ns=ordinal, level="info", message="")

    model = SessionModel()
    model.consume([log(0), log(1), log(4)])
    dropped = EventsDropped(ordinal=5, t_ns=5, n_events=2, kinds=("SpansMeasured",))
    model.consume([dropped, log(9), log(9), log(10)])
    assert model.snapshot().gaps["n_missing"].tolist() == [2, 3]
    assert model.snapshot().gaps["ordinal"].tolist() == [4, 9]
    assert model.snapshot().drops["n_events"].tolist() == [2]
    assert model.snapshot(5).gaps["n_missing"].tolist() == [2]


def test_nothing_consumed_is_nothing_known() -> None:
    model = SessionModel()
    model.consume([])
    assert model.last_t_ns == 0
    assert set(model.snapshot().lengths().values()) == {0}


@pytest.mark.parametrize("gamma", [0, 3])
@pytest.mark.parametrize("batch", [1, 3])
def test_an_engines_events_reconcile(gamma: int, batch: int) -> None:
    engine = RunningEngine(
        ToyModel(16, seed=1), ToyModel(16, seed=2), gamma=gamma, batch=batch, seed=5
    )
    events = engine.run("abcd", "bcd", "cd", max_new_tokens=20)
    snapshot = model_of(events, batch=7).snapshot()
    verdicts = [event for event in events if isinstance(event, DraftVerified)]
    commits = [event for event in events if isinstance(event, StepCommitted)]
    fates = [fate for event in verdicts for fate in event.fates]
    codes = snapshot.draft_tokens["fate"].tolist()
    for fate, code in zip(Fate, (ACCEPTED, REJECTED, DISCARDED), strict=True):
        assert codes.count(code) == fates.count(fate)
    assert len(snapshot.verdicts) == len(verdicts)
    assert snapshot.output_tokens["token_id"].tolist() == [
        token_id for event in commits for token_id in event.token_ids
    ]
    for event in events:
        if isinstance(event, SequenceFinished):
            is_own = snapshot.output_tokens["sequence_id"] == event.sequence_id
            assert "".join(snapshot.output_tokens.texts("text", is_own)) == event.text
    assert len(snapshot.gaps) == 0


@pytest.mark.slow
def test_the_fold_keeps_up_with_any_engine() -> None:
    events = drafted([3] * 4000, 5, with_spans=True)
    gc.disable()
    try:
        start = time.process_time()
        model = model_of(events, batch=1024)
        passed = time.process_time() - start
        start = time.perf_counter()
        for share in range(100):
            model.snapshot(model.last_t_ns * share // 100)
        snapshot_s = (time.perf_counter() - start) / 100
    finally:
        gc.enable()
    assert len(events) / passed > 30_000, "events per second"
    assert snapshot_s < 2e-3
