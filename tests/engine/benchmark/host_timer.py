"""A device's clock for tests: the host's."""

import time
from typing import Any


class HostTimer:
    """Marks are readings in ns. ``n_holds`` counts how often the device was to be kept busy."""

    def __init__(self) -> None:
        self.n_holds = 0

    def mark(self) -> int:
        return time.perf_counter_ns()

    def hold(self, hold_ns: int) -> None:
        self.n_holds += 1

    def read_ns(self, marks: list[tuple[Any, Any]]) -> list[int | None]:
        return [end - start for start, end in marks]

    def starts_ns(self, marks: list[tuple[Any, Any]]) -> list[int | None]:
        return [start for start, _ in marks]
