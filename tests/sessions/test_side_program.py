"""Packets of bytes come out as they went in, and a torn one is none."""

import io

import pytest

from sessions.side_program import read_packet, start_program, write_packet


def test_packets_come_back_in_order() -> None:
    stream = io.BytesIO()
    for packet in (b"a", b"\x00" * 100_000, b"last"):
        write_packet(stream, packet)
    stream.seek(0)
    assert [len(read_packet(stream)) for _ in range(4)] == [1, 100_000, 4, 0]


@pytest.mark.parametrize("n_left", [0, 5, 8, 10])
def test_a_torn_packet_is_the_end(n_left: int) -> None:
    stream = io.BytesIO()
    write_packet(stream, b"packet")
    assert read_packet(io.BytesIO(stream.getvalue()[:n_left])) == b""


def test_a_program_answers_through_its_standard_output() -> None:
    with start_program("platform") as process:
        assert process.stdout is not None
        assert process.stdout.read()
    assert process.returncode == 0
