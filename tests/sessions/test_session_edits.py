"""Names, notes and tags are texts of bounded length."""

import pytest

from sessions.session_edits import checked_name, checked_notes, checked_tags
from sessions.session_errors import SessionFileError


def test_what_can_be_kept_is_kept() -> None:
    assert checked_name(" a name\n") == "a name"
    assert checked_notes(" as it is \n") == " as it is \n"
    assert checked_tags([" b", "a", "b", " "]) == ["b", "a"]
    assert checked_name("x" * 200) == "x" * 200


@pytest.mark.parametrize("text", ["x" * 201, "\ud800", "a\0b"])
def test_what_cannot_is_refused(text: str) -> None:
    with pytest.raises(SessionFileError, match="The name"):
        checked_name(text)
    with pytest.raises(SessionFileError, match="The tag"):
        checked_tags([text])


def test_there_is_an_end_to_notes_and_tags() -> None:
    with pytest.raises(SessionFileError, match="at most 1000000"):
        checked_notes("x" * 1_000_001)
    with pytest.raises(SessionFileError, match="at most 100 tags"):
        checked_tags(map(str, range(101)))
