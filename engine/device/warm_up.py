"""Captures before the first step what the steps will need, on rows that are all padding."""

from collections.abc import Callable, Hashable, Iterable

from engine.device.addresses import ContextShape, context_room
from engine.device.draft_loop import DraftLoop, DraftResults, LoopShape
from engine.device.graphs import GraphShelf
from engine.device.verification import Verification, VerifyShape
from engine.kv.pool_attention import GATHER, PAGED, RUNS, PoolModes
from engine.sampling import SamplingParams

EVERY_GAMMA_UP_TO = 8
"""A longer draft is captured at its full length, and at others when they are needed."""

_COPIES = 6
"""Of the logits in single precision that are alive at once while they are judged."""


class GraphWarmUp:
    """Padding is written to the scratch slot and read from the pool's first one, so a capture
    touches no sequence."""

    def __init__(
        self,
        shelf: GraphShelf,
        loop: DraftLoop | None,
        verification: Verification,
        *,
        has_host_drafts: bool,
        free_bytes: Callable[[], int | None],
    ) -> None:
        self._shelf = shelf
        self._loop = loop
        self._verification = verification
        self._has_host_drafts = has_host_drafts
        self.free_bytes = free_bytes

    def capture(
        self,
        results: DraftResults,
        params: SamplingParams,
        *,
        gamma: int,
        row_counts: Iterable[int],
        positions: tuple[int, int],
        rest: Callable[[], None],
    ) -> None:
        """Everything for drafts of up to ``gamma`` tokens in batches of ``row_counts``.

        Args:
            positions: the fewest and the most that the sequences' contexts will reach.
            rest: called before each; may raise.
        """
        counts = sorted(set(row_counts), reverse=True)
        if not self._shelf.is_capturing or not counts:
            return
        most = min(positions[1], self._verification.model.context_length)
        needed, free = self.n_bytes(counts[0], gamma, most), self.free_bytes()
        if free is not None and needed > free:
            self._shelf.give_up(
                f"{counts[0]} sequences with drafts of {gamma} tokens over {most} positions"
                f" would take about {needed} bytes more, and {free} are free"
            )
            return
        gammas = range(1, gamma + 1) if gamma <= EVERY_GAMMA_UP_TO else [gamma]
        for n_rows in counts:
            if self._loop is not None:
                for each in reversed(gammas):
                    for context in self._contexts(self._loop, positions):
                        rest()
                        self._loop.warm_up(LoopShape(n_rows, each, context, params), results)
            for each in [*reversed(gammas), 0]:
                for context in self._contexts(self._verification, positions):
                    for has_host, has_device in self._origins(each, n_rows):
                        rest()
                        shape = VerifyShape(n_rows, each + 1, context, params, has_host, has_device)
                        self._verification.warm_up(shape, results)

    def n_bytes(self, n_rows: int, gamma: int, n_positions: int) -> int:
        """About what the largest function takes while it runs: logits and what is made of them,
        and one layer's gathered context."""
        verification = self._verification
        model, cache = verification.model, verification.cache
        logits = n_rows * (gamma + 1) * model.vocab_size * (model.dtype.itemsize + 4 * _COPIES)
        n_kv_heads, head_dim = max(model.layer_kv_shapes())
        room = context_room(
            n_positions, context_length=model.context_length, block_size=cache.block_size
        )
        gathered = 2 * 2 * n_rows * room * n_kv_heads * head_dim * model.dtype.itemsize
        return int(logits + gathered)

    def contexts(self, positions: tuple[int, int]) -> frozenset[Hashable]:
        """Of both parts, as ``capture`` takes them."""
        parts = (self._verification, self._loop)
        return frozenset(
            (part, context)
            for part in parts
            if part is not None
            for context in self._contexts(part, positions)
        )

    def _contexts(
        self, part: DraftLoop | Verification, positions: tuple[int, int]
    ) -> list[ContextShape]:
        """None where the part's model holds none of the sequences, as a draft may."""
        rooms, n_positions = [], positions[0]
        length, size = part.model.context_length, part.cache.block_size
        while n_positions <= min(positions[1], length):
            room = context_room(n_positions, context_length=length, block_size=size)
            rooms.append(room)
            n_positions = room + 1
        return [ContextShape(room, mode) for room in rooms for mode in usual_modes(part.modes)]

    def _origins(self, gamma: int, n_rows: int) -> list[tuple[bool, bool]]:
        """Whether drafts come from the host, and from the device."""
        if not gamma:
            return [(False, False)]
        origins = [(False, True)] if self._loop is not None else []
        if self._has_host_drafts:
            origins.append((True, False))
            if self._loop is not None and n_rows > 1:
                origins.append((True, True))
        return origins


def usual_modes(modes: PoolModes) -> list[str]:
    """Of sequences whose blocks lie side by side, as they do until the pool has been used up."""
    if modes.has_paged:
        return [PAGED]
    return [RUNS] if modes.has_runs else [GATHER]
