"""A graph that is what a CUDA graph is: operators and the tensors they were recorded with."""

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.support.simulated_cuda.tensors import RULES, tensors_in


class RecordedOperators(TorchDispatchMode):
    """Notes each operator that runs. What it made itself holds no number when recording ends."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, Any, Any, Any]] = []
        self._made: list[torch.Tensor] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        made = func(*args, **kwargs)
        given = {_storage(each) for each in tensors_in((args, kwargs))}
        fresh = [each for each in tensors_in(made) if _storage(each) not in given]
        if fresh or func._schema.is_mutable:
            self.calls.append((func, args, kwargs, fresh))
        self._made += fresh
        return made

    def spoil(self) -> None:
        """Recording computes nothing."""
        for tensor in self._made:
            if tensor.is_floating_point():
                tensor.fill_(torch.nan)
            elif tensor.dtype is torch.bool:
                tensor.logical_not_()
            else:
                tensor.fill_(torch.iinfo(tensor.dtype).min)

    def play(self) -> None:
        for func, args, kwargs, fresh in self.calls:
            made = func(*args, **kwargs)
            if fresh:
                given = {_storage(each) for each in tensors_in((args, kwargs))}
                again = [each for each in tensors_in(made) if _storage(each) not in given]
                for place, numbers in zip(fresh, again, strict=True):
                    place.copy_(numbers)


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata


class SimulatedGraph:
    """In place of ``torch.cuda.CUDAGraph``."""

    def __init__(self) -> None:
        self.recorded: RecordedOperators | None = None

    @torch.inference_mode()
    def replay(self) -> None:
        assert self.recorded is not None
        with torch._C.DisableTorchFunction():
            self.recorded.play()

    def reset(self) -> None:
        self.recorded = None


class Capture:
    """In place of ``torch.cuda.graph``."""

    def __init__(
        self,
        cuda_graph: SimulatedGraph,
        *,
        pool: Any = None,
        stream: Any = None,
        capture_error_mode: str = "global",
    ) -> None:
        self._graph = cuda_graph
        self._mode = capture_error_mode

    def __enter__(self) -> None:
        RULES.wait("the start of a capture")
        RULES.is_capturing = True
        self._recorded = RecordedOperators()
        self._recorded.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._recorded.__exit__(*error)
        RULES.is_capturing = False
        if error[0] is None:
            with torch._C.DisableTorchFunction():
                self._recorded.spoil()
            self._graph.recorded = self._recorded
