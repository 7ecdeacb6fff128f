"""Draft tokens as rows: what a table of them holds, whatever file it goes to."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from engine.wire.events import DraftProposed, DraftVerified, Event, SequenceFinished
from sessions.export.options import ExportOptions, select


class TokenRow(NamedTuple):
    """One judged draft token. Probabilities and shares are in 0..1."""

    t_ns: int  # of the verdict, since the session's start
    sequence_id: int
    step: int
    draft_index: int  # 0-based within the draft
    position: int  # in the sequence, prompt included
    gamma: int | None  # asked for; None if the proposal was not told
    drafter: str | None
    token_id: int
    token_text: str
    draft_prob: float
    target_prob: float
    draft_confidence: float  # at temperature 1, before top-k and top-p
    target_confidence: float
    overlap: float  # sum over the vocabulary of the smaller of both probabilities
    target_entropy: float  # nats
    uniform: float  # the random number the token met
    fate: str  # accepted, rejected or discarded


UNITS = {"t_ns": "ns", "target_entropy": "nats"}


def token_rows(events: Iterable[Event], options: ExportOptions) -> Iterator[TokenRow]:
    """The draft tokens of a session in the order judged."""
    proposals: dict[int, DraftProposed] = {}  # the newest of each sequence
    for event, is_kept in select(events, options.part):
        match event:
            case DraftProposed():
                proposals[event.sequence_id] = event
            case SequenceFinished():
                proposals.pop(event.sequence_id, None)
            case DraftVerified() if is_kept and event.fates:
                proposal = proposals.get(event.sequence_id)
                if proposal is not None and proposal.step != event.step:
                    proposal = None
                yield from _rows(event, proposal)


def _rows(event: DraftVerified, proposal: DraftProposed | None) -> Iterator[TokenRow]:
    columns: Iterator[tuple[Any, ...]] = zip(
        event.token_ids,
        event.token_texts,
        event.draft_probs,
        event.target_probs,
        event.draft_confidences,
        event.target_confidences,
        event.overlaps,
        event.target_entropies,
        event.uniforms,
        event.fates,
        strict=True,
    )
    gamma = proposal.gamma if proposal else None
    drafter = proposal.drafter if proposal else None
    for index, (*values, fate) in enumerate(columns):
        told = (event.t_ns, event.sequence_id, event.step, index, event.position + index)
        yield TokenRow._make((*told, gamma, drafter, *values, str(fate)))
