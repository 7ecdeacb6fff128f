"""Captured steps on a CUDA device: the same text, the law, seeds, memory, and a sampler beside."""

from typing import Any

import pytest
import torch

from engine.assembly import Parts, put_together
from engine.benchmark.transformers_side import TransformersSide
from engine.models.loading import LoadedPair, load_pair
from engine.telemetry.cuda_timer import CudaTimer
from engine.telemetry.emitter import Emitter
from engine.telemetry.gpu_sampler import GpuSampler
from engine.telemetry.nvml_device import cuda_uuid
from engine.telemetry.spans import SpanRecorder
from engine.wire.commands import SubmitPrompt
from engine.wire.config import RunConfig
from engine.wire.events import (
    CalibrationMeasured,
    Event,
    GpuSampled,
    KvAdvanced,
    LogEmitted,
    SpansMeasured,
    StepCommitted,
)

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]

PROMPTS = ("def quicksort(items):\n", '{"name": "Ada", "age": ', "import os\n\n\ndef ")
SAMPLED = {"temperature": 0.8, "top_p": 0.95, "seed": 11}


@pytest.fixture(scope="module")
def pair() -> LoadedPair:
    torch.backends.cuda.matmul.allow_tf32 = False
    return load_pair(settings(), progress=lambda detail: None)


def settings(**changes: Any) -> RunConfig:
    known = {"device": "cuda", "dtype": "float32", "calibrate": False, "max_new_tokens": 48}
    return RunConfig(**{**known, **changes})


def make_engine(pair: LoadedPair, config: RunConfig) -> tuple[Any, list[Event]]:
    said: list[Event] = []
    emitter = Emitter(said.append)
    engine = put_together(
        config,
        Parts(pair.target, pair.draft, pair.tokenizer, pair.n_tokens),
        emitter=emitter,
        spans=SpanRecorder(emitter, gpu_timer=CudaTimer()),
        rest=lambda point: None,
    )
    return engine, said


def decode(pair: LoadedPair, prompts: tuple[str, ...] = PROMPTS, **changes: Any) -> list[Event]:
    engine, said = make_engine(pair, settings(**changes))
    for prompt in prompts:
        engine.submit(SubmitPrompt(text=prompt))
    while engine.has_work:
        engine.step()
    warnings = [e for e in said if isinstance(e, LogEmitted) and e.level != "info"]
    assert not warnings, warnings
    return said


def texts(events: list[Event]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for event in events:
        if isinstance(event, StepCommitted):
            found.setdefault(event.sequence_id, []).extend(event.token_ids)
    return found


@pytest.mark.parametrize("draft", ["bundled-draft", "ngram", "composite", "none"])
@pytest.mark.parametrize("batch", [1, 3])
def test_captured_text_is_eager_text(pair: LoadedPair, draft: str, batch: int) -> None:
    both = [
        texts(decode(pair, draft=draft, batch=batch, graphs=graphs)) for graphs in (True, False)
    ]
    assert both[0] == both[1]


def test_captured_text_is_that_of_transformers(pair: LoadedPair) -> None:
    theirs = TransformersSide(
        "bundled-target", None, gamma=0, n_lookup=0, max_new_tokens=48,
        eos_ids=pair.tokenizer.eos_ids, dtype=torch.float32, device=pair.target.device,
    )  # fmt: skip
    ours = texts(decode(pair))
    for index, prompt in enumerate(PROMPTS):
        ids = pair.tokenizer.encode(prompt, chat=False)
        assert ours[index] == theirs.plain(ids).token_ids


def test_a_seed_gives_its_text_captured_or_not_and_another_seed_another(pair: LoadedPair) -> None:
    captured = texts(decode(pair, **SAMPLED))
    assert captured == texts(decode(pair, **SAMPLED))
    assert captured == texts(decode(pair, **SAMPLED, graphs=False))
    assert captured != texts(decode(pair, **{**SAMPLED, "seed": 12}))


def test_replays_draw_new_numbers_every_time(pair: LoadedPair) -> None:
    """Many sequences from one prompt: the first token's counts follow the target's law."""
    ids = pair.tokenizer.encode(PROMPTS[0], chat=False)
    theirs = TransformersSide(
        "bundled-target", None, gamma=0, n_lookup=0, max_new_tokens=1, eos_ids=frozenset(),
        dtype=torch.float32, device=pair.target.device,
    )  # fmt: skip
    with torch.inference_mode():
        logits = theirs.target(torch.tensor([ids], device=pair.target.device)).logits[0, -1]
    law = logits[: pair.n_tokens].double().softmax(-1).cpu()
    n_samples = 600
    events = decode(
        pair, (PROMPTS[0],) * n_samples, temperature=1.0, batch=32, max_new_tokens=2, gamma=1
    )
    counts = torch.zeros_like(law)
    for output in texts(events).values():
        counts[output[0]] += 1
    # Tokens that are rarer than five in so many share one cell.
    common = law * n_samples >= 5
    seen = torch.cat((counts[common], counts[~common].sum()[None]))
    expected = torch.cat((law[common], law[~common].sum()[None])) * n_samples
    distance = float(((seen - expected) ** 2 / expected.clamp(min=1e-9)).sum())
    n_free = len(expected) - 1
    assert distance < n_free + 5 * (2 * n_free) ** 0.5 + 5


def test_what_is_rolled_back_leaves_no_trace(pair: LoadedPair) -> None:
    """A draft that is mostly rejected, over blocks that are freed and taken again."""
    events = decode(pair, batch=3, n_blocks=24, gamma=8)
    assert any(isinstance(e, KvAdvanced) and e.n_rolled_back for e in events)
    assert texts(events) == texts(decode(pair, batch=3, draft="none"))


def test_a_step_waits_once_and_its_draft_is_one_span(pair: LoadedPair) -> None:
    measured = [e for e in decode(pair, PROMPTS[:1]) if isinstance(e, SpansMeasured)]
    assert {event.n_syncs for event in measured} == {1}
    drafted = [event for event in measured if "draft_forward" in event.names]
    assert all(event.names.count("draft_forward") == 1 for event in drafted)
    assert max(max(event.n_forwards, default=1) for event in drafted) == 4
    eager = [e for e in decode(pair, PROMPTS[:1], graphs=False) if isinstance(e, SpansMeasured)]
    assert max(event.names.count("draft_forward") for event in eager) == 4
    assert {event.n_syncs for event in eager} == {1}


def test_launches_are_what_graphs_save(pair: LoadedPair) -> None:
    events = decode(pair, PROMPTS[:1], calibrate=True)
    (measured,) = [e for e in events if isinstance(e, CalibrationMeasured)]
    assert measured.draft_launch_share is not None
    assert measured.uncaptured_launch_share is not None
    assert measured.draft_launch_share < measured.uncaptured_launch_share


def test_the_estimate_of_memory_is_near_the_peak(pair: LoadedPair) -> None:
    """Weights, caches and what the step's functions take, against what the device gave out."""
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    engine, _ = make_engine(
        pair, settings(batch=8, gamma=4, n_blocks=16384)
    )  # far more than workspaces
    for prompt in PROMPTS * 3:
        engine.submit(SubmitPrompt(text=prompt))
    while engine.has_work:
        engine.step()
    peak = torch.cuda.max_memory_allocated() - before
    step = engine._loop.device_step
    caches = engine.target.cache.total_bytes + step._drafting.loop.cache.total_bytes
    estimate = caches + step._warm_up.n_bytes(8, 4, 128)
    assert abs(peak - estimate) <= 0.1 * peak


def test_a_capture_while_the_sampler_polls(pair: LoadedPair) -> None:
    said: list[Event] = []
    with GpuSampler(Emitter(said.append), cuda_uuid(torch.device("cuda", 0)), rate_hz=200):
        for gamma in (1, 3, 5):
            assert texts(decode(pair, gamma=gamma))
    assert not [event for event in said if isinstance(event, LogEmitted)]
    assert [event for event in said if isinstance(event, GpuSampled)]
