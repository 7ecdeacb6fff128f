from typing import get_args

import pytest

from engine.wire.codec import decode_command, encode
from engine.wire.commands import (
    Command,
    CommandBase,
    RecordKernels,
    SetGamma,
    SetSampling,
    SubmitPrompt,
)


def test_every_command_is_in_the_union() -> None:
    assert set(get_args(Command)) == set(CommandBase.__subclasses__())


@pytest.mark.parametrize("kind", get_args(Command))
def test_a_command_is_frozen_and_named_by_its_kind(kind: type[CommandBase]) -> None:
    assert kind.__struct_config__.frozen
    assert kind.__struct_config__.tag == kind.__name__


@pytest.mark.parametrize(
    "command",
    [
        SubmitPrompt(text="x", max_new_tokens=3, seed=7, label="code"),
        SetGamma(gamma=4),
        SetGamma(gamma="auto"),
        SetSampling(temperature=0.7, top_k=50, top_p=0.9),
        RecordKernels(n_steps=3),
    ],
)
def test_a_command_crosses_the_wire(command: Command) -> None:
    assert decode_command(encode(command)) == command
