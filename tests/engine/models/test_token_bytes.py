"""Bytes of tokens: the byte alphabet is a bijection, pieces mean what SentencePiece says."""

from engine.models.token_bytes import byte_alphabet, is_byte_level, vocabulary_bytes


def test_the_alphabet_covers_every_byte_once():
    alphabet = byte_alphabet()
    assert sorted(alphabet.values()) == list(range(256))
    assert alphabet["A"] == 0x41
    assert alphabet["\u0120"] == 0x20  # a space
    assert alphabet["\u010a"] == 0x0A  # a line feed


def test_byte_level_tokens():
    tokens = ["<s>", "\u0120the", "\u00c3", "\u00a9", "<tool>", "\u4e16"]
    found = vocabulary_bytes(tokens, is_byte_level=True, literal=[0, 4], special=[0])
    assert found == [b"", b" the", b"\xc3", b"\xa9", b"<tool>", "\u4e16".encode()]


def test_sentence_pieces():
    tokens = ["<s>", "\u2581the", "<0xE4>", "\u4e16", "<0xZZ>"]
    found = vocabulary_bytes(tokens, is_byte_level=False, literal=[], special=[0])
    assert found == [b"", b" the", b"\xe4", "\u4e16".encode(), b"<0xZZ>"]


def test_the_decoder_tells_the_kind():
    assert is_byte_level('{"decoder": {"type": "ByteLevel"}}')
    assert is_byte_level('{"decoder": {"type": "Sequence", "decoders": [{"type": "ByteLevel"}]}}')
    assert not is_byte_level('{"decoder": {"type": "ByteFallback"}}')
    assert not is_byte_level('{"decoder": null}')
