"""A trimmed draft is the wide one, as far as its width allows."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from resources.train.trim import trimmed


def config(hidden: int, inner: int) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=64, hidden_size=hidden, num_hidden_layers=1, intermediate_size=inner,
        num_attention_heads=4, num_key_value_heads=2, head_dim=8, tie_word_embeddings=True,
        rms_norm_eps=1e-9,
    )  # fmt: skip


def wide_model() -> LlamaForCausalLM:
    torch.manual_seed(0)
    model = LlamaForCausalLM(config(32, 48))
    layer = model.model.layers[0]
    with torch.no_grad():
        for weight in (layer.input_layernorm.weight, layer.post_attention_layernorm.weight):
            weight.uniform_(0.5, 1.5)
    return model


def test_nothing_cut_is_nothing_lost() -> None:
    wide, ids = wide_model(), torch.arange(40).view(2, 20)
    same = trimmed(wide, wide.config, ids)
    with torch.no_grad():
        torch.testing.assert_close(same(ids).logits, wide(ids).logits, rtol=1e-3, atol=1e-4)


def test_the_directions_that_carry_the_text_are_kept() -> None:
    """A wide model that uses 20 of its 32 dimensions loses nothing at 20."""
    wide, ids = wide_model(), torch.arange(40).view(2, 20)
    layer = wide.model.layers[0]
    with torch.no_grad():
        wide.model.embed_tokens.weight[:, 20:] = 0
        layer.self_attn.o_proj.weight[20:] = 0
        layer.mlp.down_proj.weight[20:] = 0
        narrow = trimmed(wide, config(20, 48), ids)
        torch.testing.assert_close(narrow(ids).logits, wide(ids).logits, rtol=1e-3, atol=1e-4)


def test_a_trimmed_model_can_be_trained() -> None:
    narrow = trimmed(wide_model(), config(16, 24), torch.arange(40).view(2, 20))
    assert narrow.num_parameters() < wide_model().num_parameters()
    assert all(each.requires_grad and not each.is_inference() for each in narrow.parameters())
