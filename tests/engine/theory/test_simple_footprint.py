from dataclasses import replace

import pytest

from engine.theory.presets import PRESETS
from engine.theory.simple_footprint import simple_footprint
from engine.theory.workload import GIB, WeightFormat, Workload, to_gib

TARGET = replace(PRESETS["llama-3-70b"].shape, n_parameters=70_000_000_000)
DRAFT = replace(PRESETS["llama-3-8b"].shape, n_parameters=8_000_000_000)
LOAD = Workload(batch_size=4, context_length=4096, gamma=5)


def test_the_figures_in_print_for_a_70b_and_an_8b() -> None:
    need = simple_footprint(TARGET, DRAFT, LOAD)
    assert need.components() == {
        "target_weights": 140_000_000_000,
        "draft_weights": 16_000_000_000,
        "target_kv": 80 * 2 * 8 * 128 * 2 * 4 * 4101,
        "draft_kv": 32 * 2 * 8 * 128 * 2 * 4 * 4101,
        "lookahead_kv": 0,
        "verify_buffers": 0,
        "activations": 4 * 5 * 8192 * 2 * 4,
        "cuda_context": 0,
        "cuda_graphs": 0,
        "padding": 13_082_134_282,
    }
    assert [round(to_gib(n_bytes), 2) for n_bytes in list(need.components().values())[:4]] == [
        130.39,
        14.90,
        5.01,
        2.00,
    ]
    assert need.total_bytes == 176_608_812_810
    assert round(to_gib(need.total_bytes), 2) == 164.48
    assert not need.fits(80 * GIB)


def test_a_draft_is_not_needed() -> None:
    need = simple_footprint(TARGET, None, LOAD)
    assert (need.draft_weights_bytes, need.draft_kv_bytes) == (0, 0)


def test_one_byte_per_value_halves_every_part() -> None:
    eight_bit = WeightFormat(bits=8)
    load = replace(LOAD, target_weights=eight_bit, draft_weights=eight_bit, bytes_per_kv=1)
    half, whole = (simple_footprint(TARGET, DRAFT, one) for one in (load, LOAD))
    assert half.before_buffers_bytes * 2 == whole.before_buffers_bytes


def test_what_it_cannot_express_is_refused() -> None:
    with pytest.raises(ValueError, match="one GPU and one number format"):
        simple_footprint(TARGET, DRAFT, replace(LOAD, tensor_parallel=2))
    with pytest.raises(ValueError, match="one GPU and one number format"):
        simple_footprint(TARGET, DRAFT, replace(LOAD, draft_weights=WeightFormat(bits=4)))
