"""What a person may write into a session file: name, notes and tags."""

from collections.abc import Iterable

from sessions.session_errors import SessionFileError

MAX_NAME_CHARACTERS = 200
MAX_NOTES_CHARACTERS = 1_000_000
MAX_TAGS = 100


def checked_name(name: str) -> str:
    """``name`` without blanks around it; raises SessionFileError when it cannot be kept."""
    return _text(name.strip(), MAX_NAME_CHARACTERS, "name")


def checked_notes(notes: str) -> str:
    """``notes`` as they are; raises SessionFileError when they cannot be kept."""
    return _text(notes, MAX_NOTES_CHARACTERS, "notes")


def checked_tags(tags: Iterable[str]) -> list[str]:
    """``tags`` once each, empty ones left out; raises SessionFileError when one cannot be kept."""
    kept = list(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
    if len(kept) > MAX_TAGS:
        raise SessionFileError(f"A session has at most {MAX_TAGS} tags: leave some out.")
    return [_text(tag, MAX_NAME_CHARACTERS, "tag") for tag in kept]


def _text(text: str, limit: int, what: str) -> str:
    if len(text) > limit:
        raise SessionFileError(
            f"The {what} would have {len(text)} characters: at most {limit} are kept."
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SessionFileError(f"The {what} holds a character that is no text: {error}.") from error
    if "\0" in text:
        raise SessionFileError(f"The {what} holds a zero character: leave it out.")
    return text
