from typing import Any

from engine.drafters.base import DraftRequest
from engine.drafters.none import NoDrafter, empty_draft
from engine.sampling import SamplingParams


def test_proposes_nothing_for_everybody() -> None:
    drafter = NoDrafter()
    sequence: Any = None
    drafter.open(sequence)
    assert drafter.fits(10**9)
    assert drafter.gamma_room(sequence, 8) == (0, "")
    requests = [DraftRequest(sequence, 8, [0.5] * 8) for _ in range(3)]
    drafts = drafter.propose(requests, SamplingParams())
    assert [(len(draft), draft.drafter, draft.logits) for draft in drafts] == [
        (0, "none", None)
    ] * 3
    assert drafts[0].token_probs() == []
    drafter.settle(sequence, step=0)
    drafter.close(0)


def test_an_empty_draft() -> None:
    draft = empty_draft(drafter="ngram", note="why")
    assert (len(draft), draft.drafter, draft.note, draft.n_non_finite) == (0, "ngram", "why", 0)
