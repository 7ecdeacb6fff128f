"""Refuses events that are valid field by field and not as a whole: files come from anywhere."""

from collections.abc import Iterable

from engine.wire.events import DraftProposed, DraftVerified, Event, KernelsRecorded, SpansMeasured
from sessions.export.options import ExportError

LARGEST_NS = 2**53
"""A hundred days; what a reader of doubles still tells apart."""

_WITH_LISTS = {SpansMeasured, KernelsRecorded, DraftProposed, DraftVerified}


def check_shapes(events: Iterable[Event]) -> None:
    """``check_shape`` of each."""
    for event in events:
        if event.__class__ in _WITH_LISTS or event.t_ns > LARGEST_NS:
            check_shape(event)


def check_shape(event: Event) -> None:
    """Raises ExportError with a sentence: lists of one event differ in length, or a time is
    negative or longer than ``LARGEST_NS``."""
    if event.t_ns > LARGEST_NS:
        _refuse(event, f"its time, {event.t_ns} ns, is too large")
    if type(event) not in _WITH_LISTS:
        return
    match event:
        case SpansMeasured():
            spans = (event.names, event.roles, event.start_ns, event.host_ns)
            _check_lengths(event, (*spans, event.gpu_ns, event.n_flops, event.n_bytes))
            _check_times(event, event.start_ns)
            _check_times(event, event.host_ns)
        case KernelsRecorded():
            kernels = (event.names, event.streams, event.start_ns, event.duration_ns)
            _check_lengths(event, (*kernels, event.span_indexes))
            _check_times(event, event.start_ns, smallest=-LARGEST_NS)  # a device's clock may be off
            _check_times(event, event.duration_ns)
        case DraftProposed():
            _check_lengths(event, (event.token_ids, event.token_texts, event.draft_probs))
        case DraftVerified():
            words = (event.token_ids, event.token_texts, event.fates)
            probs = (event.draft_probs, event.target_probs, event.overlaps, event.uniforms)
            sure = (event.draft_confidences, event.target_confidences, event.target_entropies)
            _check_lengths(event, (*words, *probs, *sure))


def _check_lengths(event: Event, columns: tuple[tuple[object, ...], ...]) -> None:
    if len(set(map(len, columns))) > 1:
        _refuse(event, "its lists differ in length")


def _check_times(event: Event, times: tuple[int, ...], *, smallest: int = 0) -> None:
    if times and (min(times) < smallest or max(times) > LARGEST_NS):
        _refuse(event, "a time in it is negative or too large")


def _refuse(event: Event, why: str) -> None:
    raise ExportError(f"Event {event.ordinal} ({type(event).__name__}) is damaged: {why}.")
