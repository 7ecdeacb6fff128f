"""Sessions beside each other: the baseline first, the shown one always among them."""

import msgspec

from engine.wire.config import RunConfig
from tests.support.scripted_sessions import script_of, session_of
from ui.open_session import OpenSession
from ui.side_by_side import MAX_SIDE_BY_SIDE, baseline_of, first_to_show, side_by_side
from ui.workshop import Started


def opened(name: str, *, draft: str = "bundled-draft", n_steps: int = 5) -> OpenSession:
    script = script_of(n_steps)
    config = msgspec.json.encode(RunConfig(draft=draft)).decode()
    first = msgspec.structs.replace(script.events[0], config_json=config)  # type: ignore[type-var]
    script.events[0] = first
    session = OpenSession(Started(name, session_of(script), None))
    session.playhead.advance(0, session.end_ns)
    return session


def test_one_alone_stands_beside_nothing() -> None:
    one = opened("a")
    assert side_by_side(one, [one]) == ()
    assert first_to_show([one]) is None
    assert baseline_of(one, [one]) is None


def test_the_baseline_is_first_and_measured_against() -> None:
    one, plain, other = opened("a"), opened("plain", draft="none"), opened("b")
    sessions = [one, plain, other]
    assert [each.name for each in side_by_side(one, sessions)] == ["plain", "a", "b"]
    assert first_to_show([plain, one]) is one
    assert baseline_of(one, sessions) is plain.newest()
    assert baseline_of(plain, sessions) is None


def test_heads_are_short_and_tell_them_apart() -> None:
    named = side_by_side(*_opened(["a run: none", "a run: ngram"]))
    assert [each.name for each in named] == ["none", "ngram"]
    assert [each.whole_name for each in named] == ["a run: none", "a run: ngram"]
    stem = "2026-11-30_05-30-12_bundled-target+bundled-draft"
    assert [each.name for each in side_by_side(*_opened([stem, stem + "-2"]))] == [
        "bundled-draft gamma 4", "bundled-draft gamma 4 #2"
    ]  # fmt: skip


def _opened(names: list[str]) -> tuple[OpenSession, list[OpenSession]]:
    sessions = [opened(name) for name in names]
    return sessions[0], sessions


def test_the_shown_one_is_always_among_them() -> None:
    sessions = [opened(str(number)) for number in range(6)]
    names = [each.name for each in side_by_side(sessions[5], sessions)]
    assert len(names) == MAX_SIDE_BY_SIDE
    assert "5" in names


def test_each_is_as_far_from_its_beginning_as_the_shown_one() -> None:
    one, other = opened("a", n_steps=9), opened("b", n_steps=9)
    one.playhead.scrub(one.begin_ns + 30_000_000)
    moments = [each.snapshot.t_ns for each in side_by_side(one, [one, other])]
    assert moments == [one.begin_ns + 30_000_000, other.begin_ns + 30_000_000]


def test_speed_is_measured_against_the_baseline_of_the_table() -> None:
    """Also in the midst of a replay, and of several without a draft against the first."""
    one, plain = opened("a", n_steps=9), opened("plain", draft="none", n_steps=9)
    again = opened("again", draft="none", n_steps=9)
    sessions = [one, plain, again]
    one.playhead.scrub(one.begin_ns + 30_000_000)
    baseline = baseline_of(one, sessions)
    assert baseline is not None
    first = side_by_side(one, sessions)[0]
    assert first.name == "plain"
    assert baseline.t_ns == first.snapshot.t_ns < plain.end_ns
    assert len(baseline.steps) == len(first.snapshot.steps)
    assert baseline_of(again, sessions) is not None
    assert baseline_of(plain, sessions) is None
