"""What a deployment asks for: sequences, their length, gamma, number formats, GPUs."""

from dataclasses import dataclass

from engine.theory.validate import require_at_least, require_count, require_positive

MIB = 1024**2
GIB = 1024**3


def to_gib(n_bytes: float) -> float:
    """Bytes as GiB (1024^3 bytes)."""
    return n_bytes / GIB


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightFormat:
    """How weights are stored: bits per value, and what quantisation keeps beside them.

    Each group of ``group_size`` values has a scale of ``scale_bits`` and, where the format has
    them, a zero point of ``zero_point_bits``; None means one scale per row or tensor, too few to
    count. ``embedding_bits`` holds for the embedding table and the output head, which most
    formats leave at 16 bits: None means 16, or ``bits`` where that is more.
    ValueError: a number of bits not above 0, a group below 1.
    """

    bits: float = 16.0
    group_size: int | None = None
    scale_bits: float = 16.0
    zero_point_bits: float = 0.0
    embedding_bits: float | None = None

    def __post_init__(self) -> None:
        require_positive("bits per weight", self.bits)
        require_at_least("scale_bits", self.scale_bits, minimum=0.0)
        require_at_least("zero_point_bits", self.zero_point_bits, minimum=0.0)
        if self.group_size is not None:
            require_count("group_size", self.group_size, minimum=1)
        if self.embedding_bits is not None:
            require_positive("embedding_bits", self.embedding_bits)

    @property
    def bytes_per_weight(self) -> float:
        """Bytes of one weight of a layer, with its share of the group's scale and zero point."""
        per_group = 0.0 if self.group_size is None else self.scale_bits + self.zero_point_bits
        return (self.bits + per_group / (self.group_size or 1)) / 8.0

    @property
    def bytes_per_embedding(self) -> float:
        """Bytes of one value of the embedding table or the output head."""
        bits = max(self.bits, 16.0) if self.embedding_bits is None else self.embedding_bits
        return bits / 8.0


BF16 = WeightFormat()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A load to budget memory for.

    ``context_length`` is the longest sequence, prompt and answer together, in tokens; every one of
    the ``batch_size`` sequences may grow to it. ``gamma`` is the most draft tokens of a step. A
    paged cache hands out blocks of ``block_size`` tokens. ``tensor_parallel`` GPUs share the
    target; the draft is spread over ``draft_tensor_parallel`` of them (None: over as many).
    ``prefill_chunk`` is the most tokens that one prefill forward takes in. The two allowances are
    for what no shape tells: the CUDA context with its libraries' workspaces, and the private
    memory pool of captured CUDA graphs; measure yours and replace them.
    ValueError: a count below its minimum, a size that is negative or not finite.
    """

    batch_size: int = 1
    context_length: int = 4096
    gamma: int = 5
    block_size: int = 16
    tensor_parallel: int = 1
    draft_tensor_parallel: int | None = None
    target_weights: WeightFormat = BF16
    draft_weights: WeightFormat = BF16
    bytes_per_kv: float = 2.0
    bytes_per_activation: float = 2.0
    prefill_chunk: int = 2048
    cuda_context_bytes: int = 512 * MIB
    cuda_graphs_bytes: int = 256 * MIB

    def __post_init__(self) -> None:
        for name in ("batch_size", "context_length", "block_size", "tensor_parallel"):
            require_count(name, getattr(self, name), minimum=1)
        require_count("prefill_chunk", self.prefill_chunk, minimum=1)
        for name in ("gamma", "cuda_context_bytes", "cuda_graphs_bytes"):
            require_count(name, getattr(self, name))
        if self.draft_tensor_parallel is not None:
            require_count("draft_tensor_parallel", self.draft_tensor_parallel, minimum=1)
            if self.draft_tensor_parallel > self.tensor_parallel:
                raise ValueError(
                    f"draft_tensor_parallel ({self.draft_tensor_parallel}) cannot exceed "
                    f"tensor_parallel ({self.tensor_parallel}): the draft uses the target's GPUs."
                )
        require_positive("bytes_per_kv", self.bytes_per_kv)
        require_positive("bytes_per_activation", self.bytes_per_activation)

    @property
    def n_draft_gpus(self) -> int:
        """How many GPUs share the draft."""
        return self.draft_tensor_parallel or self.tensor_parallel

    @property
    def n_tokens_per_sequence(self) -> int:
        """Cache room one sequence needs in a step: context + gamma + 1, in whole blocks, tokens."""
        n_blocks = -(-(self.context_length + self.gamma + 1) // self.block_size)
        return n_blocks * self.block_size
