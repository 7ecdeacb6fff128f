"""Text to ids and back, byte for byte."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, normalizers
from tokenizers import models as tokenizer_models
from transformers import PreTrainedTokenizerFast

from engine.models.catalog import resolve
from engine.models.pretrained_tokenizer import PretrainedTokenizer, read_backend
from engine.wire.config import ConfigError


def open_tokenizer(folder, *, n_tokens=300):
    backend = read_backend(resolve(str(folder)), trust_remote_code=False)
    return PretrainedTokenizer(backend, name="tiny", eos_ids=frozenset({2, 900}), n_tokens=n_tokens)


@pytest.fixture(scope="module")
def folder(make_model):
    return make_model()


@pytest.fixture(scope="module")
def tokenizer(folder):
    return open_tokenizer(folder)


@given(text=st.text(min_size=1).filter(str.strip))
@settings(deadline=None)
def test_bytes_of_tokens_are_the_text(tokenizer, text):
    token_ids = tokenizer.encode(text, chat=False)
    raw = b"".join(tokenizer.token_bytes(token_id) for token_id in token_ids)
    assert raw.decode("utf-8") == text
    assert tokenizer.decode(token_ids) == text


@given(token_ids=st.lists(st.integers(0, 299), max_size=20))
@settings(deadline=None)
def test_decoding_agrees_with_the_library_on_any_ids(tokenizer, folder, token_ids):
    backend = read_backend(resolve(str(folder)), trust_remote_code=False)
    theirs = backend.decode(token_ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    assert tokenizer.decode(token_ids) == theirs


def test_half_an_emoji_is_bytes(tokenizer):
    token_ids = tokenizer.encode("\U0001f600", chat=False)
    assert [tokenizer.token_bytes(token_id) for token_id in token_ids] == [
        b"\xf0",
        b"\x9f",
        b"\x98",
        b"\x80",
    ]
    assert tokenizer.decode(token_ids[:2]) == "\ufffd"


def test_special_and_unused_ids_mean_no_text(tokenizer):
    assert [tokenizer.token_bytes(token_id) for token_id in (0, 1, 2, 300, -1)] == [b""] * 5


def test_only_known_ids_end_the_text(tokenizer):
    assert tokenizer.eos_ids == {2}


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_prompt_is_refused(tokenizer, text):
    with pytest.raises(ConfigError, match="empty"):
        tokenizer.encode(text, chat=False)


def test_chat_needs_a_template(tokenizer):
    with pytest.raises(ConfigError, match="tiny has no chat template"):
        tokenizer.encode("hello", chat=True)


def test_chat_wraps_the_prompt_and_opens_the_answer(make_model):
    tokenizer = open_tokenizer(make_model(chat=True))
    plain = tokenizer.encode("the fox", chat=False)
    assert tokenizer.encode("the fox", chat=True) == [1, *plain, 2, 1]


def test_ids_beyond_the_shared_ones_are_refused(folder):
    tokenizer = open_tokenizer(folder, n_tokens=270)
    with pytest.raises(ConfigError, match="only one of the two models"):
        tokenizer.encode("the quick brown fox jumps", chat=False)


def test_sentence_pieces_with_byte_fallback():
    pieces = ["<unk>", "<s>", *(f"<0x{byte:02X}>" for byte in range(256)), "\u2581", "a", "b"]
    model = tokenizer_models.BPE(
        {piece: index for index, piece in enumerate(pieces)},
        [],
        unk_token="<unk>",
        byte_fallback=True,
    )
    rust = Tokenizer(model)
    rust.normalizer = normalizers.Replace(" ", "\u2581")
    rust.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    backend = PreTrainedTokenizerFast(tokenizer_object=rust, unk_token="<unk>", bos_token="<s>")
    tokenizer = PretrainedTokenizer(
        backend, name="pieces", eos_ids=frozenset(), n_tokens=len(pieces)
    )
    text = "a b\u4e16"
    token_ids = tokenizer.encode(text, chat=False)
    assert b"".join(map(tokenizer.token_bytes, token_ids)) == text.encode()
    assert tokenizer.decode(token_ids) == text == backend.decode(token_ids)
