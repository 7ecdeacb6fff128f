"""Greedy text is transformers' own, token for token: every drafter and gamma, alone and in a batch.

A difference is allowed only where transformers' two highest logits are closer than rounding can
tell. Every run obeys the stream's grammar.
"""

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.benchmark.decoding import TIE_MARGIN, first_difference
from engine.benchmark.transformers_side import TransformersSide
from engine.models.catalog import user_data_folder
from engine.models.loading import LoadedPair, load_pair
from engine.wire.config import RunConfig
from engine.wire.events import FinishReason
from tests.support.running_engine import RunningEngine

N_PROMPTS = 30
SMOLLM2 = "smollm2-135m"
has_smollm2 = (user_data_folder() / "models" / SMOLLM2 / "config.json").exists()


def prompts(name: str, n_prompts: int) -> list[str]:
    path = Path(str(files("resources") / "prompts" / name))
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["prompt"] for line in lines[:n_prompts]]


@cache
def loaded(target: str, draft: str, *, packed: bool = True) -> LoadedPair:
    config = RunConfig(target=target, draft=draft, packed=packed)
    return load_pair(config, progress=lambda _: None)


@cache
def transformers_side(target: str, max_new_tokens: int) -> TransformersSide:
    return TransformersSide(
        target,
        None,
        gamma=0,
        n_lookup=0,
        max_new_tokens=max_new_tokens,
        eos_ids=loaded(target, "none").tokenizer.eos_ids,
        dtype=torch.float32,
        device=torch.device("cpu"),
    )


@cache
def expected(target: str, max_new_tokens: int, prompt_ids: tuple[int, ...]) -> list[int]:
    """What ``generate(do_sample=False)`` gives."""
    return transformers_side(target, max_new_tokens).plain(list(prompt_ids)).token_ids


def assert_equal_but_for_ties(
    pair: LoadedPair, texts: list[str], *, target: str, max_new_tokens: int, **settings: Any
) -> None:
    engine = RunningEngine(
        pair.target,
        pair.draft,
        tokenizer=pair.tokenizer,
        n_tokens=pair.n_tokens,
        max_new_tokens=max_new_tokens,
        **settings,
    )
    engine.run(*texts)
    for sequence_id, text in enumerate(texts):
        prompt_ids = tuple(pair.tokenizer.encode(text, chat=False))
        output, right = engine.output(sequence_id), expected(target, max_new_tokens, prompt_ids)
        if output != right:
            place = first_difference(output, right)
            side = transformers_side(target, max_new_tokens)
            margin = side.margin([*prompt_ids, *right[:place]])
            assert margin < TIE_MARGIN, f"{text!r} differs at {place}, top-2 margin {margin}"
        assert engine.finished(sequence_id).reason in (FinishReason.LENGTH, FinishReason.EOS)


@pytest.mark.parametrize("gamma", [1, 4, 8])
@pytest.mark.parametrize("draft", ["bundled-draft", "ngram", "composite"])
def test_every_drafter_and_gamma(draft: str, gamma: int) -> None:
    pair = loaded("bundled-target", "ngram" if draft == "ngram" else "bundled-draft")
    code = prompts("code.jsonl", N_PROMPTS)
    assert len(code) == N_PROMPTS
    assert_equal_but_for_ties(
        pair, code, target="bundled-target", max_new_tokens=40, draft=draft, gamma=gamma, batch=8
    )


@pytest.mark.parametrize("settings", [{"draft": "none"}, {"draft": "bundled-draft", "gamma": 0}])
def test_plain_decoding(settings: dict[str, Any]) -> None:
    pair = loaded("bundled-target", "none")
    code = prompts("code.jsonl", N_PROMPTS)
    assert_equal_but_for_ties(
        pair, code, target="bundled-target", max_new_tokens=40, batch=8, **settings
    )


@pytest.mark.parametrize("name", ["json.jsonl", "prose.jsonl"])
def test_other_kinds_of_text_alone_and_adaptive(name: str) -> None:
    pair = loaded("bundled-target", "bundled-draft")
    assert_equal_but_for_ties(
        pair,
        prompts(name, 6),
        target="bundled-target",
        max_new_tokens=40,
        draft="bundled-draft",
        gamma="auto",
        batch=1,
        block_size=32,
        allocation="contiguous",
    )


def test_without_packed_layers() -> None:
    pair = loaded("bundled-target", "bundled-draft", packed=False)
    assert_equal_but_for_ties(
        pair,
        prompts("code.jsonl", 10),
        target="bundled-target",
        max_new_tokens=40,
        draft="bundled-draft",
        batch=4,
    )


@pytest.mark.slow
@pytest.mark.skipif(not has_smollm2, reason="specscope models add smollm2-135m has not been run")
@pytest.mark.parametrize("packed", [True, False])
def test_smollm2(packed: bool) -> None:
    pair = loaded(SMOLLM2, "ngram", packed=packed)
    texts = prompts("copy_heavy.jsonl", 5)
    assert_equal_but_for_ties(
        pair, texts, target=SMOLLM2, max_new_tokens=64, draft="ngram", gamma=8, batch=1
    )
