"""Probes run a sequence the three ways decoding does."""

import torch

from engine.models.probe import N_PROBE_FORWARDS, ProbeStore, agrees, probe_batch, run_probe


def test_the_store_remembers_and_grows():
    store = ProbeStore()
    device = torch.device("cpu")
    keys = torch.randn(1, 2, 3, 8)
    store.update(0, keys, keys, probe_batch(0, 3, n_ids=9, device=device))
    more = torch.randn(1, 2, 1, 8)
    context, _ = store.update(0, more, more, probe_batch(3, 1, n_ids=9, device=device))
    assert torch.equal(context, torch.cat((keys, more), 2))
    assert store.shapes == {0: (2, 8)}
    assert not store.has_odd_values
    store.update(1, keys, keys[..., :4], probe_batch(0, 3, n_ids=9, device=device))
    assert store.has_odd_values


def test_batches_follow_the_rules_for_masks():
    device = torch.device("cpu")
    assert probe_batch(0, 4, n_ids=9, device=device).mask is None
    assert probe_batch(4, 1, n_ids=9, device=device).mask is None
    mask = probe_batch(4, 2, n_ids=9, device=device).mask
    assert mask.tolist() == [[[[True] * 5 + [False], [True] * 6]]]


def test_one_sequence_is_run_through():
    batches = []

    def forward(batch, store, n_logits):
        batches.append(batch)
        return torch.zeros(1, n_logits, 5)

    result = run_probe(forward, n_ids=5, device=torch.device("cpu"))
    assert len(batches) == N_PROBE_FORWARDS
    positions = torch.cat([batch.positions[0] for batch in batches])
    assert torch.equal(positions, torch.arange(len(positions)))
    assert len(result.logits) == len(positions)


def test_agreement_is_relative():
    logits = torch.linspace(-10, 10, 50)
    assert agrees(logits + 1e-4, logits)
    assert not agrees(logits + 1e-2, logits)
    assert agrees(logits.bfloat16() + 0.1, logits.bfloat16())
    assert not agrees(torch.full((50,), torch.nan), logits)
