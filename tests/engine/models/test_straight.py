"""The straight-line forward is taken only where the model is shaped for it and gives its logits."""

import torch
from transformers import Gemma2Config, GraniteConfig, LlamaConfig, OlmoConfig
from transformers.models.auto.modeling_auto import AutoModelForCausalLM

from engine.models.probe import ProbeStore, probe_batch
from engine.models.straight import RootMeanSquareNorm, StraightForward, is_straight

SMALL = {
    "vocab_size": 40,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "max_position_embeddings": 64,
}


def build(config):
    torch.manual_seed(3)
    return AutoModelForCausalLM.from_config(config).eval().requires_grad_(False)


def straighten(module):
    return StraightForward(module, windows=[None, None], scalings=[8**-0.5] * 2)


def test_shapes_that_qualify():
    assert is_straight(build(LlamaConfig(**SMALL)))
    assert is_straight(build(GraniteConfig(**SMALL)))  # its numbers differ, its parts do not
    assert not is_straight(build(Gemma2Config(**SMALL, head_dim=8)))
    assert not is_straight(build(OlmoConfig(**SMALL))), "its norms have no weights"


def test_rotations_that_depend_on_the_length_do_not_qualify():
    rope = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0}
    assert not is_straight(build(LlamaConfig(**SMALL, rope_parameters=rope)))


def test_the_model_still_works_on_the_fused_weights():
    module = build(LlamaConfig(**SMALL, attention_bias=True))
    ids = torch.arange(6)[None]
    before = module(ids).logits
    straight = straighten(module)
    torch.testing.assert_close(module(ids).logits, before)
    attention = module.model.layers[0].self_attn
    assert attention.q_proj.weight.data_ptr() == straight.layers[0].qkv.weight.data_ptr()


def test_positions_beyond_the_first_table():
    module = build(LlamaConfig(**{**SMALL, "max_position_embeddings": 10_000}))
    straight = straighten(module)
    device = torch.device("cpu")
    near, far = ProbeStore(), ProbeStore()
    with torch.inference_mode():
        first = straight(probe_batch(0, 4, n_ids=40, device=device), near, 4)
        straight(probe_batch(5000, 1, n_ids=40, device=device), far, 1)
        again = straight(probe_batch(0, 4, n_ids=40, device=device), ProbeStore(), 4)
    assert torch.equal(first, again)


def test_the_norm_in_both_dtypes():
    torch.manual_seed(0)
    module = torch.nn.RMSNorm(24, eps=1e-5).requires_grad_(False)
    module.weight.normal_()
    rows = torch.randn(3, 5, 24) * torch.tensor([1e-4, 1.0, 1e4])[:, None, None]
    torch.testing.assert_close(RootMeanSquareNorm(module)(rows), module(rows))
    half = module.bfloat16()
    torch.testing.assert_close(RootMeanSquareNorm(half)(rows.bfloat16()), half(rows.bfloat16()))
