import dataclasses
from typing import Any

import pytest
import torch

from engine.forward import PREFILL_CHUNK, RoleRunner
from engine.kv.base import ForwardRow
from engine.kv.paged_cache import PagedCache
from engine.telemetry.emitter import Emitter
from engine.telemetry.spans import VERIFY, SpanRecorder
from engine.theory.roofline import forward_cost
from engine.wire.events import (
    PREFILL_STEP,
    Event,
    KvAdvanced,
    PrefillCompleted,
    Role,
    SpansMeasured,
)
from tests.support.toy_model import ToyModel

CPU = torch.device("cpu")


def make_runner(model: ToyModel, *, n_tokens: int = 16) -> tuple[RoleRunner, Any, list[Event]]:
    said: list[Event] = []
    emitter = Emitter(said.append)
    spans = SpanRecorder(emitter)
    cache = PagedCache(
        Role.TARGET, model.layer_kv_shapes(), n_blocks=100, block_size=16,
        dtype=model.dtype, device=CPU, say=emitter.say,
    )  # fmt: skip
    runner = RoleRunner(Role.TARGET, model, cache, n_tokens=n_tokens, spans=spans, say=emitter.say)
    return runner, spans, said


def test_logits_of_the_last_columns_without_padded_ids() -> None:
    model = ToyModel(16, seed=1, vocab_size=32)
    runner, _, _ = make_runner(model)
    runner.cache.open(0, n_positions=6)
    rows = [ForwardRow(0, [3, 1, 4, 1, 5, 9])]
    logits = runner.forward(rows, n_logits=2, span_name=VERIFY)
    assert logits.shape == (1, 2, 16)
    torch.testing.assert_close(logits[0], model.plain_logits([3, 1, 4, 1, 5, 9])[-2:, :16])


@pytest.mark.parametrize(
    "n_prompt", [1, 5, PREFILL_CHUNK, PREFILL_CHUNK + 1, 2 * PREFILL_CHUNK + 7]
)
def test_a_long_prompt_is_prefilled_in_chunks_that_equal_one(n_prompt: int) -> None:
    model = ToyModel(16, seed=1, context_length=1200)
    runner, _, said = make_runner(model)
    text = [(7 * i + i // 9) % 16 for i in range(n_prompt + 1)]
    runner.cache.open(0, n_positions=n_prompt)
    runner.prefill(0, text[:-1])
    assert runner.cache.reserve(0, n_prompt + 1)
    assert model.n_forwards == -(-n_prompt // PREFILL_CHUNK)
    logits = runner.forward([ForwardRow(0, text[-1:])], n_logits=1, span_name=VERIFY)
    torch.testing.assert_close(logits[0, -1], model.plain_logits(text)[-1], rtol=1e-4, atol=1e-4)
    (advanced,) = [event for event in said if isinstance(event, KvAdvanced)]
    assert (advanced.step, advanced.position, advanced.n_written, advanced.n_rolled_back) == (
        PREFILL_STEP, 0, n_prompt, 0,
    )  # fmt: skip
    (completed,) = [event for event in said if isinstance(event, PrefillCompleted)]
    assert completed.n_tokens == n_prompt


def test_an_empty_prefill_is_nothing() -> None:
    runner, _, said = make_runner(ToyModel(16, seed=1))
    runner.cache.open(0, n_positions=0)
    runner.prefill(0, [])
    assert said == []


def test_work_is_counted_from_shapes() -> None:
    model = ToyModel(16, seed=1)
    runner, spans, said = make_runner(model)
    for sequence_id, n_held in ((0, 20), (1, 4)):
        runner.cache.open(sequence_id, n_positions=30)
        runner.prefill(sequence_id, [1] * n_held)
    rows = [ForwardRow(0, [1, 2, 3]), ForwardRow(1, [4])]
    runner.forward(rows, n_logits=3, span_name=VERIFY)
    spans.flush(0)
    (measured,) = [event for event in said if isinstance(event, SpansMeasured)]
    assert measured.names == ("prefill", "prefill", "verify")
    assert set(measured.roles) == {Role.TARGET}
    bytes_per_weight = model.weight_bytes / model.shape.n_parameters
    cost = forward_cost(
        model.shape, [20, 4], (3, 1), bytes_per_weight=bytes_per_weight,
        bytes_per_kv=4.0, bytes_per_activation=4.0, n_logit_rows=4,
    )  # fmt: skip
    assert (measured.n_flops[-1], measured.n_bytes[-1]) == (cost.n_flops, cost.n_bytes)
    assert cost.n_flops > 0


def test_a_row_past_its_blocks_is_an_error() -> None:
    runner, _, _ = make_runner(ToyModel(16, seed=1))
    runner.cache.open(0, n_positions=16)
    runner.prefill(0, [1] * 16)
    with pytest.raises(IndexError, match="position 16 is past a table of 16 positions"):
        runner.forward([ForwardRow(0, [1])], n_logits=1, span_name=VERIFY)


@pytest.mark.parametrize("window", [None, 12])
def test_the_work_of_a_forward_is_counted_exactly(window: int | None) -> None:
    """One sequence, several, any context: what the closed form gives for each."""
    model = ToyModel(16, seed=1)
    model.shape = dataclasses.replace(
        model.shape, sliding_window=window, n_window_layers=1 if window else None
    )
    runner, spans, said = make_runner(model)
    for sequence_id in (0, 1):
        runner.cache.open(sequence_id, n_positions=60)
    for n_rows, width in ((1, 1), (1, 5), (1, 1), (2, 3), (1, 5), (1, 30), (1, 1)):
        before = [runner.cache.length(index) for index in range(n_rows)]
        rows = [ForwardRow(index, [1] * width) for index in range(n_rows)]
        runner.forward(rows, n_logits=2, span_name=VERIFY)
        spans.flush(0)
        expected = forward_cost(
            model.shape, before, [width] * n_rows,
            bytes_per_weight=model.weight_bytes / model.shape.n_parameters,
            bytes_per_kv=4.0, bytes_per_activation=4.0, n_logit_rows=n_rows * min(2, width),
        )  # fmt: skip
        measured = said[-1]
        assert isinstance(measured, SpansMeasured)
        assert (measured.n_flops, measured.n_bytes) == ((expected.n_flops,), (expected.n_bytes,))
