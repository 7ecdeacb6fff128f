"""A refusal is a sentence before anything was decoded."""

import pytest

from engine.wire.events import EndReason
from sessions.refusal import is_refusal


@pytest.mark.parametrize(
    ("reason", "detail", "has_sequence", "expected"),
    [
        (EndReason.FAILED, "There is no such model.", False, True),
        (EndReason.FAILED, "There is no such model.", True, False),
        (EndReason.FAILED, "Traceback\nValueError: x", False, False),
        (EndReason.CRASHED, "It was killed.", False, False),
        (EndReason.FINISHED, "", False, False),
    ],
)
def test_a_sentence_before_any_sequence(
    reason: EndReason, detail: str, has_sequence: bool, expected: bool
) -> None:
    assert is_refusal(reason, detail, has_sequence=has_sequence) is expected
