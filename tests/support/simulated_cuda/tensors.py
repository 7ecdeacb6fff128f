"""Tensors that say they are on a CUDA device, and what may be done with them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from tests.support.simulated_cuda.rules import DeviceRefusal, Rules

HERE = torch.device("cuda", 0)
RULES = Rules()

_TELL: dict[Any, Any] = {
    torch.Tensor.device.__get__: HERE,  # type: ignore[attr-defined]
    torch.Tensor.is_cuda.__get__: True,  # type: ignore[attr-defined]
    torch.Tensor.is_cpu.__get__: False,  # type: ignore[attr-defined]
}
_WAITS = {
    getattr(torch.Tensor, name)
    for name in (
        "item", "tolist", "cpu", "numpy", "nonzero", "argwhere", "masked_select", "unique", "equal",
        "allclose", "bincount", "is_nonzero",
        "__bool__", "__int__", "__float__", "__index__", "__array__", "__contains__",
    )
} | {
    torch.nonzero, torch.argwhere, torch.masked_select, torch.unique, torch.equal, torch.allclose,
    torch.bincount, torch.is_nonzero,
}  # fmt: skip
_HOST_RESULTS = {torch.Tensor.cpu, torch.Tensor.numpy, torch.Tensor.__array__}
_METADATA = frozenset(
    {
        "__get__", "__set__", "__len__", "__hash__", "size", "stride", "dim", "numel",
        "nelement", "data_ptr", "element_size", "storage_offset", "is_contiguous",
        "untyped_storage", "is_floating_point", "is_inference", "is_complex", "type",
        "_has_compatible_shallow_copy_type",
    }
)  # fmt: skip
"""Names of functions that look at no number."""
_SENDERS = {torch.Tensor.copy_}
_MOVERS = {torch.Tensor.to, torch.Tensor.cuda}
_INDEXERS = {torch.Tensor.__getitem__, torch.Tensor.__setitem__}


class CudaTensor(torch.Tensor):
    """In the host's memory, under the device's rules. Views and results are of this kind, too."""

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return _run(func, args, dict(kwargs or {}))


class OnDevice(TorchFunctionMode):
    """Sees what makes or moves tensors without one of the device's among its arguments."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return _run(func, args, dict(kwargs or {}))


def _run(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensors = list(tensors_in((args, kwargs)))
    is_here = any(isinstance(each, CudaTensor) for each in tensors)
    if is_here and func in _TELL:
        return _TELL[func]
    if func in _MOVERS:
        return _move(func, args, kwargs)
    if func is torch.Tensor.__deepcopy__ and is_here:
        return _placed(_plain(args[0]).clone())
    if func is torch.Tensor.pin_memory:
        return _pin(args[0].clone())
    asked = kwargs.get("device")
    is_made_here = asked is not None and torch.device(asked).type == "cuda"
    if is_made_here:
        if func is torch.tensor or func is torch.as_tensor:
            RULES.wait("numbers of the host")
        kwargs["device"] = "cpu"
    is_pinned = bool(kwargs.pop("pin_memory", False))
    if is_here:
        _check(func, args, kwargs, tensors)
    with torch._C.DisableTorchFunction():
        result = func(*args, **kwargs)
    if is_pinned:
        return _pin(result)
    goes_to_host = func in _HOST_RESULTS or (is_here and asked is not None and not is_made_here)
    if is_made_here or (is_here and not goes_to_host):
        return _placed(result)
    return _plain(result) if is_here else result


def _move(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``Tensor.to`` and ``Tensor.cuda``: where the device is among the arguments, it decides."""
    source, *others = args
    is_here = isinstance(source, CudaTensor)
    if func is torch.Tensor.cuda:
        others.insert(0, HERE)
    given = [*others, *kwargs.values()]
    wanted = next((where for each in given if (where := _device_of(each)) is not None), None)
    changed = ["cpu" if _device_of(each) is not None else each for each in others]
    options = {name: "cpu" if _device_of(each) is not None else each
               for name, each in kwargs.items()}  # fmt: skip
    is_queued = bool(options.pop("non_blocking", False))
    goes_here = is_here if wanted is None else wanted.type == "cuda"
    if goes_here and not is_here:
        RULES.send(source, is_queued=is_queued)
    elif is_here and not goes_here:
        RULES.wait("a copy to the host")
    if goes_here != is_here:
        options["copy"] = True
    with torch._C.DisableTorchFunction():
        moved = torch.Tensor.to(source, *changed, **options)
    return _placed(moved) if goes_here else _plain(moved)


def _device_of(value: Any) -> torch.device | None:
    if isinstance(value, torch.device):
        return value
    if isinstance(value, CudaTensor):
        return HERE
    if isinstance(value, str):
        return torch.device(value)
    return None


def _check(
    func: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    tensors: list[torch.Tensor],
) -> None:
    if func in _WAITS:
        RULES.wait(getattr(func, "__name__", str(func)))
        return
    strangers = [each for each in tensors if not isinstance(each, CudaTensor) and each.ndim]
    if func in _SENDERS:
        target, source = args[:2]
        is_queued = bool(kwargs.get("non_blocking", args[2] if len(args) > 2 else False))
        if not isinstance(target, CudaTensor):
            RULES.wait("a copy to the host")
        elif strangers:
            RULES.send(source, is_queued=is_queued)
        return
    if func in _INDEXERS:
        indexes = [each for each in tensors_in(args[1]) if isinstance(each, torch.Tensor)]
        if strangers or any(each.dtype in (torch.bool, torch.uint8) for each in indexes):
            RULES.wait("an index that the host must know")
        return
    if getattr(func, "__name__", "") == "repeat_interleave" and any(
        isinstance(each, torch.Tensor) for each in args[1:]
    ):
        RULES.wait("repeats that the host must know")
    if strangers and getattr(func, "__name__", "") not in _METADATA:
        raise DeviceRefusal(
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 "
            f"and cpu, in {getattr(func, '__name__', func)}"
        )


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """All tensors among arguments or results, however deep they lie."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from tensors_in(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from tensors_in(each)


def _placed(value: Any) -> Any:
    """The same with all tensors on the device."""
    if isinstance(value, CudaTensor):
        return value
    if isinstance(value, torch.Tensor):
        with torch._C.DisableTorchFunction():
            return value.as_subclass(CudaTensor)
    return _each(value, _placed)


def _plain(value: Any) -> Any:
    """The same with all tensors on the host."""
    if isinstance(value, CudaTensor):
        with torch._C.DisableTorchFunction():
            return value.as_subclass(torch.Tensor)
    return value if isinstance(value, torch.Tensor) else _each(value, _plain)


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple):
        changed = [change(each) for each in value]
        return type(value)(*changed) if hasattr(value, "_fields") else type(value)(changed)
    return [change(each) for each in value] if isinstance(value, list) else value


def _pin(tensor: torch.Tensor) -> torch.Tensor:
    RULES.pinned.add(tensor.untyped_storage().data_ptr())
    return tensor
