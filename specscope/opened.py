"""A stored session, found and read; its errors as the command line tells them."""

import gc
from collections.abc import Iterator
from contextlib import closing, contextmanager

import click

from engine.wire.events import Event
from sessions.library import Library
from sessions.opening import open_session
from sessions.replay import StoredSource
from sessions.session_errors import SessionFileError
from sessions.snapshot import Snapshot

BATCH_LIMIT = 5000


class BadSession(click.ClickException):
    """A session that cannot be read."""

    exit_code = 2


@contextmanager
def session_errors() -> Iterator[None]:
    """What is wrong with a session file is told in its sentence, with exit code 2."""
    try:
        yield
    except SessionFileError as error:
        raise BadSession(str(error)) from error


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """No search for cycles while millions of events pass by: they have none, and looking at them
    takes a tenth of an export's time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def stored_source(name: str) -> StoredSource:
    """The events of the session that a person means by ``name``.

    Raises:
        BadSession: there is none, or it cannot be opened.
    """
    with session_errors():
        library = Library()
        return StoredSource(library.open(library.find(name)))


def stored_events(name: str) -> Iterator[Event]:
    """All events, in order. Raises BadSession where the file is damaged."""
    source = stored_source(name)
    with closing(source), session_errors():
        while not source.exhausted:
            yield from source.poll(BATCH_LIMIT)


def stored_snapshot(name: str) -> Snapshot:
    """The whole session, folded. Raises BadSession."""
    with session_errors():
        session = open_session(Library().find(name))
        with closing(session):
            session.read_all()
    return session.snapshot()
