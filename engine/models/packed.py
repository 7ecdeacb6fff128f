"""CPU: linear layers whose weights are laid out once for narrow batches.

A product with the weight as it is stored is tuned for one row or for many; in between, where
verification lives, other layouts are often faster: the weight turned (columns side by side, for
small matrices), oneDNN's own packing (for large ones), and half precision where a weight fits it.
They differ in the last bits, so the choice must come out the same in every run: half precision is
taken without a measurement where it always wins (one thread of an x86 processor with AVX2); else
which one is fastest depends on the processor and on the shape, and is measured once and remembered.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence

import torch
from torch import nn

from engine.models.choices import Choices
from engine.models.half import HalfLinear, fits_half, is_half_available
from engine.models.linear import Linear, PlainLinear
from engine.theory.host_peaks import processor_name

_TRIAL_ROWS = (1, 4, 8)  # a plain step, a short and a long draft to verify
_N_TRIALS = 6
_N_TIMED_LAYERS = 6
_N_OTHER_NUMBERS = 1 << 20  # 4 MiB: more than a core's own cache
_HALF_WINS_ON = ("AVX2", "AVX512")


def is_packing_available() -> bool:
    """Whether this torch can pack fp32 weights for oneDNN and multiply with them."""
    try:
        weight = torch.eye(16)
        packed = torch.ops.mkldnn._reorder_linear_weight(weight, None)
        product = torch.ops.mkldnn._linear_pointwise(weight, packed, None, "none", [], "")
    except (AttributeError, RuntimeError, NotImplementedError):
        return False
    return bool(torch.equal(product, weight))


class PackedLinear:
    """The same in fp32 on the CPU, over a packed copy of the weight.

    The copy takes as many bytes as the weight. Where the caller drops the weight the memory stays
    what it was; where an embedding is tied to it, both live.
    """

    def __init__(self, plain: PlainLinear) -> None:
        self.bias = plain.bias
        self._packed = torch.ops.mkldnn._reorder_linear_weight(plain.weight.contiguous(), None)

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """[..., in] -> [..., out]."""
        return torch.ops.mkldnn._linear_pointwise(rows, self._packed, self.bias, "none", [], "")


class TurnedLinear:
    """The same over a copy of the weight with its columns side by side, [in, out]."""

    def __init__(self, plain: PlainLinear) -> None:
        self.bias = plain.bias
        self._turned = plain.weight.t().contiguous()

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """[..., in] -> [..., out]."""
        n_in, n_out = self._turned.shape
        flat = rows.reshape(-1, n_in)
        if self.bias is None:
            product = flat.mm(self._turned)
        else:
            product = torch.addmm(self.bias, flat, self._turned)
        return product.view(*rows.shape[:-1], n_out)


class PackedModule(nn.Module):
    """A layer laid out otherwise in the place of an ``nn.Linear``."""

    def __init__(self, linear: Linear) -> None:
        super().__init__()
        self._linear = linear

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """[..., in] -> [..., out]."""
        return self._linear(rows)


_LAYOUTS: dict[str, Callable[[PlainLinear], Linear]] = {
    "plain": lambda plain: plain,
    "turned": TurnedLinear,
    "packed": PackedLinear,
    "half precision": HalfLinear,
}


def layouts_of(linears: Sequence[Linear]) -> str:
    """How many lie in which layout, in words: "12 as lossless float16, 2 turned"."""
    names = {PackedLinear: "packed", TurnedLinear: "turned", HalfLinear: "as lossless float16"}
    counts = Counter(names[type(linear)] for linear in linears if type(linear) in names)
    return ", ".join(f"{count} {name}" for name, count in counts.most_common()) or "none packed"


def machine_facts() -> dict[str, str]:
    """What the fastest way depends on besides the model."""
    return {
        "torch": str(torch.__version__),
        "processor": f"{processor_name()}, {torch.backends.cpu.get_cpu_capability()}",
        "threads": str(torch.get_num_threads()),
    }


def pack_where_faster(group: Sequence[PlainLinear], choices: Choices) -> list[Linear]:
    """For layers of one shape: the same layers, in the layout that is fastest on this machine."""
    layouts = ["plain", "turned"]
    if is_packing_available():
        layouts.append("packed")
    if is_half_available() and all(fits_half(plain.weight) for plain in group):
        layouts.append("half precision")
    if layouts[-1] == "half precision" and _is_half_fastest():
        layout = "half precision"
    else:
        weight, bias = group[0].weight, group[0].bias
        facts = {
            "layout of": f"{len(group)} layers {weight.shape[1]} to {weight.shape[0]}",
            "bias": "no" if bias is None else "yes",
            "dtype": str(weight.dtype),
            **machine_facts(),
        }
        layout = choices.choose(facts, layouts, lambda: _fastest(group, layouts))
    return [_LAYOUTS[layout](plain) for plain in group]


def _is_half_fastest() -> bool:
    """Measured for every shape of the bundled pair and for large ones, at one row to eight; with
    several threads it depends."""
    is_vectorised = torch.backends.cpu.get_cpu_capability() in _HALF_WINS_ON
    return is_vectorised and torch.get_num_threads() == 1


def _fastest(group: Sequence[PlainLinear], layouts: Sequence[str]) -> str:
    """A few layers are timed one after the other, as a forward runs them, behind a stretch of other
    memory, so that weights come from as far away as they will when decoding. The shortest of some
    trials counts: what lengthens the others is other work on the machine.
    """
    candidates = [[_LAYOUTS[name](plain) for plain in group[:_N_TIMED_LAYERS]] for name in layouts]
    totals = [0] * len(candidates)
    other = torch.zeros(_N_OTHER_NUMBERS)
    with torch.inference_mode():
        for n_rows in _TRIAL_ROWS:
            rows = torch.zeros(1, n_rows, group[0].weight.shape[1])
            best = [_pass_ns(layers, rows) for layers in candidates]
            for _ in range(_N_TRIALS):
                for index, layers in enumerate(candidates):
                    other.sum()
                    best[index] = min(best[index], _pass_ns(layers, rows))
            totals = [total + ns for total, ns in zip(totals, best, strict=True)]
    return layouts[min(range(len(candidates)), key=totals.__getitem__)]


def pack_modules(module: nn.Module, choices: Choices) -> list[Linear]:
    """Exchange the ``nn.Linear`` parts of ``module`` for packed ones where that is faster.

    Returns:
        Those that were exchanged. Call it on fp32 modules on the CPU only.
    """
    by_shape: dict[torch.Size, list[tuple[nn.Module, str, nn.Linear]]] = {}
    for parent in module.modules():
        for name, child in parent.named_children():
            if type(child) is nn.Linear:
                by_shape.setdefault(child.weight.shape, []).append((parent, name, child))
    exchanged = []
    for places in by_shape.values():
        plain = [PlainLinear(linear.weight, linear.bias) for _, _, linear in places]
        for (parent, name, _), linear in zip(
            places, pack_where_faster(plain, choices), strict=True
        ):
            if not isinstance(linear, PlainLinear):
                setattr(parent, name, PackedModule(linear))
                exchanged.append(linear)
    return exchanged


def _pass_ns(layers: Sequence[Linear], rows: torch.Tensor) -> int:
    start = time.perf_counter_ns()
    for layer in layers:
        layer(rows)
    return time.perf_counter_ns() - start
