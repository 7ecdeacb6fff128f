"""Parts put together: caches of the right size, the drafter that was named."""

import gc
import json
import weakref
from typing import Any

import pytest
import torch

from engine import assembly
from engine.assembly import Assembler, free_memory, make_cache, make_drafter, model_loaded
from engine.drafters.composite import CompositeDrafter
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.ngram import NgramDrafter
from engine.drafters.none import NoDrafter
from engine.kv.contiguous_cache import ContiguousCache
from engine.kv.paged_cache import PagedCache
from engine.models import loading
from engine.models.loading import LoadedPair
from engine.telemetry.emitter import Emitter
from engine.telemetry.spans import SpanRecorder
from engine.wire.config import ConfigError, RunConfig
from engine.wire.events import CacheCreated, ModelLoaded, Role
from tests.support.running_engine import RunningEngine
from tests.support.toy_model import ToyModel, ToyTokenizer

TARGET = ToyModel(24, seed=1, context_length=100)
DRAFT = ToyModel(24, seed=2, context_length=50)


@pytest.mark.parametrize(
    ("draft", "kind"),
    [
        ("toy", DraftModelDrafter),
        ("composite", CompositeDrafter),
        ("ngram", NgramDrafter),
        ("none", NoDrafter),
    ],
)
def test_the_drafter_that_was_named(draft: str, kind: type) -> None:
    runner = RunningEngine(TARGET, DRAFT).drafter._runner
    config = RunConfig(draft=draft)
    without = draft in ("ngram", "none")
    made = make_drafter(config, None if without else runner, n_tokens=24, device=TARGET.device)
    assert type(made) is kind


@pytest.mark.parametrize("draft", ["toy", "composite"])
def test_gamma_zero_needs_no_draft_model(draft: str) -> None:
    running = RunningEngine(TARGET, draft=draft, gamma=0, max_new_tokens=3)
    running.run([1, 2])
    assert len(running.output()) == 3
    assert [event.role for event in running.all(CacheCreated)] == [Role.TARGET]


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("out of memory"), MemoryError()])
def test_a_cache_without_room_is_told_in_a_sentence(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise error

    monkeypatch.setattr(assembly, "make_cache", fail)
    with pytest.raises(ConfigError, match="The target model's cache does not fit the memory of"):
        RunningEngine(TARGET, draft="none")


def test_no_drafter_decodes_plainly_whatever_gamma_says() -> None:
    running = RunningEngine(TARGET, draft="none", gamma=4, max_new_tokens=3)
    running.run([1, 2])
    assert [(event.gamma, event.reason) for event in running.proposed()] == [
        (0, "plain decoding")
    ] * 3


@pytest.mark.parametrize(
    ("settings", "n_blocks", "kind"),
    [
        ({"batch": 1}, 7, PagedCache),  # 100 positions
        ({"batch": 3}, 21, PagedCache),
        ({"batch": 3, "block_size": 32}, 12, PagedCache),
        ({"batch": 3, "n_blocks": 5}, 5, PagedCache),
        ({"batch": 2, "allocation": "contiguous"}, 14, ContiguousCache),
    ],
)
def test_a_cache_for_the_batch_at_full_context(
    settings: dict[str, Any], n_blocks: int, kind: type
) -> None:
    cache = make_cache(Role.TARGET, TARGET, RunConfig(**settings), say=lambda event: None)
    assert (type(cache), cache.n_blocks) == (kind, n_blocks)


def test_or_what_a_quarter_of_the_free_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    config = RunConfig(batch=32)
    per_block = 16 * 2 * 16 * 4  # slots, keys and values, width, bytes
    for free, n_blocks in ((per_block * 40, 10), (per_block, 1), (10**12, 224)):
        monkeypatch.setattr(assembly, "free_memory", lambda device, free=free: free)
        cache = make_cache(Role.TARGET, TARGET, config, say=lambda event: None)
        assert cache.n_blocks == n_blocks
        assert cache.bytes_per_block == per_block


def test_free_memory_is_some() -> None:
    assert free_memory(torch.device("cpu")) > 2**20


def test_what_is_said_of_models_and_caches() -> None:
    running = RunningEngine(TARGET, DRAFT, n_blocks=6)
    caches = running.all(CacheCreated)
    assert [(c.role, c.n_blocks, c.block_size, c.allocation) for c in caches] == [
        (Role.TARGET, 6, 16, "paged"),
        (Role.DRAFT, 6, 16, "paged"),
    ]
    assert all(c.total_bytes == 6 * c.bytes_per_block + c.bytes_per_block // 16 for c in caches)
    loaded = model_loaded(Role.DRAFT, DRAFT, load_ns=7)
    assert isinstance(loaded, ModelLoaded)
    assert (loaded.vocab_size, loaded.context_length, loaded.dtype, loaded.device) == (
        24, 50, "float32", "cpu",
    )  # fmt: skip
    assert json.loads(loaded.shape_json)["n_parameters"] == loaded.n_parameters


def test_the_engine_before_is_gone_when_the_next_one_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left: list[weakref.ref[Any]] = []
    n_alive: list[int] = []

    def load(config: RunConfig, *, progress: Any, shelf: Any) -> LoadedPair:
        n_alive.append(sum(cache() is not None for cache in left))
        shelf["target",] = TARGET
        return LoadedPair(TARGET, None, ToyTokenizer(24), 24, (), 0, 0)  # type: ignore[arg-type]

    monkeypatch.setattr(loading, "load_pair", load)
    assemble = Assembler()
    gc.disable()
    try:
        for _ in range(3):
            emitter = Emitter(lambda event: None)
            spans = SpanRecorder(emitter)
            config = RunConfig(draft="none", device="cpu")
            engine = assemble(config, emitter=emitter, spans=spans, rest=lambda point: None)
            left.append(weakref.ref(engine.target.cache))
            del engine, spans
    finally:
        gc.enable()
    assert n_alive == [0, 0, 0]
