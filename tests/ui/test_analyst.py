"""Digests: quick ones at once, slow ones beside, errors told."""

import threading
import time

import pytest

from ui.analyst import AT_ONCE_MS, Analyst


def collected(analyst: Analyst) -> object:
    deadline = time.monotonic() + 5.0
    while time.monotonic() < deadline:
        if found := analyst.collect():
            return found[0]
        time.sleep(0.002)
    pytest.fail("nothing was digested")


def test_the_first_digest_is_made_at_once() -> None:
    digested = Analyst().ask("a", lambda: 7)
    assert digested is not None
    assert digested.digest == 7


def test_a_digest_that_took_long_is_made_on_another_thread() -> None:
    ticks = iter([0.0, AT_ONCE_MS / 1e3 * 2, 1.0, 1.0])
    analyst = Analyst(clock=lambda: next(ticks))
    analyst.ask("slow", lambda: 1)
    assert analyst.cost_ms("slow") == pytest.approx(2 * AT_ONCE_MS)
    assert analyst.ask("slow", threading.get_ident) is None
    assert analyst.is_busy("slow")
    digested = collected(analyst)
    assert digested.digest != threading.get_ident()  # type: ignore[attr-defined]
    assert not analyst.is_busy("slow")
    analyst.close()


def test_a_quick_one_is_at_once_again_after_a_slow_one() -> None:
    ticks = iter([0.0, 2.5 * AT_ONCE_MS / 1e3, *[2.0] * 8])
    analyst = Analyst(clock=lambda: next(ticks))
    analyst.ask("a", lambda: 1)
    for _ in range(2):  # what it is thought to cost falls by halves
        assert analyst.ask("a", lambda: 2) is None
        collected(analyst)
    assert analyst.ask("a", lambda: 3) is not None
    analyst.close()


def test_of_a_long_session_nothing_of_unknown_cost_is_made_at_once() -> None:
    analyst = Analyst()
    assert analyst.ask("a", threading.get_ident, is_long=True) is None
    assert collected(analyst).digest != threading.get_ident()  # type: ignore[attr-defined]
    assert analyst.ask("a", lambda: 1, is_long=True) is not None
    analyst.forget()
    assert analyst.ask("a", lambda: 1, is_long=True) is None
    analyst.close()


def test_an_error_is_told_and_not_raised() -> None:
    def fail() -> None:
        raise ValueError("no")

    digested = Analyst().ask("a", fail)
    assert digested is not None
    assert str(digested.error) == "no"


def test_closing_waits_for_the_digest_at_hand() -> None:
    ticks = iter([0.0, 1.0, *[2.0] * 9])
    analyst = Analyst(clock=lambda: next(ticks))
    analyst.ask("a", lambda: 1)
    done = []
    analyst.ask("a", lambda: done.append(time.sleep(0.05)))
    analyst.close()
    assert done == [None]
    analyst.close()
