"""Attention that reads keys and values where they lie in the pool, instead of gathering them.

Torch's FlashAttention does, told where each context starts and how much of it counts. Its operator
is called itself: ``varlen_attn`` around it takes neither in every release, and fills a tensor with
zeros at each call. A single query is attended to without a mask: with one it would go without the
kernels that share a context among more processors. Which ways a device takes depends on its
kernels, on the dtype and on the size of a block, so each is tried once on a small pool and compared
with the plain formula.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import torch

PAGED = "paged"
"""By block tables: any layout of the blocks."""
RUNS = "runs"
"""By the slot a sequence starts at: its blocks lie side by side."""
GATHER = "gather"
"""The context is copied together, then attended to: works everywhere."""

_TOLERANCE = 0.03  # of values near 1, in bfloat16
_PROBED_WIDTHS = (1, 3)  # a single query is attended to by kernels of its own


@dataclass(eq=False, slots=True)
class PoolContext:
    """Where the rows of a forward find their contexts. Every row has ``width`` queries, the last of
    which stands at position ``n_used`` - 1 and each before it one position earlier."""

    mode: str
    block_size: int
    query_starts: torch.Tensor  # [n_rows + 1] int32: 0, width, 2 * width, ...
    key_starts: torch.Tensor  # [n_rows + 1] int32, the slot of position 0; the last has no meaning
    n_used: torch.Tensor  # [n_rows] int32
    blocks: torch.Tensor  # [n_rows, n_blocks] int32
    width: int
    n_positions: int  # the most a row can hold


def attend_in_pool(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    context: PoolContext,
    *,
    scaling: float,
    window: int | None = None,
) -> torch.Tensor:
    """Causal attention of ``query`` [n_rows, n_heads, width, head_dim].

    Args:
        keys, values: [n_slots + 1, n_kv_heads, head_dim], the whole pool and its scratch slot.
        window: a query at position p sees positions above p - ``window``.

    Returns:
        [n_rows, width, n_heads, head_dim]. What a query without any position gets has no meaning.
    """
    n_rows, n_heads, width, head_dim = query.shape
    tables: dict[str, torch.Tensor] = {}
    if context.mode == PAGED:
        size = context.block_size
        shape = (keys.shape[0] // size, size, *keys.shape[1:])
        keys, values = keys[:-1].view(shape), values[:-1].view(shape)
        tables = {"block_table": context.blocks}
    is_masked = width > 1  # the newest token alone sees everything
    output: torch.Tensor = _operator()(
        query.transpose(1, 2).reshape(n_rows * width, n_heads, head_dim),
        keys,
        values,
        context.query_starts,
        None if context.mode == PAGED else context.key_starts,
        width,
        context.n_positions,
        0.0,  # no dropout
        is_masked,
        False,  # no mask for debugging
        scale=scaling,
        window_size_left=-1 if window is None else window - 1,
        window_size_right=0 if is_masked else -1,
        seqused_k=context.n_used,
        **tables,
    )[0]
    return output.view(n_rows, width, n_heads, head_dim)


@dataclass(frozen=True)
class PoolModes:
    """What a device can do besides gathering; ``sentence`` says it to a person."""

    has_paged: bool
    has_runs: bool
    sentence: str

    def choose(self, *, are_side_by_side: bool) -> str:
        """The mode for rows whose blocks lie side by side, or do not."""
        if self.has_paged:
            return PAGED
        return RUNS if self.has_runs and are_side_by_side else GATHER


GATHER_ONLY = PoolModes(False, False, "attention gathers the context")


class _Kernels:
    """Which kernels the operator runs is one choice for the whole process: an answer that rests on
    it must not be undone by a later question."""

    is_settled = False


@lru_cache
def find_modes(
    device: torch.device,
    dtype: torch.dtype,
    *,
    n_heads: int,
    n_kv_heads: int,
    head_dim: int,
    block_size: int,
) -> PoolModes:
    """Try the modes on ``device`` with a model's heads; once for each such question."""
    what = f"blocks of {block_size} in {str(dtype).removeprefix('torch.')}"

    def attempt(mode: str) -> str:
        return _problem(
            mode, device, dtype,
            n_heads=n_heads, n_kv_heads=n_kv_heads, head_dim=head_dim, block_size=block_size,
        )  # fmt: skip

    paged = attempt(PAGED)
    if paged and not _Kernels.is_settled and _activate_newer_kernels():
        paged = attempt(PAGED)
        if paged:
            _restore_kernels()
    if not paged:
        _Kernels.is_settled = True
        return PoolModes(True, True, f"attention reads {what} by block tables")
    runs = attempt(RUNS)
    if not runs:
        _Kernels.is_settled = True
        return PoolModes(
            False,
            True,
            f"attention reads {what} in place where they lie side by side and gathers others: no "
            f"block tables here ({paged})",
        )
    return PoolModes(False, False, f"attention gathers the context: {runs}")


def forget_modes() -> None:
    """All answers, and that anything rests on them."""
    find_modes.cache_clear()
    _Kernels.is_settled = False


def _problem(
    mode: str,
    device: torch.device,
    dtype: torch.dtype,
    *,
    n_heads: int,
    n_kv_heads: int,
    head_dim: int,
    block_size: int,
) -> str:
    """Why ``mode`` cannot be used here; empty when it can."""
    n_blocks, used = 8, (2 * block_size + 5, block_size + 3)
    generator = torch.Generator().manual_seed(0)

    def numbers(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator).to(device, dtype)

    keys, values = (numbers(n_blocks * block_size + 1, n_kv_heads, head_dim) for _ in range(2))
    # The first row lies behind the second one; by tables also out of order.
    tables = [[6, 2, 5, 6], [1, 3, 1, 1]] if mode == PAGED else [[4, 5, 6, 7], [1, 2, 3, 3]]
    blocks = torch.tensor(tables, dtype=torch.int32, device=device)
    starts = blocks[:, 0] * block_size
    scaling = head_dim**-0.5
    try:
        for width, window in product(_PROBED_WIDTHS, (None, block_size)):
            query = numbers(2, n_heads, width, head_dim)
            context = PoolContext(
                mode=mode,
                block_size=block_size,
                query_starts=torch.arange(3, dtype=torch.int32, device=device) * width,
                key_starts=torch.cat((starts, starts[-1:])),
                n_used=torch.tensor(used, dtype=torch.int32, device=device),
                blocks=blocks,
                width=width,
                n_positions=4 * block_size,
            )
            output = attend_in_pool(
                query, keys, values, context, scaling=scaling, window=window
            ).float()
            expected = torch.stack(
                [
                    _plain(query[row], keys, values, table, n, block_size, scaling, window)
                    for row, (table, n) in enumerate(zip(tables, used, strict=True))
                ]
            )
            error = float((output - expected).abs().max())
            if not math.isfinite(error) or error > _TOLERANCE:
                return f"its numbers are off by {error:.3g}"
    except Exception as error_met:  # a missing function, kernel or shape: any of them is a no
        lines = str(error_met).strip().splitlines()
        return lines[0].rstrip(".") if lines else type(error_met).__name__
    return ""


def _plain(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    table: list[int],
    n_used: int,
    block_size: int,
    scaling: float,
    window: int | None,
) -> torch.Tensor:
    """The formula in single precision for one row, [width, n_heads, head_dim]."""
    slots = [table[at // block_size] * block_size + at % block_size for at in range(n_used)]
    n_groups = query.shape[0] // keys.shape[1]
    seen = [
        pool[slots].float().repeat_interleave(n_groups, 1).transpose(0, 1)
        for pool in (keys, values)
    ]
    scores = query.float() @ seen[0].transpose(1, 2) * scaling
    width = query.shape[1]
    places = torch.arange(n_used, device=query.device)
    last = torch.arange(n_used - width, n_used, device=query.device)[:, None]
    is_hidden = places > last
    if window is not None:
        is_hidden |= places <= last - window
    weights = scores.masked_fill(is_hidden, -torch.inf).softmax(-1)
    return (weights @ seen[1]).transpose(0, 1)


def _operator() -> Callable[..., Any]:
    operator: Callable[..., Any] = torch.ops.aten._flash_attention_forward
    return operator


def _activate_newer_kernels() -> bool:
    """FlashAttention 3, where its package is installed: it reads blocks of any size."""
    try:
        from torch.nn.attention import activate_flash_attention_impl

        activate_flash_attention_impl("FA3")
    except Exception:  # not installed, or not for this device
        return False
    return True


def _restore_kernels() -> None:
    from torch.nn.attention import restore_flash_attention_impl

    restore_flash_attention_impl()
