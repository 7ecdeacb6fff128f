"""The memory estimate often seen in print ("document" mode), to check published figures against.

It takes a contiguous cache of context + gamma tokens, four hidden-size activations per draft token,
and 8 % on top of everything. It leaves out the verify step's logits and probabilities (hundreds of
MiB for a large vocabulary and batch), and takes its 8 % of the weights too, which need no headroom.
Its "GB" are GiB (1024^3 bytes). ``engine.theory.footprint`` is the better count.
"""

from engine.theory.footprint import Footprint, kv_bytes_per_token
from engine.theory.shape import ModelShape
from engine.theory.workload import Workload


def simple_footprint(target: ModelShape, draft: ModelShape | None, workload: Workload) -> Footprint:
    """The simple estimate for one GPU; block size, prefill and allowances play no part in it.

    For a 70B and an 8B Llama 3 (70e9 and 8e9 parameters), batch 4, 4,096 tokens, gamma 5: weights
    130.39 and 14.90 GiB, caches 5.01 and 2.00 GiB, 164.48 GiB in all. ValueError: more than one
    GPU, or weights and caches in different formats.
    """
    formats = {workload.target_weights.bits, workload.bytes_per_kv * 8}
    if draft is not None:
        formats.add(workload.draft_weights.bits)
    if len(formats) > 1 or workload.tensor_parallel > 1:
        raise ValueError(
            "The simple estimate (document mode) knows one GPU and one number format: use the "
            "same bits for all weights and the KV cache and no tensor parallelism, or exact mode."
        )
    bytes_per_value = workload.bytes_per_kv
    n_tokens = workload.batch_size * (workload.context_length + workload.gamma)
    n_activations = workload.batch_size * workload.gamma * target.hidden_size * 4
    draft_kv = kv_bytes_per_token(draft, bytes_per_value) if draft else 0.0
    parts = {
        "target_weights_bytes": int(target.n_parameters * bytes_per_value),
        "draft_weights_bytes": int(draft.n_parameters * bytes_per_value) if draft else 0,
        "target_kv_bytes": int(kv_bytes_per_token(target, bytes_per_value) * n_tokens),
        "draft_kv_bytes": int(draft_kv * n_tokens),
        "activations_bytes": int(n_activations * bytes_per_value),
    }
    raw_bytes = sum(parts.values())
    return Footprint(**parts, padding_bytes=int(raw_bytes * 1.08) - raw_bytes)
