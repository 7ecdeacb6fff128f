"""Greedy text on the GPU is the target's own: captured or not, however attention reads the cache.

What is compared is said by transformers' forward, token by token; see ``tests.gpu.reference``.
"""

from typing import Any

import pytest
import torch

from engine.device import build
from engine.kv.pool_attention import GATHER, GATHER_ONLY, PAGED, RUNS, PoolModes
from engine.models.loading import LoadedPair, load_pair
from engine.wire.events import KvAdvanced
from tests.gpu.reference import SINGLE_TIE, Reference, doubts, margin_error
from tests.gpu.runs import (
    ON_GPU,
    PROMPTS,
    decode,
    make_engine,
    of_kind,
    run,
    settings,
    submit,
    texts,
)

pytestmark = ON_GPU

FORCED = {
    GATHER: GATHER_ONLY,
    RUNS: PoolModes(False, True, "as asked"),
    PAGED: PoolModes(True, True, "as asked"),
}


def require_greedy(
    outputs: dict[int, list[int]], pair: LoadedPair, reference: Reference, *, tie: float
) -> None:
    """Print every token that is not the reference's best, and fail where it is no tie."""
    assert sorted(outputs) == list(range(len(PROMPTS)))
    wrong = []
    for index, prompt in enumerate(PROMPTS):
        ids = pair.tokenizer.encode(prompt, chat=False)
        logits = reference.logits(ids, outputs[index])[:, : pair.n_tokens]
        for doubt in doubts(logits, outputs[index]):
            print(f"sequence {index}: {doubt}, a tie below {tie:.3g}")
            wrong += [(index, doubt)] if doubt.gap >= tie else []
    assert not wrong, wrong


@pytest.mark.parametrize("draft", ["bundled-draft", "ngram", "composite", "none"])
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("graphs", [True, False], ids=["captured", "eager"])
def test_single_precision(
    pair: LoadedPair, reference: Reference, draft: str, batch: int, graphs: bool
) -> None:
    outputs = texts(decode(pair, draft=draft, batch=batch, graphs=graphs))
    require_greedy(outputs, pair, reference, tie=SINGLE_TIE)


def test_the_cpu_says_the_same(pair: LoadedPair, reference: Reference) -> None:
    """But for ties, behind which the two may go on differently."""
    on_cpu = load_pair(settings(device="cpu"), progress=lambda detail: None)
    here, there = (texts(decode(each, device=each.target.device.type)) for each in (pair, on_cpu))
    require_greedy(here, pair, reference, tie=SINGLE_TIE)
    require_greedy(there, pair, reference, tie=SINGLE_TIE)


def test_what_is_rolled_back_leaves_no_trace(pair: LoadedPair, reference: Reference) -> None:
    """Drafts that are mostly rejected, over blocks that are given back and taken again."""
    events = decode(pair, batch=3, n_blocks=24, gamma=8)
    assert any(event.n_rolled_back for event in of_kind(events, KvAdvanced))
    require_greedy(texts(events), pair, reference, tie=SINGLE_TIE)


@pytest.mark.parametrize("mode", [GATHER, RUNS, PAGED])
@pytest.mark.parametrize("batch", [1, 3])
def test_bfloat16_by_every_way_of_attention(
    half_pair: LoadedPair,
    reference: Reference,
    half_reference: Reference,
    mode: str,
    batch: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tokens may differ from single precision's best where rounding can turn two of them around.

    That is where their distance is below twice what transformers' own bfloat16 forward moves such
    distances on these texts: as far as a sound forward of this dtype may go wrong, and once more as
    ours sums in another order. A mode that reads wrong slots is off by whole units.
    """
    offered = build.model_modes(half_pair.target, block_size=16)
    if mode == PAGED and not offered.has_paged:
        pytest.skip(offered.sentence)
    if mode == RUNS and not offered.has_runs:
        major, _ = torch.cuda.get_device_capability(half_pair.target.device)
        assert major < 8, f"FlashAttention is made for this device: {offered.sentence}"
        pytest.skip(offered.sentence)
    monkeypatch.setattr(build, "modes_of", lambda runner: FORCED[mode])
    engine, said = make_engine(half_pair, dtype="bfloat16", batch=batch)
    submit(engine, PROMPTS)
    run(engine)
    assert modes_used(engine) == {mode}
    outputs = texts(said)
    errors = []
    for index, prompt in enumerate(PROMPTS):
        ids = half_pair.tokenizer.encode(prompt, chat=False)
        exact, rounded = (
            each.logits(ids, outputs[index])[:, : half_pair.n_tokens]
            for each in (reference, half_reference)
        )
        errors.append(margin_error(exact, rounded))
    require_greedy(outputs, half_pair, reference, tie=2 * max(errors))


def modes_used(engine: Any) -> set[str]:
    """Of all functions the engine made, captured ones among them."""
    step = engine._loop.device_step
    parts = (step.verification, step._drafting.loop)
    return {shape.context.mode for part in parts for shape in part._inputs}
