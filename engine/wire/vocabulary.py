"""Decides from two vocabularies whether one model's tokens mean the same to the other.

Here and not beside the models: whoever offers models needs it before any is loaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.wire.config import ConfigError


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of one model."""

    name: str  # of the model
    tokens: Mapping[int, str]
    special_ids: frozenset[int]
    marks: Mapping[str, int]  # "bos", "eos", "pad" -> id, those that are set
    n_logits: int  # width of the logits; ids beyond the tokens are padding

    @property
    def n_tokens(self) -> int:
        """Ids in use, as far as there are logits for them."""
        return min(max(self.tokens, default=-1) + 1, self.n_logits)


@dataclass(frozen=True)
class SharedVocabulary:
    """What both models know: ids below ``n_tokens``; the others are to be masked."""

    n_tokens: int
    notes: tuple[str, ...]


def single_vocabulary(vocabulary: Vocabulary) -> SharedVocabulary:
    """A model on its own."""
    return SharedVocabulary(vocabulary.n_tokens, ())


def share_vocabulary(target: Vocabulary, draft: Vocabulary) -> SharedVocabulary:
    """The ids that mean the same to both.

    Tokens that one side has beyond the other's end are tolerated where they are special ones, with
    a note; so are logits of different widths.

    Raises:
        ConfigError: an id means different tokens, or a special role has different ids.
    """
    n_shared = min(target.n_tokens, draft.n_tokens)
    for token_id in range(n_shared):
        mine, theirs = target.tokens.get(token_id), draft.tokens.get(token_id)
        if mine != theirs:
            raise ConfigError(
                f"{target.name} and {draft.name} have different vocabularies: id {token_id} is "
                f"{_quoted(mine)} in the target and {_quoted(theirs)} in the draft. Pick a "
                "draft of the target's family, or ngram, which drafts for any target."
            )
    for mark in ("bos", "eos", "pad"):
        my_id, their_id = target.marks.get(mark), draft.marks.get(mark)
        if my_id is not None and their_id is not None and my_id != their_id:
            raise ConfigError(
                f"{target.name} and {draft.name} disagree on the {mark} token: "
                f"id {my_id} ({_quoted(target.tokens.get(my_id))}) in the target and "
                f"id {their_id} ({_quoted(draft.tokens.get(their_id))}) in the draft. "
                "Pick a draft of the target's family, or ngram."
            )
    notes = []
    for longer, shorter in ((target, draft), (draft, target)):
        n_more = longer.n_tokens - n_shared
        if n_more <= 0:
            continue
        more = range(n_shared, longer.n_tokens)
        ordinary = [token_id for token_id in more if token_id not in longer.special_ids]
        if ordinary:
            token = _quoted(longer.tokens.get(ordinary[0]))
            raise ConfigError(
                f"{longer.name} has {longer.n_tokens} tokens, {shorter.name} {shorter.n_tokens}: "
                f"id {ordinary[0]} is {token} in the one and nothing in the other. "
                "Pick a draft of the target's family, or ngram."
            )
        notes.append(
            f"{longer.name} has {n_more} special tokens that {shorter.name} lacks (from id "
            f"{n_shared}, {_quoted(longer.tokens.get(n_shared))}): they are never emitted"
        )
    if target.marks.get("eos", 0) >= n_shared:
        raise ConfigError(
            f"{draft.name} does not know the end-of-text token of {target.name} (id "
            f"{target.marks['eos']}): pick a draft of the target's family, or ngram."
        )
    if target.n_logits != draft.n_logits:
        notes.append(
            f"tail padding differs: {target.n_logits} logits in the target, {draft.n_logits} "
            f"in the draft, {n_shared} tokens in both; ids from {n_shared} on are masked"
        )
    return SharedVocabulary(n_shared, tuple(notes))


def _quoted(token: str | None) -> str:
    return "not used" if token is None else repr(token)
