"""What a CUDA device would refuse, and what it would wait for."""

from dataclasses import dataclass, field

import torch


class DeviceRefusal(RuntimeError):
    """What a real device would have ended with an error, or with wrong numbers."""


@dataclass(eq=False)
class Rules:
    """The state of the device as far as it decides what is allowed."""

    are_waits_refused: bool = False
    is_capturing: bool = False
    n_waits: int = 0
    pinned: set[int] = field(default_factory=set)  # addresses of the host's pinned memory
    _under_way: list[tuple[torch.Tensor, torch.Tensor]] = field(default_factory=list)

    def forget(self) -> None:
        """Be as at the start."""
        self.are_waits_refused = self.is_capturing = False
        self.n_waits = 0
        self.pinned.clear()
        self._under_way.clear()

    def wait(self, what: str) -> None:
        """The host waits for the device, for ``what``."""
        if self.is_capturing:
            raise DeviceRefusal(f"operation not permitted when stream is capturing: {what}")
        if self.are_waits_refused:
            raise DeviceRefusal(f"called a synchronizing CUDA operation: {what}")
        self.n_waits += 1
        self.settle()

    def settle(self) -> None:
        """All that was queued is done: what was sent must still be what it was."""
        sent, self._under_way = self._under_way, []
        for source, before in sent:
            if not torch.equal(source, before):
                raise DeviceRefusal("pinned memory was written while it was being copied")

    def send(self, source: torch.Tensor, *, is_queued: bool) -> None:
        """Memory of the host is copied to the device, ``is_queued``: without waiting for it."""
        is_pinned = source.untyped_storage().data_ptr() in self.pinned
        if not is_queued:
            self.wait("a copy to the device")
        elif self.is_capturing and not is_pinned:
            raise DeviceRefusal("pageable memory cannot be copied while a stream is capturing")
        elif is_pinned:
            self._under_way.append((source, source.clone()))
