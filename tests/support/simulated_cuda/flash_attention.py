"""FlashAttention as an operator of its own, so that a graph records it as one, with its limits."""

from typing import Any

import torch

from tests.support.simulated_varlen import varlen

LIBRARY = torch.library.Library("simulated", "DEF")


class Kernels:
    """What is there of them: version 2 brings torch along, version 3 is a package of its own."""

    read_tables = False

    def activate(self) -> bool:
        """In place of activating version 3."""
        self.read_tables = True
        return True

    def restore(self) -> None:
        self.read_tables = False


KERNELS = Kernels()

LIBRARY.define(
    "flash_attention(Tensor query, Tensor key, Tensor value, Tensor starts, Tensor? key_starts, "
    "int max_q, int max_k, float dropout_p, bool is_causal, bool debug, *, float scale, "
    "int window_size_left, int window_size_right, Tensor seqused_k, Tensor? block_table) -> Tensor"
)


@torch.library.impl(LIBRARY, "flash_attention", "CPU")
def _attend(query: torch.Tensor, key: torch.Tensor, *others: Any, **options: Any) -> torch.Tensor:
    if query.dtype not in (torch.bfloat16, torch.float16):
        raise RuntimeError("FlashAttention only support fp16 and bf16 data type")
    if options["block_table"] is not None and not KERNELS.read_tables:
        raise RuntimeError("block tables are for FlashAttention 3")
    with torch._C.DisableTorchFunction():
        return varlen(query, key, *others, **options)[0]


def flash_attention(*args: Any, block_table: Any = None, **options: Any) -> tuple[Any]:
    """In place of ``torch.ops.aten._flash_attention_forward``."""
    return (torch.ops.simulated.flash_attention(*args, block_table=block_table, **options),)
