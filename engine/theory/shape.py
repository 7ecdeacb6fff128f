"""The shape of a decoder-only transformer: all that its memory and its arithmetic depend on."""

from dataclasses import dataclass

from engine.theory.validate import require_count


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """A dense decoder-only transformer in numbers.

    ``n_parameters`` counts every parameter once: a tied output head adds nothing to it.
    ``sliding_window`` is the number of positions a windowed layer attends to, itself included, and
    ``n_window_layers`` how many layers are windowed (by default all, where there is a window).
    ValueError: a count below 1, heads that the KV heads do not divide, a window without layers.
    """

    n_layers: int
    hidden_size: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    intermediate_size: int
    vocab_size: int
    n_parameters: int
    has_tied_embeddings: bool = False
    sliding_window: int | None = None
    n_window_layers: int | None = None

    def __post_init__(self) -> None:
        for name in _COUNTS:
            require_count(name, getattr(self, name), minimum=1)
        if self.n_heads % self.n_kv_heads:
            raise ValueError(
                f"n_heads ({self.n_heads}) must be a multiple of n_kv_heads ({self.n_kv_heads}): "
                f"each KV head serves the same number of query heads."
            )
        n_embedding = self.n_embedding_parameters + self.n_head_parameters
        if self.n_parameters < n_embedding:
            raise ValueError(
                f"n_parameters ({self.n_parameters:,}) is less than the embeddings alone need "
                f"({n_embedding:,}): check it, or vocab_size, hidden_size and the tied embeddings."
            )
        if self.sliding_window is not None:
            require_count("sliding_window", self.sliding_window, minimum=1)
        if self.n_window_layers is not None:
            require_count("n_window_layers", self.n_window_layers)
            if self.sliding_window is None or self.n_window_layers > self.n_layers:
                raise ValueError(
                    "n_window_layers needs a sliding_window, and at most n_layers "
                    f"({self.n_layers}) of them."
                )

    @property
    def n_kv_values_per_token(self) -> int:
        """Numbers one token adds to the KV cache: a key and a value, per layer and KV head."""
        return 2 * self.n_layers * self.n_kv_heads * self.head_dim

    @property
    def n_embedding_parameters(self) -> int:
        """Parameters of the input embedding table, ``[vocab_size, hidden_size]``."""
        return self.vocab_size * self.hidden_size

    @property
    def n_head_parameters(self) -> int:
        """Parameters of the output head beyond the input table: none when they are tied."""
        return 0 if self.has_tied_embeddings else self.n_embedding_parameters

    @property
    def n_layer_parameters(self) -> int:
        """Parameters of all layers together: everything but the embeddings and the head."""
        return self.n_parameters - self.n_embedding_parameters - self.n_head_parameters

    @property
    def n_windowed_layers(self) -> int:
        """How many layers attend to a sliding window only."""
        if self.sliding_window is None:
            return 0
        return self.n_layers if self.n_window_layers is None else self.n_window_layers


def count_parameters(
    *,
    n_layers: int,
    hidden_size: int,
    n_heads: int,
    n_kv_heads: int,
    head_dim: int,
    intermediate_size: int,
    vocab_size: int,
    has_tied_embeddings: bool,
    has_qkv_bias: bool = False,
    has_qk_norm: bool = False,
    n_norms_per_layer: int = 2,
) -> int:
    """Parameters of a Llama-like model: gated MLP (three matrices), norms with a scale only.

    Qwen2 adds biases to the query, key and value projections, Qwen3 a norm of ``head_dim`` to
    queries and keys, and Gemma 2 has four norms per layer instead of two.
    """
    query_size, kv_size = n_heads * head_dim, n_kv_heads * head_dim
    attention = hidden_size * (2 * query_size + 2 * kv_size)
    if has_qkv_bias:
        attention += query_size + 2 * kv_size
    if has_qk_norm:
        attention += 2 * head_dim
    layer = attention + 3 * hidden_size * intermediate_size + n_norms_per_layer * hidden_size
    embeddings = vocab_size * hidden_size * (1 if has_tied_embeddings else 2)
    return n_layers * layer + embeddings + hidden_size


_COUNTS = (
    "n_layers",
    "hidden_size",
    "n_heads",
    "n_kv_heads",
    "head_dim",
    "intermediate_size",
    "vocab_size",
    "n_parameters",
)
