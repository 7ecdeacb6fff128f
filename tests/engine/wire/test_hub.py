"""A hub may answer where something listens, or where a proxy knows the way."""

import socket

import pytest

from engine.wire import hub
from engine.wire.hub import may_answer


def test_what_listens_may_answer_and_nothing_does_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "getproxies", dict)
    with socket.create_server(("127.0.0.1", 0)) as server:
        endpoint = f"http://127.0.0.1:{server.getsockname()[1]}"
        assert may_answer(endpoint, is_offline=False)
        assert not may_answer(endpoint, is_offline=True)
    assert not may_answer(endpoint, is_offline=False)
    monkeypatch.setattr(hub, "getproxies", lambda: {"http": "somewhere"})
    assert may_answer(endpoint, is_offline=False)
