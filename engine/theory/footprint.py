"""How much GPU memory a pair of models needs, part by part: what an engine really allocates."""

import math
from dataclasses import dataclass, fields

from engine.theory.shape import ModelShape
from engine.theory.workload import WeightFormat, Workload

_FP32_BYTES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """Bytes on the fullest GPU, by component.

    ``lookahead_kv_bytes`` is what both caches hold beyond the context: the gamma + 1 tokens in
    flight and the rest of each sequence's last block. ``padding_bytes`` is the flat 8 % of the
    simple estimate, else 0.
    """

    target_weights_bytes: int
    draft_weights_bytes: int
    target_kv_bytes: int
    draft_kv_bytes: int
    lookahead_kv_bytes: int = 0
    verify_buffers_bytes: int = 0
    activations_bytes: int = 0
    cuda_context_bytes: int = 0
    cuda_graphs_bytes: int = 0
    padding_bytes: int = 0
    n_gpus: int = 1

    def components(self) -> dict[str, int]:
        """The parts by name ("target_weights", ...), in bytes; they add up to ``total_bytes``."""
        return {
            field.name.removesuffix("_bytes"): getattr(self, field.name)
            for field in fields(self)
            if field.name.endswith("_bytes")
        }

    @property
    def total_bytes(self) -> int:
        """All parts together, on the fullest GPU."""
        return sum(self.components().values())

    @property
    def before_buffers_bytes(self) -> int:
        """Weights and the caches of the context alone: what no engine can do without."""
        return (
            self.target_weights_bytes
            + self.draft_weights_bytes
            + self.target_kv_bytes
            + self.draft_kv_bytes
        )

    def fits(self, budget_bytes: float) -> bool:
        """Whether the fullest GPU stays within ``budget_bytes``."""
        return self.total_bytes <= budget_bytes


def footprint(target: ModelShape, draft: ModelShape | None, workload: Workload) -> Footprint:
    """The memory that ``workload`` needs on the fullest GPU; ``draft`` None counts none.

    Caches keep every position of every layer: a sliding window saves reading, not room. Buffers
    are those of a step in fp32: target logits and probabilities for gamma + 1 positions, draft
    probabilities for gamma. They and the hidden states are whole on every GPU; weights and KV
    heads are shared out. Everything is added up, though buffers and the activations of a prefill
    are seldom alive together. ValueError: heads that cannot be shared among the GPUs.
    """
    load = workload
    n_context = load.batch_size * load.context_length
    n_lookahead = load.batch_size * load.n_tokens_per_sequence - n_context
    target_kv = kv_bytes_per_token(target, load.bytes_per_kv, n_gpus=load.tensor_parallel)
    draft_kv = 0.0
    if draft is not None:
        draft_kv = kv_bytes_per_token(draft, load.bytes_per_kv, n_gpus=load.n_draft_gpus)
    return Footprint(
        target_weights_bytes=weights_bytes(
            target, load.target_weights, n_gpus=load.tensor_parallel
        ),
        draft_weights_bytes=0
        if draft is None
        else weights_bytes(draft, load.draft_weights, n_gpus=load.n_draft_gpus),
        target_kv_bytes=math.ceil(target_kv * n_context),
        draft_kv_bytes=math.ceil(draft_kv * n_context),
        lookahead_kv_bytes=math.ceil((target_kv + draft_kv) * n_lookahead),
        verify_buffers_bytes=verify_buffers_bytes(target, draft, load),
        activations_bytes=max(
            activations_bytes(target, load, n_gpus=load.tensor_parallel),
            0 if draft is None else activations_bytes(draft, load, n_gpus=load.n_draft_gpus),
        ),
        cuda_context_bytes=load.cuda_context_bytes,
        cuda_graphs_bytes=load.cuda_graphs_bytes,
        n_gpus=load.tensor_parallel,
    )


def weights_bytes(shape: ModelShape, weight_format: WeightFormat, *, n_gpus: int = 1) -> int:
    """Bytes of the weights on one of ``n_gpus``, with the KV projections that must be repeated.

    ValueError: heads that ``n_gpus`` does not divide.
    """
    n_repeated = n_gpus * n_kv_heads_per_gpu(shape, n_gpus) - shape.n_kv_heads
    n_layer = shape.n_layer_parameters
    n_layer += 2 * shape.n_layers * shape.hidden_size * shape.head_dim * n_repeated
    n_embedding = shape.n_embedding_parameters + shape.n_head_parameters
    total = n_layer * weight_format.bytes_per_weight
    total += n_embedding * weight_format.bytes_per_embedding
    return math.ceil(total / n_gpus)


def kv_bytes_per_token(shape: ModelShape, bytes_per_kv: float = 2.0, *, n_gpus: int = 1) -> float:
    """Bytes one token adds to the cache on one GPU: 2 * layers * KV heads * head dim * bytes.

    ValueError: heads that ``n_gpus`` does not divide.
    """
    n_heads = n_kv_heads_per_gpu(shape, n_gpus)
    return 2 * shape.n_layers * n_heads * shape.head_dim * bytes_per_kv


def n_kv_heads_per_gpu(shape: ModelShape, n_gpus: int) -> int:
    """KV heads on one GPU: shared out, or repeated when there are more GPUs than KV heads.

    ValueError: query heads that ``n_gpus`` does not divide, or KV heads that neither divide it nor
    are divided by it.
    """
    if shape.n_heads % n_gpus or (shape.n_kv_heads % n_gpus and n_gpus % shape.n_kv_heads):
        raise ValueError(
            f"{shape.n_heads} heads with {shape.n_kv_heads} KV heads cannot be shared evenly among "
            f"{n_gpus} GPUs; choose a tensor-parallel size that divides both, or for the draft "
            "a smaller one of its own."
        )
    return max(1, shape.n_kv_heads // n_gpus)


def verify_buffers_bytes(target: ModelShape, draft: ModelShape | None, workload: Workload) -> int:
    """Bytes of a step's fp32 logits and probabilities, target and draft, over the vocabulary."""
    n_values = 2 * workload.batch_size * (workload.gamma + 1) * target.vocab_size
    if draft is not None:
        n_values += workload.batch_size * workload.gamma * draft.vocab_size
    return n_values * _FP32_BYTES


def activations_bytes(shape: ModelShape, workload: Workload, *, n_gpus: int = 1) -> int:
    """Bytes alive at the widest point of a layer, for the widest forward: prefill or verify.

    Per token: the residual and its norm, and then either gate, up and their product, or query, key,
    value and the attention's output, whichever is more.
    """
    n_context = workload.batch_size * workload.context_length
    n_tokens = max(
        min(workload.prefill_chunk, n_context), workload.batch_size * (workload.gamma + 1)
    )
    mlp = 3 * shape.intermediate_size / n_gpus
    kv_size = 2 * n_kv_heads_per_gpu(shape, n_gpus) * shape.head_dim
    attention = 2 * shape.n_heads * shape.head_dim / n_gpus + kv_size
    per_token = 2 * shape.hidden_size + max(mlp, attention)
    return math.ceil(n_tokens * per_token * workload.bytes_per_activation)
