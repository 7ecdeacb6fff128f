"""Parts of a session: one sequence, a window of steps."""

from msgspec.structs import replace

from engine.wire.events import KernelsRecorded, StepCommitted
from sessions.metrics.counts import count
from sessions.metrics.selection import EVERYTHING, Selection, profiled_steps, without_steps
from sessions.metrics.time_split import time_split
from tests.sessions.played import snapshot_of
from tests.support.event_script import EventScript


def script_of_two() -> EventScript:
    script = EventScript()
    for prompt in ("ab", "cd"):
        script.sequence(prompt)
    script.step(0, drafted=4, accepted=4)  # step 0
    script.step(1, drafted=4, accepted=0)  # step 1
    script.step(0, drafted=4, accepted=2, more=True)  # step 2, both
    script.step(1, drafted=2, accepted=2)
    return script


def test_everything_is_all_rows() -> None:
    snapshot = snapshot_of(script_of_two().events)
    assert EVERYTHING.is_everything
    assert len(snapshot.steps["step"][EVERYTHING.rows(snapshot.steps)]) == 4


def test_a_sequence_has_its_own_counts() -> None:
    snapshot = snapshot_of(script_of_two().events)
    accepted = [count(snapshot, Selection(sequence_id)).n_accepted for sequence_id in (0, 1, 2)]
    assert accepted == [6, 2, 0]
    assert count(snapshot).n_accepted == 8


def test_a_window_of_steps_has_both_its_ends() -> None:
    snapshot = snapshot_of(script_of_two().events)
    assert count(snapshot, Selection(first_step=1, last_step=2)).n_accepted == 4
    assert count(snapshot, Selection(first_step=2)).n_accepted == 4
    assert count(snapshot, Selection(0, last_step=1)).n_accepted == 4


def test_spans_are_those_of_the_steps_the_sequence_took_part_in() -> None:
    snapshot = snapshot_of(script_of_two().events)
    splits = [time_split(snapshot, Selection(sequence_id)) for sequence_id in (0, 1, None)]
    assert [split.n_steps if split else None for split in splits] == [2, 2, 3]
    assert time_split(snapshot, Selection(7)) is None


def test_several_sequences_are_one_part() -> None:
    script = script_of_two()
    script.sequence("ef")
    script.step(2, drafted=4, accepted=3)  # step 3
    snapshot = snapshot_of(script.events)
    some = [Selection(sequence_ids=ids) for ids in ((0, 2), (1,), (), (0, 1, 2))]
    assert not any(selection.is_everything for selection in some)
    assert [count(snapshot, selection).n_accepted for selection in some] == [9, 2, 0, 11]
    splits = [time_split(snapshot, selection) for selection in some]
    assert [split.n_steps if split else None for split in splits] == [3, 2, None, 4]
    late = Selection(sequence_ids=(0, 2), first_step=1, last_step=2)
    assert count(snapshot, late).n_accepted == 2


def test_steps_whose_kernels_were_recorded() -> None:
    script = EventScript()
    script.sequence()
    for _ in range(4):
        script.step()
    script.say(kernels(2))
    events = [
        replace(event, is_profiled=True)
        if isinstance(event, StepCommitted) and event.step == 1
        else event
        for event in script.events
    ]
    snapshot = snapshot_of(events)
    profiled = profiled_steps(snapshot)
    assert profiled.tolist() == [1, 2], "by their mark, or by what was recorded"
    steps = snapshot.steps["step"]
    assert steps[without_steps(slice(None), steps, profiled)].tolist() == [0, 3]
    assert steps[without_steps(steps > 0, steps, profiled)].tolist() == [3]
    nothing = profiled[:0]
    assert without_steps(slice(None), steps, nothing) == slice(None)


def kernels(step: int) -> KernelsRecorded:
    return KernelsRecorded(
        step=step, names=(), streams=(), start_ns=(), duration_ns=(), span_indexes=()
    )
