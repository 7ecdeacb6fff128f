from dataclasses import replace

import pytest

from engine.theory.devices import DevicePeaks, Precision, find_device
from engine.theory.phases import step_floors
from engine.theory.presets import PRESETS
from engine.theory.roofline import Bound
from engine.theory.workload import WeightFormat, Workload

TARGET, DRAFT = PRESETS["llama-3-70b"].shape, PRESETS["llama-3-8b"].shape
LOAD = Workload(context_length=1024, gamma=5)


def h100() -> DevicePeaks:
    device = find_device("h100-sxm")
    assert device is not None
    return device


def test_the_phases_of_a_step() -> None:
    floors = step_floors(TARGET, DRAFT, h100(), workload=LOAD)
    assert floors.draft is not None
    shape = [(one.name, one.n_forwards, one.width) for one in (floors.draft, floors.verify)]
    assert shape == [("draft", 5, 1), ("verify", 1, 6)]
    assert floors.prefill.width == 1024
    assert floors.prefill.floor.bound is Bound.COMPUTE
    assert floors.verify.floor.bound is floors.draft.floor.bound is Bound.MEMORY
    assert floors.c == pytest.approx(0.1087, abs=1e-4)
    assert floors.v == pytest.approx(1.0014, abs=1e-4)
    step_ms = 1e3 * floors.step_s
    assert step_ms == pytest.approx(5 * 4.523 + 41.664, abs=0.01)


def test_without_a_draft_there_is_no_c() -> None:
    floors = step_floors(TARGET, None, h100(), workload=replace(LOAD, gamma=0))
    assert (floors.draft, floors.c, floors.v) == (None, None, 1.0)
    assert floors.step_s == floors.decode.floor.time_s


def test_a_model_may_draft_for_itself_in_fewer_bits() -> None:
    load = replace(LOAD, draft_weights=WeightFormat(bits=4, group_size=128))
    floors = step_floors(DRAFT, DRAFT, h100(), workload=load)
    assert floors.draft is not None
    n_head = DRAFT.n_embedding_parameters
    stored = DRAFT.n_layer_parameters * (4 + 0.125) / 8 + n_head * 2
    assert floors.draft.cost.weight_bytes == pytest.approx(stored, rel=1e-5)
    assert floors.decode.cost.weight_bytes == pytest.approx(DRAFT.n_parameters * 2, rel=0.07)


def test_a_record_is_flat() -> None:
    record = step_floors(TARGET, DRAFT, h100(), workload=LOAD).verify.record()
    assert record["name"] == "verify"
    assert record["bound"] == "memory"
    assert record["n_bytes"] == sum(
        int(record[key])
        for key in ("weight_bytes", "kv_read_bytes", "kv_written_bytes", "activation_bytes")
    )


def test_what_the_device_cannot_do_is_refused() -> None:
    a100 = find_device("a100-80-sxm")
    assert a100 is not None
    with pytest.raises(ValueError, match="no known fp8 peak"):
        step_floors(TARGET, DRAFT, a100, workload=LOAD, precision=Precision.FP8)
    with pytest.raises(ValueError, match="that of one device"):
        step_floors(TARGET, DRAFT, h100(), workload=replace(LOAD, tensor_parallel=2))
