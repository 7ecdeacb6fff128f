"""A program that tells how far it is: its progress, its result, its last words."""

import sys
from typing import Any

from specscope.told_program import run_told

PROGRAM = """
import sys
print('{"done": 1}'); print("a library's word"); print('{"done": 2}'); print('{"folder": "a"}')
print("first", file=sys.stderr); print("last", file=sys.stderr)
"""


def test_progress_and_result_are_told_apart() -> None:
    heard: list[int] = []

    def hear(message: dict[str, Any]) -> bool:
        if "done" not in message:
            return False
        heard.append(message["done"])
        return True

    told = run_told([sys.executable, "-c", PROGRAM], hear)
    assert heard == [1, 2]
    assert told.result == {"folder": "a"}
    assert told.last_words == "last"


def test_a_program_that_says_nothing() -> None:
    told = run_told([sys.executable, "-c", "raise SystemExit(3)"], lambda message: False)
    assert told.result == {}
    assert told.last_words == "it said nothing"
