"""Which vocabularies go together, and what the refusal of the others says."""

import dataclasses

import pytest

from engine.wire.config import ConfigError
from engine.wire.vocabulary import Vocabulary, share_vocabulary, single_vocabulary

TOKENS = {token_id: f"t{token_id}" for token_id in range(100)}
TARGET = Vocabulary("big", TOKENS, frozenset({0, 1}), {"bos": 0, "eos": 1}, 128)
DRAFT = dataclasses.replace(TARGET, name="small", n_logits=104)


def test_the_same_tokens_with_other_padding():
    shared = share_vocabulary(TARGET, DRAFT)
    assert shared.n_tokens == 100
    (note,) = shared.notes
    assert "tail padding differs" in note
    assert "128" in note
    assert "104" in note


def test_the_same_vocabulary_needs_no_note():
    assert share_vocabulary(TARGET, TARGET).notes == ()
    assert single_vocabulary(TARGET).n_tokens == 100


def test_fewer_logits_than_tokens_limit_the_tokens():
    assert dataclasses.replace(TARGET, n_logits=90).n_tokens == 90


def test_the_first_different_id_is_named():
    swapped = {**TOKENS, 40: "t41", 41: "t40"}
    with pytest.raises(ConfigError, match=r"id 40 is 't40' in the target and 't41' in the draft"):
        share_vocabulary(TARGET, dataclasses.replace(DRAFT, tokens=swapped))


def test_an_id_that_only_one_uses_is_named():
    holes = {token_id: token for token_id, token in TOKENS.items() if token_id != 7}
    with pytest.raises(ConfigError, match="id 7 is 't7' in the target and not used in the draft"):
        share_vocabulary(TARGET, dataclasses.replace(DRAFT, tokens=holes))


@pytest.mark.parametrize("mark", ["bos", "eos", "pad"])
def test_special_roles_must_agree(mark):
    target = dataclasses.replace(TARGET, marks={mark: 3})
    with pytest.raises(ConfigError, match=f"{mark} token: id 3 .'t3'.* id 4 .'t4'"):
        share_vocabulary(target, dataclasses.replace(DRAFT, marks={mark: 4}))
    share_vocabulary(target, dataclasses.replace(DRAFT, marks={}))


def test_more_special_tokens_at_the_end_are_a_warning():
    more = dataclasses.replace(
        TARGET, tokens={**TOKENS, 100: "<tool>"}, special_ids=frozenset({0, 1, 100})
    )
    for pair in ((more, TARGET), (TARGET, more)):
        shared = share_vocabulary(*pair)
        assert shared.n_tokens == 100
        assert "'<tool>'" in shared.notes[0]


def test_more_ordinary_tokens_are_refused():
    more = dataclasses.replace(DRAFT, tokens={**TOKENS, 100: "word"})
    with pytest.raises(ConfigError, match="id 100 is 'word'"):
        share_vocabulary(TARGET, more)


def test_the_draft_must_know_the_end_of_text():
    target = dataclasses.replace(
        TARGET,
        tokens={**TOKENS, 100: "<end>"},
        special_ids=frozenset({100}),
        marks={"eos": 100},
    )
    with pytest.raises(ConfigError, match="end-of-text"):
        share_vocabulary(target, dataclasses.replace(DRAFT, marks={}))
