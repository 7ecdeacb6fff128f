"""What is said of a session as a whole."""

import msgspec

from engine.wire.events import EventsDropped, GpuSampled, LogEmitted
from sessions.export.facts import MAX_NOTES, ExportFacts, own_version
from tests.support.export_streams import gpu_session, plain_session


def facts_of(events: list) -> ExportFacts:
    facts = ExportFacts()
    for event in events:
        facts.note(event)
    return facts


def test_a_session_is_described() -> None:
    facts = facts_of(gpu_session())
    assert facts.started_utc == "2023-11-14T22:13:20Z"
    assert [model.name for model in facts.models] == ["scripted-draft", "scripted-target"]
    assert facts.gpus["GPU-1"].total_memory_bytes == 80 << 30
    assert facts.ended is not None
    assert own_version()


def test_a_process_has_a_number_that_fits_everywhere() -> None:
    first = plain_session()[0]
    numbers = {
        facts_of([msgspec.structs.replace(first, started_unix_ns=10**18 + i)]).process_id
        for i in range(200)
    }
    assert len(numbers) > 195
    assert all(0 < number < 2**24 - 1 for number in numbers)


def test_a_reading_that_went_missing_does_not_erase_what_was_known() -> None:
    known = next(event for event in gpu_session() if isinstance(event, GpuSampled))
    lost = msgspec.structs.replace(known, memory_total_bytes=None)
    assert facts_of([known, lost]).gpus["GPU-1"].total_memory_bytes == 80 << 30


def test_notes_are_bounded_and_losses_added_up() -> None:
    logs = [LogEmitted(level="error", message=str(i)) for i in range(MAX_NOTES + 5)]
    drops = [EventsDropped(n_events=2, kinds=(kind,)) for kind in ("SpansMeasured", "HostSampled")]
    facts = facts_of([*logs, *drops])
    assert (len(facts.logs), facts.n_more_logs, facts.n_dropped) == (MAX_NOTES, 5, 4)
    assert facts.dropped_kinds == {"SpansMeasured", "HostSampled"}
