"""Token ids to text while it comes: no character twice, none broken."""

import codecs

from engine.models.base import Tokenizer


class TokenTexts:
    """What a single token says, for chips and lists; remembered per id."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._texts: dict[int, str] = {}

    def __getitem__(self, token_id: int) -> str:
        """The token's text. Bytes that are no whole characters show as ``<F0><9F>``."""
        text = self._texts.get(token_id)
        if text is None:
            text = self._texts[token_id] = _readable(self._tokenizer.token_bytes(token_id))
        return text

    def of(self, token_ids: list[int] | tuple[int, ...]) -> tuple[str, ...]:
        texts = self._texts
        return tuple([texts.get(token_id) or self[token_id] for token_id in token_ids])


def _readable(token_bytes: bytes) -> str:
    try:
        return token_bytes.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(f"<{byte:02X}>" for byte in token_bytes)


class TextStream:
    """Running text of one sequence: each token adds the characters that it completes.

    Bytes wait here until their character is whole, so nothing that was shown is ever taken back.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def feed(self, token_id: int) -> str:
        """The text that this token completes; empty while a character is pending."""
        return self._decoder.decode(self._tokenizer.token_bytes(token_id))
