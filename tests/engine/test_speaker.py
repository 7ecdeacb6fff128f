"""Text and verdicts as they are said, of byte-level toys."""

from typing import Any

import pytest
import torch

from engine.wire.events import Fate, FinishReason, Origin, StepCommitted
from tests.support.running_engine import Patched, RunningEngine
from tests.support.toy_model import ToyModel, ToyTokenizer

TARGET = ToyModel(256, seed=1, sharpness=0.3)


def saying(text: bytes, *, n_prompt: int = 1) -> Any:
    """A model that is sure of ``text`` behind a prompt, whatever it reads."""

    def change(logits: torch.Tensor, batch: Any, n_forward: int) -> torch.Tensor:
        logits = torch.full_like(logits, -20.0)
        n_columns = logits.shape[1]
        for row, length in enumerate(batch.context_lengths):
            for column in range(n_columns):
                place = length - n_columns + column + 1 - n_prompt
                logits[row, column, text[place] if 0 <= place < len(text) else 46] = 20.0
        return logits

    return Patched(TARGET, change)


def said(target_text: str | bytes, draft_text: str | bytes, **settings: Any) -> RunningEngine:
    target, draft = (
        text.encode() if isinstance(text, str) else text for text in (target_text, draft_text)
    )
    settings.setdefault("max_new_tokens", len(target))
    running = RunningEngine(saying(target), saying(draft), tokenizer=ToyTokenizer(256), **settings)
    running.run([65])
    return running


def streamed(running: RunningEngine) -> str:
    commits = running.all(StepCommitted)
    return "".join(text for commit in commits for text in commit.token_texts)


@pytest.mark.parametrize("gamma", [0, 1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize(
    "text", ["A \u4e16a\u754cb", "\U0001f600\U0001f601", "a\u00e9\u4e16\U0001f600"]
)
def test_characters_split_over_tokens_and_steps_come_once(text: str, gamma: int) -> None:
    running = said(text, text, gamma=gamma)
    assert streamed(running) == running.finished().text == text
    shown = [piece for commit in running.all(StepCommitted) for piece in commit.token_texts]
    assert [piece for piece in shown if piece] == list(text)


def test_half_a_character_accepted_and_the_other_half_rejected() -> None:
    """Bytes F0 9F are accepted, 98 is rejected and replaced by an exclamation mark."""
    emoji = "\U0001f600".encode()
    running = said(emoji[:2] + b"!?", emoji, gamma=3)
    (first, *_) = running.verified()
    assert first.fates == (Fate.ACCEPTED, Fate.ACCEPTED, Fate.REJECTED)
    assert first.token_texts == ("<F0>", "<9F>", "<98>")
    assert (first.extra_token_text, first.extra_origin) == ("!", Origin.RECOVERED)
    (commit, *_) = running.all(StepCommitted)
    assert commit.token_texts == ("", "", "\ufffd!")
    assert running.finished().text == "\ufffd!?" == streamed(running)


@pytest.mark.parametrize("seed", range(6))
def test_random_bytes_stream_as_one_decode(seed: int) -> None:
    """Sampled bytes are mostly no characters; only an unfinished one may be missing at the end."""
    running = RunningEngine(
        TARGET, ToyModel(256, seed=2, sharpness=0.3), tokenizer=ToyTokenizer(256),
        gamma=4, temperature=1.5, batch=3, max_new_tokens=60, seed=seed,
    )  # fmt: skip
    running.run(*[[65]] * 3)
    for index in range(3):
        commits = running.all(StepCommitted, index)
        text = "".join(piece for commit in commits for piece in commit.token_texts)
        whole = running.finished(index).text
        assert whole == bytes(running.output(index)).decode(errors="replace")
        assert whole in (text, text + "\ufffd")


def test_tokens_behind_a_stop_are_not_told() -> None:
    running = said("abc.def.", "abc.def.", gamma=8, stop_strings=("c.",), max_new_tokens=20)
    (proposed,), (verified,), (commit,) = (
        running.proposed(), running.verified(), running.all(StepCommitted),
    )  # fmt: skip
    assert proposed.token_texts == tuple("abc.def.")
    assert verified.token_texts == commit.token_texts == tuple("abc.")
    for name in (
        "draft_probs", "target_probs", "draft_confidences", "target_confidences", "overlaps",
        "target_entropies", "uniforms", "fates",
    ):  # fmt: skip
        assert len(getattr(verified, name)) == 4
    assert (verified.n_accepted, verified.extra_token_id, verified.n_zero_residual) == (4, None, 0)
    assert (commit.n_drafted, commit.n_accepted) == (4, 4)
    assert running.finished().reason is FinishReason.STOP_STRING


def test_a_stop_at_the_replacement_tells_the_whole_draft() -> None:
    running = said("ab!", "abcd", gamma=4, stop_strings=("!",), max_new_tokens=20)
    (verified,), (commit,) = running.verified(), running.all(StepCommitted)
    assert verified.token_texts == tuple("abcd")
    assert (commit.token_texts, commit.n_drafted, commit.n_accepted) == (tuple("ab!"), 4, 2)
    assert verified.fates[2:] == (Fate.REJECTED, Fate.DISCARDED)


def test_probabilities_of_the_draft_are_those_drawn_from() -> None:
    running = RunningEngine(
        ToyModel(8, seed=1), ToyModel(8, seed=2), gamma=4, temperature=0.7, top_k=4, seed=3,
        max_new_tokens=40,
    )  # fmt: skip
    running.run([1])
    for proposed, verified in zip(running.proposed(), running.verified(), strict=True):
        assert proposed.draft_probs == verified.draft_probs
        assert all(0 < prob <= 1 for prob in proposed.draft_probs)
        for i, fate in enumerate(verified.fates):
            ratio = verified.target_probs[i] / verified.draft_probs[i]
            if fate is not Fate.DISCARDED:
                assert (verified.uniforms[i] < ratio) == (fate is Fate.ACCEPTED)


def test_readings_are_of_temperature_one_whatever_the_settings() -> None:
    """Greedy probabilities are 0 and 1; what the models thought is not."""
    target, draft = ToyModel(8, seed=1), ToyModel(8, seed=2)
    running = RunningEngine(target, draft, gamma=2, max_new_tokens=3)
    running.run([1, 2, 3])
    (verified, *_) = running.verified()
    text = [1, 2, 3, *verified.token_ids]
    target_probs = target.plain_logits(text)[2:].softmax(-1)
    draft_probs = draft.plain_logits(text)[2:].softmax(-1)
    entropies = -(target_probs * target_probs.log()).sum(-1)
    for i, token_id in enumerate(verified.token_ids):
        assert verified.draft_probs[i] == 1.0
        assert verified.target_probs[i] in (0.0, 1.0)
        assert verified.draft_confidences[i] == pytest.approx(float(draft_probs[i, token_id]), 1e-4)
        assert verified.target_confidences[i] == pytest.approx(
            float(target_probs[i, token_id]), 1e-4
        )
        assert verified.target_entropies[i] == pytest.approx(float(entropies[i]), 1e-4)
    assert verified.extra_entropy == pytest.approx(float(entropies[verified.n_accepted]), 1e-4)
