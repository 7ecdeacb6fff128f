import torch

from engine.models.inflated_weights import InflatedWeights
from engine.models.inflation import Inflation
from engine.theory.shape import ModelShape, count_parameters


def shape(**sizes: int) -> ModelShape:
    n_parameters = count_parameters(has_tied_embeddings=False, **sizes)
    return ModelShape(n_parameters=n_parameters, **sizes)


SMALL = shape(
    n_layers=1, hidden_size=8, n_heads=2, n_kv_heads=1, head_dim=4, intermediate_size=6,
    vocab_size=5,
)  # fmt: skip
LARGE = shape(
    n_layers=2, hidden_size=128, n_heads=8, n_kv_heads=2, head_dim=8, intermediate_size=16,
    vocab_size=9,
)  # fmt: skip
INFLATION = Inflation(SMALL, LARGE)


def small_tensors() -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    alike = Inflation(SMALL, SMALL)
    shapes = InflatedWeights(alike, {}, dtype=torch.float32).shapes()
    return {name: torch.randn(size, generator=generator) for name, size in shapes.items()}


TENSORS = small_tensors()
WEIGHTS = InflatedWeights(INFLATION, TENSORS, dtype=torch.bfloat16)


def whole(name: str) -> torch.Tensor:
    rows = WEIGHTS.shapes()[name][0]
    return torch.cat([WEIGHTS.block(name, row, row + 1) for row in range(rows)]).float()


def part(name: str, layer: int = 0) -> str:
    return f"model.layers.{layer}.{name}.weight"


def test_the_shapes_are_the_large_models() -> None:
    shapes = WEIGHTS.shapes()
    values = sum(torch.Size(size).numel() for size in shapes.values())
    assert values == LARGE.n_parameters
    assert shapes[part("self_attn.k_proj", 1)] == (16, 128)


def test_copies_and_zeros_behind_them() -> None:
    n = INFLATION.n_copies
    embedding = whole("model.embed_tokens.weight")
    expected = TENSORS["model.embed_tokens.weight"].bfloat16().float()
    for copy in range(n):
        assert torch.equal(embedding[:5, copy * 8 : copy * 8 + 8], expected)
    assert not embedding[:5, n * 8 :].any()
    assert embedding[5:].all(), "tokens that do not exist cost what others cost"


def test_queries_are_spread_over_copies_to_the_last_bit() -> None:
    assert (INFLATION.n_copies, INFLATION.n_parts) == (4, 3)
    rows = whole(part("self_attn.q_proj"))[INFLATION.rotary_rows()]
    spread = rows[:, : INFLATION.n_parts * 8].view(4, INFLATION.n_parts, 8).sum(1)
    exact = TENSORS[part("self_attn.q_proj")][:4] * INFLATION.query_factor
    assert (spread - exact).abs().max() < 1e-5, "one copy alone would be off by a hundredth"


def test_values_of_added_heads_are_zero_where_they_are_read() -> None:
    values = whole(part("self_attn.v_proj"))
    read = values[:, : INFLATION.n_parts * 8]
    assert not read[4:].any()
    assert values[4:, INFLATION.n_parts * 8 :].any(), "random where nothing is read"
    assert whole(part("self_attn.o_proj"))[:, 32:].all(), "what reads zeros may be anything"


def test_an_added_layer_adds_nothing() -> None:
    assert not whole(part("self_attn.o_proj", 1)).any()
    assert not whole(part("mlp.down_proj", 1)).any()
    assert whole(part("mlp.gate_proj", 1)).any()


def test_added_tokens_are_never_the_likeliest() -> None:
    head = whole("lm_head.weight")[:, :8]
    hidden = torch.randn(50, 8, generator=torch.Generator().manual_seed(2))
    logits = hidden @ head.T
    assert (logits[:, 5:].amax(-1) < logits[:, :5].amax(-1)).all()


def test_an_intermediate_entry_that_was_added_comes_out_as_zero() -> None:
    assert not whole(part("mlp.up_proj"))[6:, :8].any()
    down = whole(part("mlp.down_proj"))
    assert not down[INFLATION.n_copies * 8 :, :6].any()
    assert down[:, 6:].all()
