"""The exact bytes of vocabulary entries: byte-level alphabets and SentencePiece pieces."""

import json
import re
from collections.abc import Collection

_BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_SPACE_PIECE = "\u2581"  # SentencePiece writes a space as this


def byte_alphabet() -> dict[str, int]:
    """Character -> byte of byte-level BPE: printable Latin-1 stands for itself, the other bytes for
    the characters from U+0100 on."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    alphabet = {chr(byte): byte for byte in printable}
    hidden = [byte for byte in range(256) if byte not in printable]
    alphabet.update({chr(0x100 + index): byte for index, byte in enumerate(hidden)})
    return alphabet


def vocabulary_bytes(
    tokens: list[str], *, is_byte_level: bool, literal: Collection[int], special: Collection[int]
) -> list[bytes]:
    """Bytes of every token of a vocabulary, in id order.

    ``literal`` ids were added as plain text and mean just that; ``special`` ids mean no text.
    """
    convert = _byte_level if is_byte_level else _sentence_piece
    literal, special = frozenset(literal), frozenset(special)
    alphabet = byte_alphabet()
    return [
        b""
        if token_id in special
        else token.encode("utf-8")
        if token_id in literal
        else convert(token, alphabet)
        for token_id, token in enumerate(tokens)
    ]


def is_byte_level(tokenizer_json: str) -> bool:
    """Whether a serialised tokenizer decodes through the byte alphabet."""
    return '"ByteLevel"' in json.dumps(json.loads(tokenizer_json).get("decoder") or {})


def _byte_level(token: str, alphabet: dict[str, int]) -> bytes:
    try:
        return bytes([alphabet[character] for character in token])
    except KeyError:  # not written in the alphabet: the text itself
        return token.encode("utf-8")


def _sentence_piece(token: str, _alphabet: dict[str, int]) -> bytes:
    byte = _BYTE_PIECE.fullmatch(token)
    if byte is not None:
        return bytes([int(byte[1], 16)])
    return token.replace(_SPACE_PIECE, " ").encode("utf-8")
