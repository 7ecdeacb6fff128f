"""Equal lines in equal order are the same events, however they are handed over."""

from sessions.lines_digest import EventsIdentity, LinesDigest


def identity(*lines: bytes) -> EventsIdentity:
    digest = LinesDigest()
    for ordinal, line in enumerate(lines):
        digest.add([line], n=1, last_ordinal=ordinal)
    return digest.identity


def test_lines_may_come_singly_or_joined() -> None:
    joined = LinesDigest()
    joined.add([b"a", b"b"], n=2, last_ordinal=1)
    joined.add([b"c\nd"], n=2, last_ordinal=3)
    assert joined.identity == identity(b"a", b"b", b"c", b"d")


def test_another_line_number_or_order_is_another_identity() -> None:
    known = identity(b"a", b"b")
    assert known.n_events == 2
    assert known.last_ordinal == 1
    assert known != identity(b"b", b"a")
    assert known != identity(b"a")
    assert known != identity(b"ab")
    assert LinesDigest().identity.last_ordinal == -1
