"""Tiny models in folders: random weights and a byte-level tokenizer trained on the spot."""

import json

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from engine.models.token_bytes import byte_alphabet

TEXT = "the quick brown fox jumps over the lazy dog while seven wizards vex a jolly sphinx " * 4
TEMPLATE = (
    "{% for m in messages %}<s>{{ m['content'] }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<s>{% endif %}"
)


def train_tokenizer(*, n_tokens=300):
    """Exactly ``n_tokens`` tokens: byte-level from 259 on, else letters and pieces of words."""
    is_byte_level = n_tokens >= 259
    tokenizer = Tokenizer(models.BPE())
    if is_byte_level:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=n_tokens,
        special_tokens=["<pad>", "<s>", "</s>"],
        initial_alphabet=sorted(byte_alphabet()) if is_byte_level else [],
        show_progress=False,
    )
    tokenizer.train_from_iterator([TEXT], trainer)
    assert tokenizer.get_vocab_size() == n_tokens
    return tokenizer


def wrap(tokenizer, *, chat=False):
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )
    if chat:
        fast.chat_template = TEMPLATE
    return fast


@pytest.fixture(scope="session")
def make_model(tmp_path_factory):
    """make_model(n_logits=..., edit=..., chat=...) -> folder of a 2-layer Llama.

    ``edit`` changes the parsed tokenizer.json in place; ``tail`` fills the head's padding rows.
    """

    def make(*, n_tokens=300, n_logits=304, edit=None, chat=False, seed=0, tail=0.0, extra=()):
        folder = tmp_path_factory.mktemp("model")
        fast = wrap(train_tokenizer(n_tokens=n_tokens), chat=chat)
        if extra:
            fast.add_tokens(list(extra), special_tokens=True)
        fast.save_pretrained(folder)
        if edit is not None:
            file = folder / "tokenizer.json"
            content = json.loads(file.read_text())
            edit(content)
            file.write_text(json.dumps(content))
        torch.manual_seed(seed)
        config = LlamaConfig(
            vocab_size=n_logits,
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=128,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=0,
            attention_bias=True,
        )
        model = LlamaForCausalLM(config)
        with torch.no_grad():
            model.lm_head.weight.normal_()
            model.lm_head.weight[n_tokens:] = tail
        model.save_pretrained(folder)
        return folder

    return make


@pytest.fixture(autouse=True)
def _choices_of_this_test(tmp_path_factory, monkeypatch):
    """Nothing that is timed here is remembered outside."""
    folder = tmp_path_factory.mktemp("choices")
    monkeypatch.setattr("engine.models.choices.choices_folder", lambda: folder)
