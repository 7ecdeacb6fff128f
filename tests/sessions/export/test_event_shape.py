"""Damaged events are refused with a sentence, by every exporter."""

import contextlib
from pathlib import Path

import msgspec
import pytest

from engine.wire.events import DraftProposed, DraftVerified, KernelsRecorded, SpansMeasured
from sessions.export import EXPORTERS
from sessions.export.event_shape import LARGEST_NS, check_shape, check_shapes
from sessions.export.options import ExportError
from tests.support.export_streams import gpu_session, left_in

COLUMNS = {
    SpansMeasured: ("names", "roles", "start_ns", "host_ns", "gpu_ns", "n_flops", "n_bytes"),
    KernelsRecorded: ("names", "streams", "start_ns", "duration_ns", "span_indexes"),
    DraftProposed: ("token_ids", "token_texts", "draft_probs"),
    DraftVerified: (
        "token_ids", "token_texts", "draft_probs", "target_probs", "draft_confidences",
        "target_confidences", "overlaps", "target_entropies", "uniforms", "fates",
    ),
}  # fmt: skip


def one_of(kind: type) -> object:
    return next(event for event in gpu_session() if isinstance(event, kind))


def test_whole_events_pass() -> None:
    for event in gpu_session():
        check_shape(event)
    check_shapes(gpu_session())
    check_shapes([])


@pytest.mark.parametrize(
    ("kind", "column"), [(kind, column) for kind in COLUMNS for column in COLUMNS[kind]]
)
def test_lists_of_different_lengths_are_refused(kind: type, column: str) -> None:
    event = one_of(kind)
    damaged = msgspec.structs.replace(event, **{column: getattr(event, column)[:-1]})
    with pytest.raises(ExportError, match=rf"Event \d+ \({kind.__name__}\) is damaged: its lists"):
        check_shape(damaged)
    with pytest.raises(ExportError, match=rf"Event \d+ \({kind.__name__}\) is damaged: its lists"):
        check_shapes([*gpu_session(), damaged])


@pytest.mark.parametrize(
    ("kind", "column", "value"),
    [
        (SpansMeasured, "start_ns", -1),
        (SpansMeasured, "host_ns", -1),
        (SpansMeasured, "start_ns", LARGEST_NS + 1),
        (SpansMeasured, "gpu_start_ns", -1),
        (SpansMeasured, "gpu_start_ns", LARGEST_NS + 1),
        (KernelsRecorded, "duration_ns", -1),
        (KernelsRecorded, "start_ns", -LARGEST_NS - 1),
    ],
)
def test_impossible_times_are_refused(kind: type, column: str, value: int) -> None:
    event = one_of(kind)
    told = getattr(event, column) or event.start_ns  # a list that may be left out is left out
    damaged = msgspec.structs.replace(event, **{column: (value, *told[1:])})
    with pytest.raises(ExportError, match="negative or too large"):
        check_shape(damaged)
    with pytest.raises(ExportError, match="negative or too large"):
        check_shapes([*gpu_session(), damaged])


@pytest.mark.parametrize(
    ("starts", "lengths", "match"),
    [((5,), (5, 5), "differ in length"), ((None, 5), (None, LARGEST_NS + 1), "too large")],
)
def test_times_on_the_device_are_looked_at(
    starts: tuple[int, ...], lengths: tuple[int, ...], match: str
) -> None:
    event = one_of(SpansMeasured)
    first = {name: getattr(event, name)[:2] for name in COLUMNS[SpansMeasured]}
    whole = msgspec.structs.replace(event, **{**first, "gpu_ns": (None, 5)}, gpu_start_ns=(5, 5))
    check_shape(whole)
    with pytest.raises(ExportError, match=match):
        check_shape(msgspec.structs.replace(whole, gpu_start_ns=starts, gpu_ns=lengths))


def test_a_late_end_of_all_times_is_refused() -> None:
    late = msgspec.structs.replace(gpu_session()[3], t_ns=LARGEST_NS + 1)
    with pytest.raises(ExportError, match="its time"):
        check_shape(late)
    with pytest.raises(ExportError, match="its time"):
        check_shapes([late])


@pytest.mark.parametrize("name", EXPORTERS)
def test_every_exporter_refuses_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    events = [
        msgspec.structs.replace(event, token_ids=()) if isinstance(event, DraftVerified) else event
        for event in gpu_session()
    ]
    with pytest.raises(ExportError, match="is damaged"):
        EXPORTERS[name].write(events, tmp_path / "out")
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("name", EXPORTERS)
def test_absurd_numbers_are_written_or_refused(name: str, tmp_path: Path) -> None:
    changed = []
    for event in gpu_session():
        if isinstance(event, DraftVerified):
            event = msgspec.structs.replace(event, position=2**70, step=2**69)
        changed.append(event)
    changed[0] = msgspec.structs.replace(changed[0], started_unix_ns=2**90)
    with contextlib.suppress(ExportError):
        EXPORTERS[name].write(changed, tmp_path / "out")
    assert left_in(tmp_path) in ([], ["out"])
