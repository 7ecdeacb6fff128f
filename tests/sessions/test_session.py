"""One source, one model, sinks that may fail."""

from collections.abc import Sequence

import pytest

from engine.wire.commands import Command, Pause, Resume
from engine.wire.events import Event
from sessions.session import BATCH, NoCommandTarget, Session, SinkError
from sessions.stream import ListSource
from tests.sessions.played import assert_same, drafted, snapshot_of


class Keeper:
    """A sink that keeps what it is given."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.n_closed = 0

    def consume(self, events: Sequence[Event]) -> None:
        self.events += events

    def close(self) -> None:
        self.n_closed += 1


class FullDisk(Keeper):
    """A sink that fails at its second batch."""

    def consume(self, events: Sequence[Event]) -> None:
        if self.events:
            raise OSError("no space left")
        super().consume(events)

    def close(self) -> None:
        super().close()
        raise OSError("still none")


class LiveSource(ListSource):
    """A source that can be told something."""

    def __init__(self, events: Sequence[Event]) -> None:
        super().__init__(events)
        self.commands: list[Command] = []
        self.n_closed = 0

    def send(self, command: Command) -> None:
        self.commands.append(command)

    def close(self) -> None:
        super().close()
        self.n_closed += 1


EVENTS = drafted([2] * 400, 4)


def test_every_event_reaches_the_model_and_the_sinks() -> None:
    keepers = [Keeper(), Keeper()]
    session = Session(ListSource(EVENTS), keepers)
    assert not session.is_over
    assert session.advance(1e9) == len(EVENTS) > 2 * BATCH
    assert session.is_over
    assert session.advance(1e9) == 0
    assert_same(session.snapshot(), snapshot_of(EVENTS))
    for keeper in keepers:
        assert keeper.events == EVENTS
    assert session.errors == ()


def test_the_budget_is_kept_and_one_batch_always_taken() -> None:
    now_ms = [0.0]

    def clock() -> int:
        now_ms[0] += 3.0  # every look takes three milliseconds
        return round(now_ms[0] * 1e6)

    session = Session(ListSource(EVENTS), clock=clock)
    assert session.advance(5.0) == 2 * BATCH
    assert session.advance(0.0) == len(EVENTS[2 * BATCH :][:BATCH])


def test_a_sink_that_fails_is_shown_and_harms_nobody() -> None:
    disk, keeper = FullDisk(), Keeper()
    session = Session(ListSource(EVENTS), [disk, keeper])
    session.advance(1e9)
    assert session.errors == (SinkError("FullDisk", "OSError: no space left"),)
    assert disk.events == EVENTS[:BATCH]  # no hole: it ends there
    assert keeper.events == EVENTS
    assert len(session.snapshot().steps) == 400
    session.close()
    session.close()
    assert (disk.n_closed, keeper.n_closed) == (1, 1)
    assert session.errors[-1].message == "OSError: still none"


def test_commands_go_to_a_source_that_takes_them() -> None:
    source = LiveSource(EVENTS)
    session = Session(source)
    assert session.takes_commands
    session.send(Pause())
    assert source.commands == [Pause()]
    session.close()
    assert source.n_closed == 1
    assert session.is_over
    assert not session.takes_commands
    with pytest.raises(NoCommandTarget):
        session.send(Resume())
    assert session.advance(1e9) == 0


def test_a_recording_takes_none_unless_somebody_does_for_it() -> None:
    session = Session(ListSource([]))
    assert not session.takes_commands
    with pytest.raises(NoCommandTarget, match="recording"):
        session.send(Pause())
    engine = LiveSource([])
    Session(ListSource([]), commands=engine).send(Pause())
    assert engine.commands == [Pause()]
