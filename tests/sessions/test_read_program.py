"""What is read ahead comes as packets of the very events."""

import io
from pathlib import Path

import pytest

from engine.wire.events import KvAdvanced
from sessions.read_program import main, unpack_events
from sessions.side_program import read_packet
from tests.sessions.recorded import record, script


def test_it_is_a_program(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = record(tmp_path / "x.specscope", script())
    first, last = script()[3], script()[-2]
    main([str(path), str(first.ordinal), str(first.t_ns), str(last.ordinal), "KvAdvanced"])
    packets = io.BytesIO(capfdbinary.readouterr().out)
    found = []
    while packet := read_packet(packets):
        found += unpack_events(packet)
    assert found == [event for event in script()[4:-1] if not isinstance(event, KvAdvanced)]
    assert len(found) < len(script()) - 5
