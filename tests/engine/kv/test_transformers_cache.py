"""Our cache and attention under transformers' models give the logits of transformers alone."""

import copy

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    Gemma2Config,
    GPTNeoXConfig,
    GptOssConfig,
    GraniteConfig,
    LlamaConfig,
    MistralConfig,
    Qwen2Config,
    Qwen3Config,
)

from engine.kv.transformers_cache import ATTENTION_NAME
from engine.models.base import ForwardBatch
from engine.models.pretrained import PretrainedModel

COMMON = {
    "vocab_size": 96,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
}
CONFIGS = {
    "llama": LlamaConfig(**COMMON, tie_word_embeddings=True),
    "qwen2": Qwen2Config(**COMMON),
    "qwen2-window": Qwen2Config(
        **COMMON, use_sliding_window=True, sliding_window=5, max_window_layers=1
    ),
    "qwen3": Qwen3Config(**COMMON, head_dim=16),
    "mistral": MistralConfig(**COMMON, sliding_window=6),
    "gemma2": Gemma2Config(**COMMON, head_dim=8, sliding_window=6, attn_logit_softcapping=3.0),
    "granite": GraniteConfig(**COMMON, residual_multiplier=0.5, attention_multiplier=0.2),
    "neox": GPTNeoXConfig(**{k: v for k, v in COMMON.items() if k != "num_key_value_heads"}),
    "gpt-oss": GptOssConfig(
        **COMMON, head_dim=8, sliding_window=6, num_local_experts=2, num_experts_per_tok=1
    ),
}
STRAIGHT = ("llama", "qwen2", "qwen2-window", "qwen3", "mistral")


class SlotStore:
    """Key and value slots of every layer; the last slot is scratch."""

    def __init__(self, shapes, *, n_slots=64):
        self.scratch = n_slots
        self.keys = [torch.zeros(n_slots + 1, *shape) for shape in shapes]
        self.values = [torch.zeros(n_slots + 1, *shape) for shape in shapes]

    def update(self, layer, keys, values, batch):
        n_rows, n_context = batch.context_slots.shape
        for slots, new in ((self.keys[layer], keys), (self.values[layer], values)):
            slots[batch.write_slots] = new.transpose(1, 2).flatten(0, 1)
        context = batch.context_slots.flatten()
        return tuple(
            slots[context].view(n_rows, n_context, *slots.shape[1:]).transpose(1, 2)
            for slots in (self.keys[layer], self.values[layer])
        )


def make_batch(store, tokens, slots, lengths):
    """Rows of new ``tokens``; row i holds its ``lengths[i]`` positions in ``slots[i]`` order."""
    width, n_context = max(map(len, tokens)), max(lengths)
    n_rows = len(tokens)
    ids = torch.zeros(n_rows, width, dtype=torch.int64)
    positions = torch.zeros(n_rows, width, dtype=torch.int64)
    write = torch.full((n_rows, width), store.scratch)
    context = torch.full((n_rows, n_context), store.scratch)
    for row, (new, length) in enumerate(zip(tokens, lengths, strict=True)):
        pad = width - len(new)
        ids[row, pad:] = torch.tensor(new)
        positions[row, pad:] = torch.arange(length - len(new), length)
        write[row, pad:] = slots[row][length - len(new) : length]
        context[row, :length] = slots[row][:length]
    mask = (positions[:, :, None] >= torch.arange(n_context))[:, None]
    if n_rows == 1 and (width == 1 or lengths[0] == width):
        mask = None
    return ForwardBatch(
        token_ids=ids,
        positions=positions,
        write_slots=write.flatten(),
        context_slots=context,
        mask=mask,
        context_run=None,
        context_lengths=tuple(lengths),
        widths=tuple(map(len, tokens)),
    )


@pytest.fixture(scope="module", params=sorted(CONFIGS))
def kind(request):
    return request.param


def build(kind):
    torch.manual_seed(7)
    model = AutoModelForCausalLM.from_config(copy.deepcopy(CONFIGS[kind])).eval()
    with torch.no_grad():
        for name, value in model.named_parameters():
            value.normal_(std=0.3 if value.ndim > 1 or "sink" in name else 0.1)
            if value.ndim == 1 and "norm" in name and kind != "gemma2":
                value.add_(1.0)
    return model


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "packed"])
def pair(kind, request):
    reference = build(kind)
    reference.set_attn_implementation("eager")
    ours = build(kind)
    ours.set_attn_implementation(ATTENTION_NAME)
    return reference, PretrainedModel(ours, name=kind, packed=request.param)


def expected(reference, ids):
    with torch.inference_mode():
        return reference(torch.tensor([ids])).logits[0]


def close(logits, wanted):
    torch.testing.assert_close(logits, wanted, rtol=1e-4, atol=1e-4)
    assert torch.equal(logits.argmax(-1), wanted.argmax(-1))


def test_the_fast_forward_is_used_where_it_may(kind, pair):
    _, model = pair
    is_packed = any("linear layers" in note for note in model.notes)
    assert ("straight-line forward" in model.notes) == (is_packed and kind in STRAIGHT)


def test_prefill_then_verify_then_one_token_in_shuffled_slots(pair):
    reference, model = pair
    ids = [(i * 31 + 5) % 96 for i in range(20)]
    wanted = expected(reference, ids)
    store = SlotStore(model.layer_kv_shapes())
    slots = [torch.randperm(64, generator=torch.Generator().manual_seed(1))]
    for first, last in ((0, 12), (12, 17), (17, 18), (18, 20)):
        batch = make_batch(store, [ids[first:last]], slots, [last])
        logits = model.forward(batch, store, n_logits=last - first)
        assert logits.shape == (1, last - first, 96)
        close(logits[0], wanted[first:last])


def test_rollback_is_a_shorter_context(pair):
    reference, model = pair
    store = SlotStore(model.layer_kv_shapes())
    slots = [torch.arange(64)]
    start = [3, 1, 4, 1, 5, 9, 2, 6]
    model.forward(make_batch(store, [start], slots, [8]), store, n_logits=1)
    model.forward(make_batch(store, [[8, 9, 7]], slots, [11]), store, n_logits=3)
    logits = model.forward(make_batch(store, [[8, 2, 2]], slots, [11]), store, n_logits=3)
    close(logits[0], expected(reference, [*start, 8, 2, 2])[-3:])


def test_ragged_rows_are_padded_on_the_left(pair):
    reference, model = pair
    store = SlotStore(model.layer_kv_shapes())
    rows = [[(i * 7 + 1) % 96 for i in range(13)], [(i * 5 + 2) % 96 for i in range(4)], [11, 12]]
    order = torch.randperm(63, generator=torch.Generator().manual_seed(2))
    slots = [order[:21], order[21:42], order[42:]]
    widths = (5, 3, 1)
    for row, width, own in zip(rows, widths, slots, strict=True):
        past = row[:-width]
        model.forward(make_batch(store, [past], [own], [len(past)]), store, n_logits=1)
    new = [row[-width:] for row, width in zip(rows, widths, strict=True)]
    batch = make_batch(store, new, slots, [len(row) for row in rows])
    logits = model.forward(batch, store, n_logits=5)
    for index, (row, width) in enumerate(zip(rows, widths, strict=True)):
        close(logits[index, 5 - width :], expected(reference, row)[-width:])


def test_only_the_last_logits_are_computed(pair):
    reference, model = pair
    store = SlotStore(model.layer_kv_shapes())
    ids = list(range(10))
    batch = make_batch(store, [ids], [torch.arange(64)], [10])
    logits = model.forward(batch, store, n_logits=2)
    assert logits.shape == (1, 2, 96)
    close(logits[0], expected(reference, ids)[-2:])


def test_two_stores_do_not_mix(pair):
    reference, model = pair
    stores = [SlotStore(model.layer_kv_shapes()) for _ in range(2)]
    slots = [torch.arange(64)]
    for store, start in zip(stores, ([1, 2, 3], [4, 5, 6]), strict=True):
        model.forward(make_batch(store, [start], slots, [3]), store, n_logits=1)
    for store, start in zip(stores, ([1, 2, 3], [4, 5, 6]), strict=True):
        logits = model.forward(make_batch(store, [[9]], slots, [4]), store, n_logits=1)
        close(logits[0], expected(reference, [*start, 9])[-1:])
