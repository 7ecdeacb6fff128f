"""DrawBudget: which panels still fit into a frame, by what each of them took the last time."""

from collections.abc import Callable

UNKNOWN_MS = 5.0
"""Taken for a panel that was never drawn: what most of them cost."""
_LEARNS = 0.5
"""How much of a surprise is believed: one slow frame says little of the next."""


class DrawBudget:
    """Drawing is timed panel by panel; painting, which Qt does for all of them at once behind
    that, is shared out: those that were drawn are told how far the painting was from what they
    were expected to cost together."""

    def __init__(self, frame_ms: float, clock: Callable[[], float]) -> None:
        self._frame_ms = frame_ms
        self._clock = clock  # seconds
        self._begun = 0.0
        self._draw_ms: dict[str, float] = {}
        self._paint_ms: dict[str, float] = {}
        self._drawn: list[str] = []  # in this frame

    def begin(self) -> None:
        """A frame begins."""
        self._begun = self._clock()
        self._drawn.clear()

    def cost_ms(self, key: str) -> float:
        """What drawing and painting the panel is expected to take."""
        known = self._draw_ms.get(key)
        return UNKNOWN_MS if known is None else known + self._paint_ms.get(key, 0.0)

    def has_room(self, key: str) -> bool:
        """Whether the panel fits into what is left of the frame. The first one does, whatever it
        costs: else it would wait for ever."""
        if not self._drawn:
            return True
        spent_ms = (self._clock() - self._begun) * 1e3
        to_paint = sum(self._paint_ms.get(each, 0.0) for each in self._drawn)
        return spent_ms + to_paint + self.cost_ms(key) <= self._frame_ms

    def draw(self, key: str, act: Callable[[], bool]) -> None:
        """Draw a panel, and learn what that takes; ``act`` says whether it was drawn."""
        begun = self._clock()
        if act():
            self._draw_ms[key] = (self._clock() - begun) * 1e3
            self._drawn.append(key)

    def paint(self, act: Callable[[], None]) -> None:
        """Paint what was drawn in this frame, and learn what that takes."""
        begun = self._clock()
        act()
        took_ms = (self._clock() - begun) * 1e3
        if not self._drawn:
            return
        told = sum(self._paint_ms.get(each, 0.0) for each in self._drawn)
        surprise = _LEARNS * (took_ms - told) / len(self._drawn)
        for each in self._drawn:
            self._paint_ms[each] = max(0.0, self._paint_ms.get(each, 0.0) + surprise)

    def forget(self) -> None:
        """Another session is shown: costs are to be found out anew."""
        self._draw_ms.clear()
        self._paint_ms.clear()
