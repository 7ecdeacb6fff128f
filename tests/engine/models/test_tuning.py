"""Threads go by the size of a model, and are put back."""

import pytest
import torch

from engine.models import tuning
from engine.models.tuning import cpu_threads, threads_for


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    monkeypatch.setattr(tuning, "ALL_THREADS", 2)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)


def test_small_models_get_one_thread_and_large_ones_all():
    assert threads_for(1000) == 1
    assert threads_for(10**9) == 2


def test_a_small_model_loaded_before_changes_nothing():
    with cpu_threads(1):
        assert threads_for(10**9) == 2


def test_threads_for_a_while():
    with cpu_threads(1):
        assert torch.get_num_threads() == 1
    with cpu_threads(None):
        assert torch.get_num_threads() == 2
