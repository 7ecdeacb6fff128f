"""Trim the draft and finish it against the frozen target, mostly on text that the target wrote.

    python -m resources.train.distill --work DIR --generate 5 --minutes 22 [--out resources/models]

First every worker lets the target continue beginnings of training documents (greedily for three of
four sequences, at temperature 1 for the rest) and stores the result in ``generated-RANK.npy``.
Then the draft, cut down from the one of the joint training, learns the target's distributions on
these sequences and on training text: what it is for is code and JSON, so it sees little else.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import LlamaForCausalLM
from transformers.cache_utils import DynamicCache

from resources.train.batches import Batches
from resources.train.lean import LeanForward
from resources.train.losses import PairLoss, loss_functions
from resources.train.optim import PairOptimizer
from resources.train.pair import CONTEXT, draft_config, export_pair, new_pair, save_checkpoint
from resources.train.trim import trimmed
from resources.train.workers import WORKERS, GradientMean, run_workers

WINDOW = 256
TRIM_ROWS = 32  # windows of text that the wide draft is trimmed by
PROMPTS = (24, 48, 96)
MIX = {"code": 0.70, "json": 0.24, "prose": 0.06}
SEQUENCES = 160
MICRO_BATCH, REAL_ROWS = 12, 2
LONG_EVERY = 6  # one step in so many reads whole contexts of training text
ARGMAX_SHARE = 0.4
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
) -> Tensor:
    """Continue (B, T) ids to (B, length): three of four rows greedily, one at temperature 1."""
    cache = DynamicCache(config=target.config)
    rows = [prompts]
    step = prompts
    for _ in range(length - prompts.shape[1]):
        logits = target(step, past_key_values=cache).logits[:, -1].float()
        step = logits.argmax(-1, keepdim=True)
        sampled = torch.multinomial(torch.softmax(logits[::4], -1), 1, generator=generator)
        step[::4] = sampled
        rows.append(step)
    return torch.cat(rows, 1)


def generate(rank: int, _mean: GradientMean, work: Path, minutes: float) -> None:
    """One worker: write target text for the given minutes."""
    model: Any = load_pair(work)[0]
    target = model.to(torch.bfloat16).eval()
    batches = Batches(work, seed=500 + rank, mix=MIX)
    generator = torch.Generator().manual_seed(600 + rank)
    written: list[np.ndarray] = []
    begun = time.monotonic()
    while time.monotonic() - begun < 60 * minutes:
        prompts = batches.beginnings(SEQUENCES, PROMPTS[len(written) % len(PROMPTS)])
        written.append(continue_windows(target, prompts, generator).numpy().astype(np.uint16))
    np.save(work / f"generated-{rank}.npy", np.concatenate(written))


def train(rank: int, mean: GradientMean, work: Path, minutes: float, out: Path | None) -> None:
    """One worker: train the draft until the time is used up; the first one logs and saves."""
    target, draft = load_pair(work)
    target.requires_grad_(False)
    optimizer = PairOptimizer((draft,), MUON_RATE, ADAM_RATE)
    batches = Batches(work, seed=700 + rank, mix=MIX)
    own = np.load(work / f"generated-{rank}.npy")
    forwards = LeanForward(target, CONTEXT), LeanForward(draft, CONTEXT)
    functions = loss_functions(argmax_goal=True)
    parameters = list(draft.parameters())
    begun, share, step = time.monotonic(), 0.0, 0
    sums = [0.0, 0.0]
    while share < 1:
        if step % LONG_EVERY == LONG_EVERY - 1:
            ids = batches.next(MICRO_BATCH * WINDOW // CONTEXT, CONTEXT)
        else:
            real = batches.next(REAL_ROWS, WINDOW)
            picked = own[batches.random.integers(0, len(own), MICRO_BATCH - REAL_ROWS)]
            ids = torch.cat((real, torch.from_numpy(picked.astype(np.int64))))
        heads = forwards[0].head(), forwards[1].head()
        hidden = [f.hidden(ids, h).flatten(0, 1) for f, h in zip(forwards, heads, strict=True)]
        loss, kl, agree = PairLoss.apply(
            hidden[0], heads[0], hidden[1], heads[1], ids.flatten(), ARGMAX_SHARE, functions
        )
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
    parser.add_argument("--generate", type=float, default=5.0, help="minutes; 0 keeps the old text")
    parser.add_argument("--minutes", type=float, default=22.0)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    numbers = LlamaForCausalLM(draft_config()).num_parameters() + 16
    if arguments.generate > 0:
        run_workers(generate, numbers, arguments.work, arguments.generate)
    run_workers(train, numbers, arguments.work, arguments.minutes, arguments.out)


if __name__ == "__main__":
    main()
