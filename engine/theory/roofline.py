"""FLOPs and bytes of a forward, and how long a device needs for them at the very least.

The roofline model (Williams, Waterman and Patterson 2009): a forward takes at least its FLOPs over
the device's FLOP/s, at least its bytes over the device's bytes/s, and is bound by the longer one.
FLOPs per byte, its arithmetic intensity, say which: below the ridge point it is memory bound. One
token at batch 1 reads each bf16 weight (2 bytes) for 2 FLOPs, intensity 1; verifying gamma 5 at
batch 1 reaches about 6, far under the ridge of an H100 SXM (295), so the verification stays memory
bound and costs nearly what one token does. For 70e9 bf16 weights at 3,350 GB/s that is 41.8 ms,
against 0.14 ms of arithmetic (at the dense 989 TFLOP/s; 1,979 is with sparsity).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from engine.theory.devices import DevicePeaks, Precision
from engine.theory.shape import ModelShape
from engine.theory.validate import require_positive


class Bound(StrEnum):
    """What a forward waits for."""

    MEMORY = "memory"
    COMPUTE = "compute"


@dataclass(frozen=True, slots=True)
class ForwardCost:
    """The work of one forward, by part: FLOPs (a multiply-add is two), and bytes moved.

    ``n_linear_flops`` are those of the weight matrices, ``n_attention_flops`` those of queries
    against keys and of probabilities against values.
    """

    n_linear_flops: int
    n_attention_flops: int
    weight_bytes: int
    kv_read_bytes: int
    kv_written_bytes: int
    activation_bytes: int

    @property
    def n_flops(self) -> int:
        """All FLOPs."""
        return self.n_linear_flops + self.n_attention_flops

    @property
    def n_bytes(self) -> int:
        """All bytes moved to and from memory."""
        n_kv_bytes = self.kv_read_bytes + self.kv_written_bytes
        return self.weight_bytes + n_kv_bytes + self.activation_bytes

    @property
    def intensity(self) -> float:
        """Arithmetic intensity, FLOP/byte; 0 for a forward without tokens."""
        n_bytes = self.n_bytes
        return self.n_flops / n_bytes if n_bytes else 0.0


@dataclass(frozen=True, slots=True)
class Floor:
    """The least time of a forward on a device, in seconds: both demands, and the longer of them."""

    compute_s: float
    transfer_s: float
    bound: Bound

    @property
    def time_s(self) -> float:
        """The longer of the two: no implementation is faster."""
        return max(self.compute_s, self.transfer_s)


def forward_cost(
    shape: ModelShape,
    context_lengths: Sequence[int],
    widths: Sequence[int],
    *,
    bytes_per_weight: float = 2.0,
    bytes_per_kv: float = 2.0,
    bytes_per_activation: float = 2.0,
    n_logit_rows: int | None = None,
) -> ForwardCost:
    """The least work of one forward for a batch of sequences.

    ``context_lengths`` are the tokens each sequence has in the cache before, ``widths`` the tokens
    it feeds in: 1 for a draft or a plain decoding step, gamma + 1 for a verification, the prompt's
    length for a prefill (context 0). Logits are computed for every token fed in, or for
    ``n_logit_rows`` of them (a prefill needs one per sequence).

    Counted: every weight once, one embedding row per token; cached keys and values once, within
    the window where a layer has one; new ones written once; inputs and outputs of each matrix
    product and of the attention. Not counted: norms, activations' own arithmetic, masked-out
    products. Closed form and cheap, fit to be called for every span of a step. ValueError: lists of
    different length, a negative number.
    """
    if len(context_lengths) != len(widths):
        raise ValueError(
            f"context_lengths and widths must name the same sequences, "
            f"got {len(context_lengths)} and {len(widths)} of them."
        )
    k = _constants(shape)
    n_tokens = n_cached = n_pairs = n_cached_near = n_pairs_near = 0
    for length, width in zip(context_lengths, widths, strict=True):
        if length < 0 or width < 0:
            raise ValueError(f"Lengths and widths must not be negative, got {length}, {width}.")
        if width:
            n_tokens += width
            n_cached += length
            n_pairs += width * length + width * (width + 1) // 2
            if k.window:
                n_cached_near += min(length, k.window - 1)
                n_pairs_near += _pairs_in_window(length, width, k.window)
    if n_tokens == 0:
        return _NOTHING
    n_rows = n_tokens if n_logit_rows is None else n_logit_rows
    n_weights_read = k.n_layer_parameters + k.n_head_parameters + n_tokens * k.hidden_size
    n_read_full, n_read_near = k.n_full_layers * n_cached, k.n_windowed_layers * n_cached_near
    return ForwardCost(
        2 * (k.n_layer_parameters * n_tokens + k.n_head_parameters * n_rows),
        k.flops_per_pair * (k.n_full_layers * n_pairs + k.n_windowed_layers * n_pairs_near),
        int(n_weights_read * bytes_per_weight),
        int(k.kv_per_token_and_layer * (n_read_full + n_read_near) * bytes_per_kv),
        int(k.kv_per_token_and_layer * k.n_layers * n_tokens * bytes_per_kv),
        int((k.n_activations * n_tokens + k.n_logit_activations * n_rows) * bytes_per_activation),
    )


def least_time(
    cost: ForwardCost, peaks: DevicePeaks, precision: Precision = Precision.BF16
) -> Floor:
    """The least time for ``cost``. ValueError: ``peaks`` does not know ``precision``."""
    compute_s = cost.n_flops / peaks.flops_per_s(precision)
    transfer_s = cost.n_bytes / peaks.bytes_per_s
    return Floor(compute_s, transfer_s, Bound.MEMORY if transfer_s > compute_s else Bound.COMPUTE)


def ridge_point(peaks: DevicePeaks, precision: Precision = Precision.BF16) -> float:
    """The intensity in FLOP/byte at which a device turns from memory bound to compute bound."""
    return peaks.flops_per_s(precision) / peaks.bytes_per_s


def attainable_flops_per_s(
    intensity: float, peaks: DevicePeaks, precision: Precision = Precision.BF16
) -> float:
    """The roof itself: the highest FLOP/s that a kernel of ``intensity`` FLOP/byte can reach."""
    return min(peaks.flops_per_s(precision), intensity * peaks.bytes_per_s)


def transfer_floor_s(n_bytes: float, bytes_per_s: float) -> float:
    """Seconds to move ``n_bytes`` once: 140e9 bytes at 3.35e12 bytes/s take 0.0418 s."""
    return n_bytes / require_positive("bytes_per_s", bytes_per_s)


class _Constants(NamedTuple):
    n_layer_parameters: int
    n_head_parameters: int
    hidden_size: int
    n_layers: int
    n_full_layers: int
    n_windowed_layers: int
    window: int
    flops_per_pair: int
    kv_per_token_and_layer: int
    n_activations: int
    n_logit_activations: int


@lru_cache(maxsize=64)
def _constants(shape: ModelShape) -> _Constants:
    query_size = shape.n_heads * shape.head_dim
    kv_size = shape.n_kv_heads * shape.head_dim
    per_layer = 4 * shape.hidden_size + 4 * query_size + 2 * kv_size + 6 * shape.intermediate_size
    return _Constants(
        n_layer_parameters=shape.n_layer_parameters,
        n_head_parameters=shape.n_embedding_parameters,  # tied or not, the head is this large
        hidden_size=shape.hidden_size,
        n_layers=shape.n_layers,
        n_full_layers=shape.n_layers - shape.n_windowed_layers,
        n_windowed_layers=shape.n_windowed_layers,
        window=shape.sliding_window or 0,
        flops_per_pair=4 * query_size,
        kv_per_token_and_layer=2 * kv_size,
        n_activations=shape.n_layers * per_layer,
        n_logit_activations=shape.hidden_size + shape.vocab_size,
    )


def _pairs_in_window(length: int, width: int, window: int) -> int:
    """Query-key pairs of ``width`` new tokens after ``length``, each seeing ``window`` at most."""
    n_growing = min(width, max(0, window - length))
    growing = n_growing * length + n_growing * (n_growing + 1) // 2
    return growing + (width - n_growing) * window


_NOTHING = ForwardCost(0, 0, 0, 0, 0, 0)
