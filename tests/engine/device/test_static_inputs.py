"""Named tensors in one block that one copy sends."""

import torch

from engine.device.static_inputs import StaticInputs


def test_what_the_host_writes_arrives_with_one_copy() -> None:
    inputs = StaticInputs(
        torch.device("cpu"), whole={"ids": (2, 3), "none": (2, 0)}, real={"uniforms": (2,)}
    )
    inputs.host["ids"][1, 2] = 7
    inputs.host["uniforms"][:] = (0.25, 0.1)
    assert inputs.device["ids"].tolist() == [[0, 0, 0], [0, 0, 0]], "not sent yet"
    inputs.send()
    assert inputs.device["ids"].tolist() == [[0, 0, 0], [0, 0, 7]]
    assert inputs.device["uniforms"].tolist() == [0.25, 0.1], "in double precision"
    assert inputs.device["none"].shape == (2, 0)
    assert inputs.n_bytes == 8 * 8


def test_the_tensors_stay_where_they_are() -> None:
    inputs = StaticInputs(torch.device("cpu"), whole={"ids": (4,)})
    before = inputs.device["ids"].data_ptr()
    for value in range(3):
        inputs.host["ids"].fill(value)
        inputs.send()
        assert inputs.device["ids"].data_ptr() == before
        assert inputs.device["ids"].tolist() == [value] * 4
