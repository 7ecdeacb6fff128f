"""Analyst: runs the panels' digests, on a thread of its own when they take long.

A digest is a pure function of frozen prefixes, and numpy lets go of the interpreter in its long
loops, so a session of a million tokens is analysed beside a picture that keeps moving. Small
sessions are digested at once: what is shown is then never older than the tick.
"""

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

AT_ONCE_MS = 3.0
"""A digest that last took no longer than this is run where it is asked for."""


@dataclass(frozen=True, slots=True)
class Digested:
    """``digest`` of ``key``, or the error that came instead."""

    key: str
    digest: Any
    error: BaseException | None = None


class Analyst:
    """One digest per key at a time; the GUI thread asks and collects."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._cost_ms: dict[str, float] = {}
        self._busy: set[str] = set()
        self._orders: queue.SimpleQueue[tuple[str, Callable[[], Any]] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[Digested, float]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def is_busy(self, key: str) -> bool:
        """Whether a digest of ``key`` was ordered and not collected yet."""
        return key in self._busy

    def cost_ms(self, key: str) -> float:
        """What the last digest of ``key`` took; 0 before the first."""
        return self._cost_ms.get(key, 0.0)

    def ask(self, key: str, make: Callable[[], Any], *, is_long: bool = False) -> Digested | None:
        """The digest, if it is quick; otherwise None, and ``collect`` will have it.

        One of unknown cost is taken to be quick unless ``is_long`` says that there is much to
        digest.
        """
        is_known = key in self._cost_ms
        if self.cost_ms(key) <= AT_ONCE_MS if is_known else not is_long:
            return self.now(key, make)
        self._busy.add(key)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="analyst", daemon=True)
            self._thread.start()
        self._orders.put((key, make))
        return None

    def now(self, key: str, make: Callable[[], Any]) -> Digested:
        """The digest, here and now."""
        digested, cost_ms = self._run(key, make)
        self._learn(key, cost_ms)
        return digested

    def forget(self) -> None:
        """Another session is shown: what digests cost is to be found out anew."""
        self._cost_ms.clear()

    def collect(self) -> list[Digested]:
        """The digests that have been finished since."""
        found: list[Digested] = []
        while True:
            try:
                digested, cost_ms = self._done.get_nowait()
            except queue.Empty:
                return found
            self._busy.discard(digested.key)
            self._learn(digested.key, cost_ms)
            found.append(digested)

    def close(self) -> None:
        """Finish the digest at hand and end the thread."""
        if self._thread is not None:
            self._orders.put(None)
            self._thread.join()
            self._thread = None

    def _learn(self, key: str, cost_ms: float) -> None:
        """A cost falls by halves: one cheap answer, kept from before, does not make the next
        cheap."""
        self._cost_ms[key] = max(cost_ms, self.cost_ms(key) / 2)

    def _work(self) -> None:
        while (order := self._orders.get()) is not None:
            self._done.put(self._run(*order))

    def _run(self, key: str, make: Callable[[], Any]) -> tuple[Digested, float]:
        begun = self._clock()
        try:
            digested = Digested(key, make())
        except Exception as error:
            digested = Digested(key, None, error)
        return digested, (self._clock() - begun) * 1e3
