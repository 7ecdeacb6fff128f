"""Calling transformers: the cache of a store is kept, and older signatures are served."""

from types import SimpleNamespace

import torch

from engine.kv.transformers_cache import StoreCache, cache_keyword
from engine.models.pretrained_forward import TransformersForward
from engine.models.probe import ProbeStore, probe_batch

BATCH = probe_batch(0, 3, n_ids=9, device=torch.device("cpu"))


class OldModel:
    """A forward without logits_to_keep and with the cache under its older name."""

    config = SimpleNamespace(num_hidden_layers=2)

    def __init__(self):
        self.caches = []

    def forward(self, input_ids, attention_mask, position_ids, past_key_values, **options):
        self.caches.append(past_key_values)
        assert past_key_values.get_seq_length() == 0
        assert past_key_values.layers[0].get_mask_sizes(3) == (3, 0)
        assert options == {"use_cache": True, "return_dict": True}
        return SimpleNamespace(logits=torch.arange(6.0).view(1, 3, 2))


def test_an_older_model_gives_all_logits_and_the_last_are_taken():
    forward = TransformersForward(OldModel())
    assert forward(BATCH, ProbeStore(), 2).tolist() == [[[2.0, 3.0], [4.0, 5.0]]]


def test_one_cache_per_store():
    model = OldModel()
    forward = TransformersForward(model)
    first, second = ProbeStore(), ProbeStore()
    for store in (first, first, second):
        forward(BATCH, store, 1)
    assert model.caches[0] is model.caches[1]
    assert model.caches[1] is not model.caches[2]
    assert isinstance(model.caches[2], StoreCache)


def test_both_names_of_the_cache():
    assert cache_keyword(lambda cache: None) == "cache"
    assert cache_keyword(lambda past_key_values: None) == "past_key_values"
