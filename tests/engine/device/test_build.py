"""Which parts a step on the device is made of."""

import pytest
import torch

from engine.device.build import free_bytes, modes_of, slot_cache
from engine.kv.pool_attention import GATHER_ONLY
from tests.support.device_engine import DeviceEngine, FakeGraphs
from tests.support.toy_model import ToyModel

TARGET, DRAFT = ToyModel(24, seed=1), ToyModel(24, seed=2)


@pytest.mark.parametrize(
    ("drafter", "has_model", "has_host_drafts"),
    [("toy", True, False), ("composite", True, True), ("ngram", False, True),
     ("none", False, True)],
)  # fmt: skip
def test_who_drafts_where(drafter: str, has_model: bool, has_host_drafts: bool) -> None:
    draft = DRAFT if has_model else None
    step = DeviceEngine(TARGET, draft, draft=drafter, graphs=FakeGraphs()).device_step
    assert (step._drafting is not None) is has_model
    assert step._warm_up._has_host_drafts is has_host_drafts
    assert step.shelf.is_capturing


def test_nothing_is_captured_on_a_cpu() -> None:
    running = DeviceEngine(TARGET, DRAFT)
    assert not running.device_step.shelf.is_capturing
    target = running.engine.target
    assert modes_of(target) is GATHER_ONLY
    assert slot_cache(target) is target.cache
    assert free_bytes(torch.device("cpu")) is None
