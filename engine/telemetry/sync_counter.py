"""How often the host has waited for the device: counted where it does, read once a step."""


class SyncCounter:
    """``count`` stands beside every transfer to the host of a decoding step on CUDA."""

    def __init__(self) -> None:
        self._n = 0

    def count(self) -> None:
        self._n += 1

    def take(self) -> int:
        """How many since the last call."""
        n, self._n = self._n, 0
        return n


SYNCS = SyncCounter()
"""The one of this process: one thread decodes."""
