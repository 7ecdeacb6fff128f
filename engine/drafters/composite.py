"""N-grams where they match, the draft model where they do not."""

from collections.abc import Sequence as Items

from msgspec.structs import replace

from engine.drafters.base import Draft, DraftRequest
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.ngram import NgramDrafter
from engine.sampling import SamplingParams
from engine.sequence import Sequence


class CompositeDrafter:
    """A match costs nothing, so it goes first; the model then drafts for the sequences without
    one."""

    def __init__(self, ngram: NgramDrafter, model: DraftModelDrafter) -> None:
        self._ngram = ngram
        self._model = self.model = model

    def fits(self, n_positions: int) -> bool:
        return self._model.fits(n_positions)

    def open(self, sequence: Sequence) -> None:
        self._ngram.open(sequence)
        self._model.open(sequence)

    def gamma_room(self, sequence: Sequence, gamma: int) -> tuple[int, str]:
        return gamma, ""

    def propose(self, requests: Items[DraftRequest], params: SamplingParams) -> list[Draft]:
        drafts = self._ngram.propose(requests, params)
        unmatched = [
            index
            for index, (request, draft) in enumerate(zip(requests, drafts, strict=True))
            if request.gamma and not draft.token_ids
        ]
        limited, reasons = [], []
        for index in unmatched:
            request = requests[index]
            gamma, reason = self._model.gamma_room(request.sequence, request.gamma)
            limited.append(replace(request, gamma=gamma))
            reasons.append(reason)
        proposed = self._model.propose(limited, params)
        for index, draft, reason in zip(unmatched, proposed, reasons, strict=True):
            drafts[index] = replace(draft, note=draft.note or reason)
        return drafts

    def settle(self, sequence: Sequence, *, step: int) -> None:
        self._model.settle(sequence, step=step)

    def close(self, sequence_id: int) -> None:
        self._ngram.close(sequence_id)
        self._model.close(sequence_id)
