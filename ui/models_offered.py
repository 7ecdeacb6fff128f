"""What the run dialog offers as targets and drafts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedModel:
    """A name that may be typed, what it is in words, and whether its files are here."""

    name: str
    words: str  # "9.3 M parameters, bundled"
    is_here: bool
    context_length: int | None = None  # tokens, the prompt's too; None where it is not known


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedDraft:
    """Something that may draft for a target; ``refusal`` says why not, "" when it may."""

    name: str
    words: str
    refusal: str = ""
