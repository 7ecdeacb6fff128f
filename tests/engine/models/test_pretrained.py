"""What a loaded model says of itself; and a real one, where it is installed."""

import pytest
import torch
from transformers import AutoModelForCausalLM, GPT2Config, LlamaConfig

from engine.kv.transformers_cache import ATTENTION_NAME
from engine.models.catalog import user_data_folder
from engine.models.loading import load_pair
from engine.models.pretrained import PretrainedModel
from engine.models.probe import ProbeStore, probe_batch
from engine.wire.catalog import is_complete
from engine.wire.config import ConfigError, RunConfig

CPU = torch.device("cpu")


def build(config):
    torch.manual_seed(0)
    module = AutoModelForCausalLM.from_config(config).eval()
    module.set_attn_implementation(ATTENTION_NAME)
    return module


def llama(**settings):
    return build(
        LlamaConfig(
            vocab_size=50,
            hidden_size=16,
            intermediate_size=24,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=64,
            **settings,
        )
    )


def test_shape_and_bytes_count_tied_weights_once():
    tied = PretrainedModel(llama(tie_word_embeddings=True), name="tied")
    loose = PretrainedModel(llama(tie_word_embeddings=False), name="loose")
    assert tied.shape.has_tied_embeddings
    assert not loose.shape.has_tied_embeddings
    assert loose.shape.n_parameters - tied.shape.n_parameters == 50 * 16
    assert tied.weight_bytes == 4 * tied.shape.n_parameters
    assert tied.context_length == 64
    assert tied.vocab_size == 50
    assert tied.device == CPU


def test_a_model_with_learned_positions():
    config = GPT2Config(vocab_size=50, n_embd=16, n_layer=2, n_head=2, n_positions=32)
    model = PretrainedModel(build(config), name="gpt2")
    assert model.context_length == 32
    assert model.layer_kv_shapes() == ((2, 8), (2, 8))
    assert model.shape.intermediate_size == 64


def test_a_model_that_ignores_our_cache_is_refused():
    module = llama()
    module.model.config._attn_implementation = "eager"
    module.config._attn_implementation = "eager"
    module.model.layers[0].self_attn.layer_idx = 1
    with pytest.raises(ConfigError, match="pick a model"):
        PretrainedModel(module, name="odd")


def test_a_model_that_our_cache_would_change_is_refused(monkeypatch):
    module = llama()
    layer = module.model.layers[1]
    own = layer.forward

    def forward(hidden, *, attention_mask=None, **options):
        # Looks at the whole forward, so that the cut into forwards matters.
        return own(hidden, attention_mask=attention_mask, **options) + hidden.mean(1, keepdim=True)

    monkeypatch.setattr(layer, "forward", forward)
    with pytest.raises(ConfigError, match="gives other logits with our cache"):
        PretrainedModel(module, name="odd")


def test_logits_carry_no_gradient():
    model = PretrainedModel(llama(), name="tiny")
    logits = model.forward(probe_batch(0, 3, n_ids=50, device=CPU), ProbeStore(), n_logits=1)
    assert logits.shape == (1, 1, 50)
    assert not logits.requires_grad


@pytest.mark.slow
@pytest.mark.skipif(
    not is_complete(user_data_folder() / "models" / "smollm2-135m"),
    reason="smollm2-135m is not installed: specscope models add smollm2-135m",
)
def test_a_real_model_chooses_the_same_tokens_packed_and_plain():
    models = []
    for packed in (False, True):
        config = RunConfig(target="smollm2-135m", draft="none", device="cpu", packed=packed)
        pair = load_pair(config, progress=lambda text: None)
        models.append(pair.target)
    text = "The capital of France is"
    token_ids = pair.tokenizer.encode(text, chat=False)
    assert pair.tokenizer.decode(token_ids) == text
    for width in (1, 5, 9):
        batch = probe_batch(0, width, n_ids=pair.n_tokens, device=CPU)
        plain, packed = (model.forward(batch, ProbeStore(), n_logits=width) for model in models)
        assert torch.equal(plain.argmax(-1), packed.argmax(-1))
        torch.testing.assert_close(plain, packed, rtol=1e-3, atol=2e-3)
