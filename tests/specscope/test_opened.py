"""Stored sessions by name and by path, and the sentence for what is none."""

import gc
from pathlib import Path

import pytest

from specscope.opened import (
    BadSession,
    collector_at_rest,
    session_errors,
    stored_events,
    stored_snapshot,
)
from tests.specscope.stored import record


def test_by_name_and_by_path(data_folder: Path) -> None:
    path, events = record(name="mine")
    assert list(stored_events("mine")) == events
    assert list(stored_events(str(path))) == events
    assert len(stored_snapshot("mine").steps) == 2


def test_what_is_no_session_is_a_sentence(data_folder: Path) -> None:
    with pytest.raises(BadSession, match="There is no session 'nothing'") as failure:
        stored_snapshot("nothing")
    assert failure.value.exit_code == 2
    text = data_folder / "text.specscope"
    text.write_text("hello")
    with pytest.raises(BadSession):
        list(stored_events(str(text)))
    assert text.read_text() == "hello"


def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError), session_errors():
        raise ZeroDivisionError


def test_the_collector_works_again_whatever_happens() -> None:
    was_enabled = []

    def fail() -> None:
        with collector_at_rest():
            was_enabled.append(gc.isenabled())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert was_enabled == [False]
    assert gc.isenabled()
