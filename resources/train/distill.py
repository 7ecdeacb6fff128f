"""Trim the draft and finish it against the frozen target, mostly on text that the target wrote.

    python -m resources.train.distill --work DIR --write 14 --minutes 50 [--out resources/models]

First every worker lets the target continue beginnings of training documents (greedily for three of
four sequences, at temperature 1 for the rest) and read some training text. What it was given and
its final hidden states are kept (:mod:`resources.train.lessons`), so that the target is run once
however often the draft goes over a sequence. Then the draft, cut down from the one of the joint
training, learns the target's distributions there. It sees code and JSON only: prose is where a
draft that was not made for the text can be watched.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import LlamaForCausalLM
from transformers.cache_utils import DynamicCache

from resources.train.batches import Batches
from resources.train.lean import LeanForward
from resources.train.lessons import Lessons, keep_lessons
from resources.train.losses import PairLoss, loss_functions
from resources.train.optim import PairOptimizer
from resources.train.pair import CONTEXT, draft_config, export_pair, new_pair, save_checkpoint
from resources.train.trim import trimmed
from resources.train.workers import WORKERS, GradientMean, run_workers

WINDOW = 256
TRIM_ROWS = 32  # windows of text that the wide draft is trimmed by
PROMPTS = (24, 48, 96)
MIX = {"code": 0.80, "json": 0.20}
SEQUENCES = 160
READ_PARTS = {WINDOW: 100, CONTEXT: 150}  # window: how many micro-batches of text a worker reads
MICRO_BATCH, READ_ROWS = 12, 2
LONG_EVERY = 6  # one step in so many reads whole contexts of training text
ARGMAX_SHARE = 0.5
MUON_RATE, ADAM_RATE = 0.015, 0.003
LOG_STEPS = 25


def load_pair(work: Path) -> tuple[LlamaForCausalLM, LlamaForCausalLM]:
    """The target as the joint training left it, and the draft cut down from that training's."""
    saved = torch.load(work / "pretrain.pt", weights_only=True)
    target, wide = new_pair()
    target.load_state_dict(saved["target"])
    wide.load_state_dict(saved["draft"])
    seen = Batches(work, seed=400, mix=MIX).next(TRIM_ROWS, WINDOW)
    return target, trimmed(wide, draft_config(), seen)


@torch.inference_mode()
def continue_windows(
    target: LlamaForCausalLM, prompts: Tensor, generator: torch.Generator, length: int = WINDOW
) -> tuple[Tensor, Tensor]:
    """Continue (B, T) ids to (B, length): three of four rows greedily, one at temperature 1.

    Returns the ids and the final hidden states (B, length, D) behind each of them.
    """
    cache = DynamicCache(config=target.config)
    rows, states = [prompts], [target.model(prompts, past_key_values=cache).last_hidden_state]
    for _ in range(length - prompts.shape[1]):
        logits = target.lm_head(states[-1][:, -1]).float()
        step = logits.argmax(-1, keepdim=True)
        sampled = torch.multinomial(torch.softmax(logits[::4], -1), 1, generator=generator)
        step[::4] = sampled
        rows.append(step)
        states.append(target.model(step, past_key_values=cache).last_hidden_state)
    return torch.cat(rows, 1), torch.cat(states, 1)


def write(rank: int, _mean: GradientMean, work: Path, minutes: float) -> None:
    """One worker: let the target write for the given minutes, and read some training text."""
    model: Any = load_pair(work)[0]
    target = model.to(torch.bfloat16).eval()
    batches = Batches(work, seed=500 + rank, mix=MIX)
    generator = torch.Generator().manual_seed(600 + rank)
    written: list[tuple[Tensor, Tensor]] = []
    begun = time.monotonic()
    while time.monotonic() - begun < 60 * minutes:
        prompts = batches.beginnings(SEQUENCES, PROMPTS[len(written) % len(PROMPTS)])
        written.append(continue_windows(target, prompts, generator))
    keep_lessons(work, "written", rank, written)
    forward = LeanForward(model, CONTEXT)
    for window, parts in READ_PARTS.items():
        count = MICRO_BATCH * WINDOW // window
        with torch.inference_mode():
            read = [
                (ids, forward.hidden(ids, forward.head()))
                for ids in (batches.next(count, window) for _ in range(parts))
            ]
        keep_lessons(work, f"read-{window}", rank, read)


def train(rank: int, mean: GradientMean, work: Path, minutes: float, out: Path | None) -> None:
    """One worker: train the draft until the time is used up; the first one logs and saves."""
    target, draft = load_pair(work)
    target.requires_grad_(False)
    optimizer = PairOptimizer((draft,), MUON_RATE, ADAM_RATE)
    random = Batches(work, seed=700 + rank, mix=MIX).random
    written = Lessons(work, "written", rank)
    read, long = (Lessons(work, f"read-{window}", rank) for window in (WINDOW, CONTEXT))
    forward = LeanForward(draft, CONTEXT)
    teacher_head = target.model.embed_tokens.weight.bfloat16()
    functions = loss_functions(argmax_goal=True)
    parameters = list(draft.parameters())
    begun, share, step = time.monotonic(), 0.0, 0
    sums = [0.0, 0.0]
    while share < 1:
        if step % LONG_EVERY == LONG_EVERY - 1:
            ids, states = long.pick(random, MICRO_BATCH * WINDOW // CONTEXT)
        else:
            picked = read.pick(random, READ_ROWS), written.pick(random, MICRO_BATCH - READ_ROWS)
            ids, states = (torch.cat(each) for each in zip(*picked, strict=True))
        head = forward.head()
        loss, kl, agree = PairLoss.apply(
            states.flatten(0, 1), teacher_head, forward.hidden(ids, head).flatten(0, 1), head,
            ids.flatten(), ARGMAX_SHARE, functions,
        )  # fmt: skip
        loss.backward()
        *shown, share = mean.apply(
            parameters, [float(kl), float(agree), (time.monotonic() - begun) / (60 * minutes)]
        )
        optimizer.step(min(1.0, (step + 1) / 20) * max(0.0, 1 - share))
        step += 1
        sums = [a + b / LOG_STEPS for a, b in zip(sums, shown, strict=True)]
        if rank == 0 and step % LOG_STEPS == 0:
            _log(
                work,
                {
                    "step": step,
                    "tokens": step * MICRO_BATCH * WINDOW * WORKERS,
                    "minutes": round(share * minutes, 2),
                    "kl": round(sums[0], 4),
                    "agree": round(sums[1], 4),
                },
            )
            sums = [0.0, 0.0]
    if rank == 0:
        save_checkpoint(work / "distill.pt", {"draft": draft.state_dict()})
        if out is not None:
            export_pair(target, draft, work, out)


def _log(work: Path, line: dict[str, Any]) -> None:
    """Append one line to ``distill.log``."""
    with open(work / "distill.log", "a") as log:
        log.write(json.dumps(line) + "\n")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--write", type=float, default=14.0, help="minutes; 0 keeps the old text")
    parser.add_argument("--minutes", type=float, default=50.0)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    numbers = LlamaForCausalLM(draft_config()).num_parameters() + 16
    if arguments.write > 0:
        run_workers(write, numbers, arguments.work, arguments.write)
    run_workers(train, numbers, arguments.work, arguments.minutes, arguments.out)


if __name__ == "__main__":
    main()
