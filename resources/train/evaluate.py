"""Measure the shipped pair and print the figures as JSON.

    python -m resources.train.evaluate --models resources/models --prompts resources/prompts \\
        [--work DIR]

Acceptance by kind: greedy draft against greedy target, four drafted tokens a round, 96 new tokens
a prompt; the rate is accepted / (accepted + rejected), tokens behind a rejection being untested.
``c`` is the median time of a width-1 forward of the draft over that of the target. With ``--work``
(a rebuilt corpus, see the model card) also the perplexity per token and the bits per byte of both
models on the held-out split, and the target's perplexity late in a window of 1024 tokens.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel
from transformers.cache_utils import DynamicCache

from resources.train.tokenizer import KINDS

GAMMA, NEW_TOKENS = 4, 96


@torch.inference_mode()
def greedy(model: PreTrainedModel, ids: list[int], count: int) -> list[int]:
    """``count`` greedy tokens after ``ids``."""
    cache = DynamicCache(config=model.config)
    step, found = torch.tensor([ids]), []
    for _ in range(count):
        found.append(int(model(step, past_key_values=cache).logits[0, -1].argmax()))
        step = torch.tensor([found[-1:]])
    return found


def fates(target: PreTrainedModel, draft: PreTrainedModel, ids: list[int]) -> tuple[int, int]:
    """How many drafted tokens were accepted and how many rejected on one prompt."""
    written = greedy(target, ids, NEW_TOKENS)
    at = accepted = rejected = 0
    while at < NEW_TOKENS - 1:
        room = min(GAMMA, NEW_TOKENS - 1 - at)
        drafted = greedy(draft, ids + written[:at], room)
        same = 0
        while same < room and drafted[same] == written[at + same]:
            same += 1
        accepted += same
        rejected += same < room
        at += same + 1
    return accepted, rejected


def acceptance(target: PreTrainedModel, draft: PreTrainedModel, path: Path) -> float:
    """The acceptance rate over all prompts of one JSONL file."""
    tokenizer = AutoTokenizer.from_pretrained(target.name_or_path)
    total = np.zeros(2)
    for line in path.read_text().splitlines():
        total += fates(target, draft, tokenizer(json.loads(line)["prompt"])["input_ids"])
    return float(total[0] / total.sum())


@torch.inference_mode()
def losses(model: PreTrainedModel, windows: Tensor) -> Tensor:
    """Negative log-likelihood in nats of every next token: (n, T) ids give (n, T - 1)."""
    rows = [
        torch.nn.functional.cross_entropy(
            model(row[None, :-1]).logits[0].float(), row[1:], reduction="none"
        )
        for row in windows
    ]
    return torch.stack(rows)


def held_out(work: Path, kind: str, length: int, most: int) -> Tensor:
    """Up to ``most`` windows of held-out tokens, spread over the split: (n, length + 1)."""
    tokens = np.load(work / f"heldout-{kind}.npy").astype(np.int64)
    count = min(most, (tokens.size - 1) // length)
    starts = np.linspace(0, tokens.size - length - 1, count).astype(int)
    return torch.from_numpy(np.stack([tokens[s : s + length + 1] for s in starts]))


def perplexities(pair: dict[str, PreTrainedModel], work: Path) -> dict[str, object]:
    """Held-out perplexity by model and kind, and that of the target by position."""
    tokenizer = AutoTokenizer.from_pretrained(pair["target"].name_or_path)
    found: dict[str, Any] = {}
    for name, model in pair.items():
        found[name] = {}
        for kind in KINDS:
            windows = held_out(work, kind, 512, 60)
            loss = losses(model, windows)
            n_bytes = sum(len(str(tokenizer.decode(row[1:])).encode()) for row in windows)
            found[name][kind] = {
                "perplexity": round(math.exp(loss.mean()), 3),
                "bits_per_byte": round(float(loss.sum()) / math.log(2) / n_bytes, 3),
            }
    late = losses(pair["target"], held_out(work, "code", 1023, 24))
    found["target_code_by_position"] = {
        f"{a}-{b}": round(math.exp(late[:, a:b].mean()), 3)
        for a, b in ((0, 128), (128, 256), (256, 512), (512, 768), (768, 1000))
    }
    return found


@torch.inference_mode()
def step_seconds(model: PreTrainedModel, steps: int = 100) -> float:
    """Median time in seconds of a width-1 forward behind 128 cached tokens."""
    cache = DynamicCache(config=model.config)
    model(torch.arange(128)[None], past_key_values=cache)
    times = []
    for _ in range(steps):
        begun = time.perf_counter()
        model(torch.tensor([[7]]), past_key_values=cache)
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    pair = {
        name: AutoModelForCausalLM.from_pretrained(
            arguments.models / name, dtype=torch.float32
        ).eval()
        for name in ("target", "draft")
    }
    report: dict[str, object] = {
        "parameters": {name: model.num_parameters() for name, model in pair.items()},
        "acceptance": {
            kind: round(
                acceptance(pair["target"], pair["draft"], arguments.prompts / f"{kind}.jsonl"), 4
            )
            for kind in KINDS
        },
    }
    times = {name: step_seconds(model) for name, model in pair.items()}
    report["width_1_ms"] = {name: round(1e3 * value, 3) for name, value in times.items()}
    report["c"] = round(times["draft"] / times["target"], 3)
    if arguments.work:
        report["held_out"] = perplexities(pair, arguments.work)
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
