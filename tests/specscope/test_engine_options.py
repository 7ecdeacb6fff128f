"""Options become a RunConfig."""

from typing import Any

import click
import pytest
from click.testing import CliRunner

from engine.wire.config import RunConfig
from specscope.engine_options import draft_option, engine_options, make_config


def config_of(*arguments: str) -> RunConfig:
    made: list[RunConfig] = []

    @click.command()
    @draft_option
    @engine_options
    def command(**options: Any) -> None:
        made.append(make_config(**options))

    result = CliRunner().invoke(command, list(arguments), standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return made[0]


def test_without_options_it_is_the_bundled_pair() -> None:
    assert config_of() == RunConfig()


def test_another_target_is_drafted_for_by_ngrams_unless_said() -> None:
    assert config_of("--target", "some/model").draft == "ngram"
    assert config_of("--target", "some/model", "--draft", "none").draft == "none"


def test_every_option_arrives() -> None:
    config = config_of(
        "--draft", "composite", "--composite-draft", "m", "--gamma", "auto", "--max-gamma", "6",
        "--max-new-tokens", "7", "--temperature", "0.5", "--top-k", "3", "--top-p", "0.9",
        "--seed", "4", "--stop", "a", "--stop", "b", "--ignore-eos", "--batch", "2",
        "--block-size", "32", "--allocation", "contiguous", "--blocks", "9", "--chat",
        "--device", "cpu", "--dtype", "float32", "--no-packed", "--threads", "1",
        "--no-calibrate", "--trust-remote-code", "--no-graphs", "--weights", "int8",
    )  # fmt: skip
    assert config == RunConfig(
        draft="composite", composite_draft="m", gamma="auto", max_gamma=6, max_new_tokens=7,
        temperature=0.5, top_k=3, top_p=0.9, seed=4, stop_strings=("a", "b"), ignore_eos=True,
        batch=2, block_size=32, allocation="contiguous", n_blocks=9, chat=True, device="cpu",
        dtype="float32", packed=False, n_threads=1, calibrate=False, trust_remote_code=True,
        graphs=False, weights="int8",
    )  # fmt: skip


def test_a_setting_out_of_range_is_a_usage_error() -> None:
    with pytest.raises(click.UsageError, match="gamma is 40"):
        config_of("--gamma", "40")
