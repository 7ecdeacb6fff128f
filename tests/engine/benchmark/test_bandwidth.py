import pytest
import torch

from engine.benchmark.bandwidth import N_AT_ONCE, N_TRIES, copy_bytes_per_s, read_bytes_per_s
from tests.engine.benchmark.host_timer import HostTimer

CPU = torch.device("cpu")


class Told(HostTimer):
    """Says of each stretch what it is given, in ns."""

    def __init__(self, *told_ns: int | None) -> None:
        super().__init__()
        self.told_ns = list(told_ns)

    def read_ns(self, marks: list) -> list[int | None]:
        return [self.told_ns.pop(0) for _ in marks]


def test_a_copy_counts_what_it_reads_and_what_it_writes() -> None:
    timer = Told(*[8_000] * (N_TRIES - 1), 4_000)
    # The best try: 4 copies of 1,000 bytes in 4 us, each 1,000 read and 1,000 written in 1 us.
    assert copy_bytes_per_s(CPU, timer, n_bytes=1000) == pytest.approx(2 * 1000 / 1e-6)
    assert N_AT_ONCE == 4
    assert timer.told_ns == []


def test_reading_counts_each_byte_once() -> None:
    timer = Told(None, *[4_000] * (N_TRIES - 1))
    assert read_bytes_per_s(CPU, timer, n_bytes=1000) == pytest.approx(1000 / 1e-6)


def test_memory_moves_at_some_speed() -> None:
    for measure in (copy_bytes_per_s, read_bytes_per_s):
        assert 1e8 < measure(CPU, HostTimer(), n_bytes=1 << 22) < 1e13
