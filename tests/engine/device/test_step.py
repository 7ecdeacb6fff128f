"""Steps on the device say what steps on the host say: token for token, greedy and sampled."""

import weakref
from typing import Any

import pytest
import torch

from engine.decode_loop import NonFiniteTarget
from engine.device import build, step
from engine.device.draft_loop import DraftResults
from engine.device.step import row_count
from engine.kv import pool_attention
from engine.kv.pool_attention import PAGED, RUNS, PoolModes
from engine.models.loading import load_pair
from engine.wire.config import ConfigError, RunConfig
from engine.wire.events import (
    Event,
    LogEmitted,
    SequenceSetBack,
    SpansMeasured,
    StepCommitted,
)
from tests.support.device_engine import DeviceEngine, FakeGraphs
from tests.support.exact_law import chi_squared, p_value, pair_law
from tests.support.running_engine import Patched, RunningEngine, greedy
from tests.support.simulated_varlen import varlen
from tests.support.toy_model import ToyModel

TARGET, DRAFT = ToyModel(24, seed=1), ToyModel(24, seed=2)
ALIKE = ToyModel(24, seed=1, sharpness=1.0)
PROMPTS = [[3, 1, 4, 1, 5, 9, 2, 6], [7], [3, 1, 4, 3, 1], [20, 21], [5] * 17]
SAMPLINGS: dict[str, dict[str, Any]] = {
    "greedy": {},
    "sampled": {"temperature": 1.0, "top_k": 9, "top_p": 0.9, "seed": 5},
}


def pair_of(drafter: str, **settings: Any) -> dict[str, Any]:
    draft = {"toy": DRAFT, "composite": DRAFT, "alike": ALIKE}.get(drafter)
    settings.setdefault("max_new_tokens", 16)
    name = "toy" if drafter == "alike" else drafter
    return {"models": (TARGET, draft), "settings": {"draft": name, **settings}}


def told(running: RunningEngine) -> list[tuple[Any, ...]]:
    return [
        (e.sequence_id, e.token_ids, e.fates, e.extra_token_id, e.extra_origin, e.uniforms)
        for e in running.verified()
    ]


@pytest.mark.parametrize("drafter", ["none", "toy", "alike", "ngram", "composite"])
@pytest.mark.parametrize("sampling", list(SAMPLINGS))
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("is_captured", [False, True])
def test_the_same_steps(drafter: str, sampling: str, batch: int, is_captured: bool) -> None:
    made = pair_of(drafter, gamma=3, batch=batch, **SAMPLINGS[sampling])
    on_host = RunningEngine(*made["models"], **made["settings"])
    graphs = FakeGraphs() if is_captured else None
    on_device = DeviceEngine(*made["models"], graphs=graphs, **made["settings"])
    for running in (on_host, on_device):
        running.run(*PROMPTS, check=False)
    assert told(on_device) == told(on_host)
    for here, there in zip(on_device.verified(), on_host.verified(), strict=True):
        for name in ("draft_probs", "target_probs", "overlaps", "draft_confidences",
                     "target_confidences", "target_entropies"):  # fmt: skip
            assert getattr(here, name) == pytest.approx(getattr(there, name), abs=1e-4), name
    if graphs is not None:
        n_prepared = graphs.n_captures
        on_device.run(*PROMPTS, check=False)
        assert graphs.n_captures == n_prepared, "nothing was left to capture"
        assert graphs.n_replays > n_prepared
    on_device.check()


def test_an_adaptive_gamma_and_short_budgets() -> None:
    made = pair_of("alike", gamma="auto", max_gamma=6, batch=2, max_new_tokens=23)
    running = DeviceEngine(*made["models"], graphs=FakeGraphs(), **made["settings"])
    running.run(*PROMPTS)
    texts = [greedy(TARGET, prompt, 23) for prompt in PROMPTS]
    assert [running.outputs()[index] for index in range(5)] == texts
    assert len({event.gamma for event in running.proposed()}) > 2


@pytest.mark.parametrize("allocation", ["paged", "contiguous"])
def test_near_the_end_of_the_context(allocation: str) -> None:
    target = ToyModel(24, seed=1, context_length=40)
    draft = ToyModel(24, seed=2, context_length=32)
    settings = {"gamma": 4, "max_new_tokens": 99, "allocation": allocation, "batch": 2}
    running = DeviceEngine(target, draft, graphs=FakeGraphs(), **settings)
    running.run(PROMPTS[0], PROMPTS[4])
    for index, prompt in enumerate((PROMPTS[0], PROMPTS[4])):
        assert running.outputs()[index] == greedy(target, prompt, 40 - len(prompt))


def test_sequences_that_are_set_back() -> None:
    made = pair_of("toy", gamma=3, batch=3, n_blocks=3, max_new_tokens=20)
    running = DeviceEngine(*made["models"], graphs=FakeGraphs(), **made["settings"])
    running.run(*PROMPTS[:3])
    assert [event for event in running.events if isinstance(event, SequenceSetBack)]
    texts = [greedy(TARGET, prompt, 20) for prompt in PROMPTS[:3]]
    assert [running.outputs()[index] for index in range(3)] == texts


def test_a_change_of_settings_is_captured_anew() -> None:
    made = pair_of("toy", gamma=2, max_new_tokens=30, temperature=1.0, seed=3)
    graphs = FakeGraphs()
    on_host = RunningEngine(*made["models"], **made["settings"])
    on_device = DeviceEngine(*made["models"], graphs=graphs, **made["settings"])
    for running in (on_host, on_device):
        running.submit(PROMPTS[0])
        for _ in range(3):
            running.step()
        running.engine.set_sampling(0.5, top_k=4, top_p=1.0)
        running.engine.set_gamma(5)
        while running.engine.has_work:
            running.step()
    assert told(on_device) == told(on_host)
    assert graphs.n_drops == 2, "once for the first settings, once for the change of both"
    told_of = [event.message.split()[0] for event in on_device.all(LogEmitted)]
    assert told_of == ["5", "11"], "both times"


def test_caches_that_were_made_anew_are_captured_anew() -> None:
    made = pair_of("toy", gamma=2, max_new_tokens=12)
    graphs = FakeGraphs()
    running = DeviceEngine(*made["models"], graphs=graphs, **made["settings"])
    running.run(PROMPTS[0], check=False)
    cache = running.target_cache
    cache._keys = [keys.clone() for keys in cache._keys]
    cache._heads = [
        (keys.transpose(0, 1)[None], values.transpose(0, 1)[None])
        for keys, values in zip(cache._keys, cache._values, strict=True)
    ]
    n_before, n_drops = graphs.n_captures, graphs.n_drops
    running.run(PROMPTS[3], check=False)
    assert graphs.n_drops == n_drops + 1
    assert graphs.n_captures > n_before
    assert running.outputs()[1] == greedy(TARGET, PROMPTS[3], 12)


def test_tensors_of_graphs_stay_where_they_are() -> None:
    made = pair_of("toy", gamma=3, max_new_tokens=12, temperature=1.0)
    graphs = FakeGraphs()
    running = DeviceEngine(*made["models"], graphs=graphs, **made["settings"])
    running.run(PROMPTS[0], check=False)
    results = running.device_step._results
    inputs = running.device_step.verification._inputs
    assert results is not None
    before = [results.token_ids.data_ptr(), *(i.device["blocks"].data_ptr() for i, _ in
                                              inputs.values())]  # fmt: skip
    running.run(PROMPTS[3])
    after = [results.token_ids.data_ptr(), *(i.device["blocks"].data_ptr() for i, _ in
                                             inputs.values())]  # fmt: skip
    assert before == after
    assert running.device_step._results is results


@pytest.mark.parametrize("fails_at", [0, 3])
def test_a_failed_capture_changes_no_token_and_is_said_once(fails_at: int) -> None:
    made = pair_of("toy", gamma=3, temperature=1.0, seed=8)
    on_host = RunningEngine(*made["models"], **made["settings"])
    on_device = DeviceEngine(
        *made["models"], graphs=FakeGraphs(fails_at=fails_at), **made["settings"]
    )
    for running in (on_host, on_device):
        running.run(*PROMPTS)
    assert told(on_device) == told(on_host)
    assert len(warnings(on_device.events)) == 1


def test_captured_sampling_follows_the_law() -> None:
    """The first two tokens of many sequences against the target's exact distribution."""
    target, draft = ToyModel(8, seed=11, sharpness=1.5), ToyModel(8, seed=12, sharpness=1.5)
    running = DeviceEngine(
        target, draft, graphs=FakeGraphs(), gamma=4, batch=32, max_new_tokens=6, n_blocks=64,
        temperature=1.0, top_p=0.8, seed=77,
    )  # fmt: skip
    for _ in range(192):
        running.submit([3])
    while running.engine.has_work:
        running.step()
        for sequence in list(running.scheduler.running):
            if sequence.n_output >= 2:
                running.engine.stop(sequence.sequence_id)
    pairs = [(output[0], output[1]) for output in running.outputs().values()]
    law = pair_law(target, [3], temperature=1.0, top_p=0.8)
    assert p_value(*chi_squared(pairs, law)) > 0.001


@pytest.mark.parametrize("mode", [PAGED, RUNS])
@pytest.mark.parametrize("block_size", [16, 32])
def test_attention_in_place_gives_the_same_greedy_text(
    mode: str, block_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = load_pair(RunConfig(device="cpu"), progress=lambda detail: None)
    modes = PoolModes(mode == PAGED, True, "as asked")
    monkeypatch.setattr(build, "modes_of", lambda runner: modes)
    monkeypatch.setattr(pool_attention, "_operator", lambda: varlen)
    texts = []
    for kind in (RunningEngine, DeviceEngine):
        running = kind(
            pair.target, pair.draft, tokenizer=pair.tokenizer, n_tokens=pair.n_tokens, gamma=3,
            batch=2, max_new_tokens=20, n_blocks=12, block_size=block_size,
        )  # fmt: skip
        running.run("def quicksort(items):", "import os\n", "class Stack:\n")
        texts.append(running.outputs())
    assert texts[0] == texts[1]


def test_a_draft_without_numbers_ends_there() -> None:
    broken = Patched(DRAFT, lambda logits, batch, n: logits * torch.nan if n > 3 else logits)
    running = DeviceEngine(TARGET, broken, graphs=None, gamma=3, max_new_tokens=12)
    running.run(PROMPTS[0])
    assert running.outputs()[0] == greedy(TARGET, PROMPTS[0], 12)
    assert any(event.n_non_finite_draft for event in running.proposed())


def test_a_target_without_numbers_is_an_error() -> None:
    broken = Patched(TARGET, lambda logits, batch, n: logits * torch.nan)
    running = DeviceEngine(broken, DRAFT, graphs=FakeGraphs(), gamma=2)
    with pytest.raises(NonFiniteTarget, match="non-finite logits after 8 tokens"):
        running.run(PROMPTS[0], check=False)


def test_one_span_holds_the_forwards_of_a_captured_draft() -> None:
    made = pair_of("toy", gamma=3)
    for graphs, n_spans in ((FakeGraphs(), 1), (None, 3)):
        running = DeviceEngine(*made["models"], graphs=graphs, **made["settings"])
        running.run(PROMPTS[0])
        first = next(event for event in running.events if isinstance(event, SpansMeasured)
                     and "draft" in event.names)  # fmt: skip
        assert first.names.count("draft_forward") == n_spans
        assert first.n_syncs is None, "a host that is the device waits for nobody"
        if n_spans == 1:
            assert first.n_forwards[first.names.index("draft_forward")] == 3


def test_the_work_of_a_step_is_counted_as_on_the_host() -> None:
    made = pair_of("toy", gamma=3, batch=2)
    counted = []
    for kind, options in ((RunningEngine, {}), (DeviceEngine, {}),
                          (DeviceEngine, {"graphs": FakeGraphs()})):  # fmt: skip
        running = kind(*made["models"], **made["settings"], **options)
        running.run(*PROMPTS[:2])
        totals: dict[str, int] = {}
        for event in running.events:
            if isinstance(event, SpansMeasured):
                for name, n_flops in zip(event.names, event.n_flops, strict=True):
                    totals[name] = totals.get(name, 0) + (n_flops or 0)
        counted.append(totals)
    assert counted[0]["draft_forward"] > 0
    assert counted[1] == counted[0]
    assert counted[2] == counted[0]


def test_a_pause_after_the_draft_comes_before_the_verdict_is_said() -> None:
    made = pair_of("toy", gamma=2, max_new_tokens=6)
    seen: list[tuple[str, int, int]] = []

    def rest(point: str) -> None:
        if point != "capture":
            seen.append((point, len(running.proposed()), len(running.verified())))

    running = DeviceEngine(*made["models"], graphs=FakeGraphs(), rest=rest, **made["settings"])
    running.run(PROMPTS[0])
    assert seen[:2] == [("draft", 1, 0), ("commit", 1, 1)]


def test_rows_are_powers_of_two_up_to_the_batch() -> None:
    assert [row_count(n, 6) for n in range(1, 7)] == [1, 2, 4, 4, 6, 6]


def warnings(events: list[Event]) -> list[LogEmitted]:
    return [event for event in events if isinstance(event, LogEmitted) and event.level == "warning"]


def test_drafts_that_do_not_fit_are_refused_with_their_bytes_and_the_run_goes_on() -> None:
    running = DeviceEngine(TARGET, DRAFT, graphs=FakeGraphs(), gamma=2)
    free = [5000]
    running.device_step._warm_up.free_bytes = lambda: free[0]
    running.run([3, 1, 4])
    needed = DraftResults.n_bytes(1, 32, 24, has_probs=True)
    running.engine.set_sampling(1.0, top_k=0, top_p=1.0)
    with pytest.raises(ConfigError, match=f"take {needed} bytes, and 5000 are free"):
        running.engine.set_gamma(32)
    running.engine.set_sampling(0.0, top_k=0, top_p=1.0)
    running.engine.set_gamma(32)  # greedily there are no distributions to keep
    free[0] = 0
    with pytest.raises(ConfigError, match="are free"):
        running.engine.set_sampling(1.0, top_k=0, top_p=1.0)
    assert running.engine._loop.sampling.temperature == 0.0


def test_room_for_drafts_is_what_was_checked_and_made_when_the_old_one_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    running = DeviceEngine(TARGET, DRAFT, graphs=FakeGraphs(), gamma=32, max_new_tokens=6)
    running.run(PROMPTS[0], check=False)
    old = weakref.ref(running.device_step._results)
    rooms: list[tuple[int, bool]] = []

    class Noted(DraftResults):
        def __init__(self, n_rows: int, gamma: int, n_tokens: int, **options: Any) -> None:
            assert old() is None, "two at once"
            rooms.append((gamma, options["has_probs"]))
            super().__init__(n_rows, gamma, n_tokens, **options)

    monkeypatch.setattr(step, "DraftResults", Noted)
    running.engine.set_gamma(2)
    running.engine.set_sampling(1.0, top_k=0, top_p=1.0)
    running.run(PROMPTS[0])
    assert rooms == [(2, True)], "not as long as drafts once were"


def test_a_step_that_captures_is_no_measure() -> None:
    running = DeviceEngine(TARGET, DRAFT, graphs=FakeGraphs(), gamma=2)
    running.device_step.prepare = lambda *args, **kwargs: None  # nothing before it is needed
    running.run([3, 1, 4, 1, 5])
    steps = [event for event in running.events if isinstance(event, StepCommitted)]
    assert steps[0].is_profiled
    assert not all(step.is_profiled for step in steps)
