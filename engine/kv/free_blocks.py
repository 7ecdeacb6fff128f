"""FreeBlocks: which blocks of a pool are free, as stretches that lie side by side."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence


class FreeBlocks:
    """Stretches of free blocks, ascending and never touching. Taking and giving back look for
    their place by halving; what lies in few stretches costs little, however many blocks there are.
    """

    def __init__(self, n_blocks: int) -> None:
        self._starts = [0] if n_blocks else []
        self._ends = [n_blocks] if n_blocks else []  # behind the last

    def room_at(self, block: int) -> int:
        """How many blocks are free from ``block`` on; 0 where it is taken."""
        place = bisect_right(self._starts, block) - 1
        return max(0, self._ends[place] - block) if place >= 0 else 0

    def first_run(self, n_blocks: int) -> int | None:
        """Where the lowest stretch of that length begins; None without any."""
        for start, end in zip(self._starts, self._ends, strict=True):
            if end - start >= n_blocks:
                return start
        return None

    def far_from_others(self, n_blocks: int) -> list[tuple[int, int]]:
        """Where to take so many next, as first blocks and numbers: in the longest stretch, from its
        middle on where that is enough, so that who comes before it may grow; where no stretch is
        long enough whole ones, the longest first. Fewer where fewer are free."""
        lengths = [end - start for start, end in zip(self._starts, self._ends, strict=True)]
        if not n_blocks or not lengths:
            return []
        if (longest := max(lengths)) >= n_blocks:
            place = lengths.index(longest)
            start, end = self._starts[place], self._ends[place]
            if start > 0:  # else nobody comes before it
                start = min((start + end) // 2, end - n_blocks)
            return [(start, n_blocks)]
        pieces, n_left = [], n_blocks
        for place in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
            pieces.append((self._starts[place], min(n_left, lengths[place])))
            n_left -= lengths[place]
            if n_left <= 0:
                break
        return pieces

    def take(self, start: int, n_blocks: int) -> None:
        """They must be free."""
        place = bisect_right(self._starts, start) - 1
        first, last, end = self._starts[place], self._ends[place], start + n_blocks
        if first == start and end == last:
            del self._starts[place], self._ends[place]
        elif first == start:
            self._starts[place] = end
        else:
            self._ends[place] = start
            if end < last:
                self._starts.insert(place + 1, end)
                self._ends.insert(place + 1, last)

    def give_back(self, blocks: Sequence[int]) -> None:
        """They must be taken."""
        for start, end in _stretches(blocks):
            place = bisect_left(self._starts, start)
            joins_before = place > 0 and self._ends[place - 1] == start
            joins_behind = place < len(self._starts) and self._starts[place] == end
            if joins_before and joins_behind:
                self._ends[place - 1] = self._ends[place]
                del self._starts[place], self._ends[place]
            elif joins_before:
                self._ends[place - 1] = end
            elif joins_behind:
                self._starts[place] = start
            else:
                self._starts.insert(place, start)
                self._ends.insert(place, end)


def _stretches(blocks: Sequence[int]) -> list[tuple[int, int]]:
    """Blocks that follow each other, as first and behind the last."""
    found: list[tuple[int, int]] = []
    for block in blocks:
        if found and found[-1][1] == block:
            found[-1] = (found[-1][0], block + 1)
        else:
            found.append((block, block + 1))
    return found
