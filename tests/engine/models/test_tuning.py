"""Threads are chosen by time, and put back."""

import time

import pytest
import torch

from engine.models import tuning
from engine.models.tuning import choose_threads, cpu_threads


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    monkeypatch.setattr(tuning, "ALL_THREADS", 2)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)


@pytest.mark.parametrize("fastest", [1, 2])
def test_the_faster_number_is_chosen(fastest):
    def forward(batch, store, n_logits):
        time.sleep(0.001 if torch.get_num_threads() == fastest else 0.003)
        return torch.zeros(1, n_logits, 4)

    assert choose_threads(forward, n_parameters=1000, n_ids=4) == fastest


def test_a_small_model_loaded_before_changes_nothing():
    def forward(batch, store, n_logits):
        time.sleep(0.001 if torch.get_num_threads() == 2 else 0.003)
        return torch.zeros(1, n_logits, 4)

    with cpu_threads(1):
        assert choose_threads(forward, n_parameters=1000, n_ids=4) == 2
        assert choose_threads(forward, n_parameters=10**9, n_ids=4) == 2


def test_large_models_get_every_thread():
    assert choose_threads(None, n_parameters=10**9, n_ids=4) == 2


def test_threads_for_a_while():
    with cpu_threads(1):
        assert torch.get_num_threads() == 1
    with cpu_threads(None):
        assert torch.get_num_threads() == 2
