"""Train the target on text while the draft learns from the target's logits, step by step.

    python -m resources.train.pretrain --work DIR --minutes 50 [--out resources/models]

The run is shaped by its time budget: the learning rate warms up, holds and falls to zero as the
minutes run out, and windows grow from 256 to 1024 tokens. Interrupt it at will: the next
run resumes from ``DIR/pretrain.pt`` with the minutes that were left.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch

from resources.train.batches import Batches
from resources.train.lean import LeanForward
from resources.train.losses import PairLoss, loss_functions
from resources.train.optim import PairOptimizer
from resources.train.pair import CONTEXT, export_pair, new_pair, save_checkpoint
from resources.train.workers import WORKERS, GradientMean, run_workers

STEP_TOKENS = 6144
PHASES = ((0.84, 256), (1.01, 1024))  # (until this share of the time, window)
MUON_RATE, ADAM_RATE = 0.02, 0.004
HARD_SHARE = 0.15
SAVE_SECONDS = 180
LOG_STEPS = 25


def factor_at(share: float, step: int) -> float:
    """Learning-rate factor after ``share`` of the time: flat, then linear to zero."""
    warm = min(1.0, (step + 1) / 60)
    return warm * min(1.0, max(0.0, (1 - share) / 0.6))


def train(rank: int, mean: GradientMean, work: Path, minutes: float, out: Path | None) -> None:
    """One worker: train until the time is used up; the first one logs and saves."""
    target, draft = new_pair()
    optimizer = PairOptimizer((target, draft), MUON_RATE, ADAM_RATE)
    done: dict[str, Any] = {"step": 0, "tokens": 0, "seconds": 0.0}
    path = work / "pretrain.pt"
    if path.exists():
        saved = torch.load(path, weights_only=True)
        target.load_state_dict(saved["target"])
        draft.load_state_dict(saved["draft"])
        optimizer.load(saved["optimizer"])
        done = saved["done"]
    batches = Batches(work, seed=1000 * done["step"] + rank)
    forwards = LeanForward(target, CONTEXT), LeanForward(draft, CONTEXT)
    functions = loss_functions()
    parameters = [*target.parameters(), *draft.parameters()]
    begun = time.monotonic() - done["seconds"]
    last_save = time.monotonic()
    share, sums = done["seconds"] / (60 * minutes), [0.0, 0.0, 0.0]
    while share < 1:
        length = next(size for until, size in PHASES if share < until)
        ids = batches.next(STEP_TOKENS // WORKERS // length, length + 1)
        heads = forwards[0].head(), forwards[1].head()
        hidden = [
            f.hidden(ids[:, :-1], h).flatten(0, 1) for f, h in zip(forwards, heads, strict=True)
        ]
        loss, kl, agree = PairLoss.apply(
            hidden[0], heads[0], hidden[1], heads[1], ids[:, 1:].flatten(), HARD_SHARE, functions
        )
        loss.backward()
        shown = [float(loss.detach()), float(kl), float(agree), time.monotonic() - begun]
        *shown, seconds = mean.apply(parameters, shown)
        optimizer.step(factor_at(share, done["step"]))
        done = {
            "step": done["step"] + 1,
            "tokens": done["tokens"] + STEP_TOKENS,
            "seconds": seconds,
        }
        share = seconds / (60 * minutes)
        sums = [a + b / LOG_STEPS for a, b in zip(sums, shown, strict=True)]
        if rank == 0 and done["step"] % LOG_STEPS == 0:
            _log(work, done, length, sums)
            sums = [0.0, 0.0, 0.0]
        if rank == 0 and (time.monotonic() - last_save > SAVE_SECONDS or share >= 1):
            save_checkpoint(
                path,
                {
                    "target": target.state_dict(),
                    "draft": draft.state_dict(),
                    "optimizer": optimizer.state(),
                    "done": done,
                },
            )
            if out is not None:
                export_pair(target, draft, work, out)
            last_save = time.monotonic()


def _log(work: Path, done: dict[str, Any], length: int, sums: list[float]) -> None:
    """Append the means since the last line to ``pretrain.log``."""
    line = {
        "step": done["step"],
        "tokens": done["tokens"],
        "minutes": round(done["seconds"] / 60, 2),
        "window": length,
        **{name: round(v, 4) for name, v in zip(("loss", "kl", "agree"), sums, strict=True)},
    }
    with open(work / "pretrain.log", "a") as log:
        log.write(json.dumps(line) + "\n")


def run(work: Path, minutes: float, out: Path | None) -> None:
    """Train the pair; writes ``pretrain.pt`` and ``pretrain.log``."""
    numbers = sum(p.numel() for model in new_pair() for p in model.parameters()) + 16
    run_workers(train, numbers, work, minutes, out)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    run(arguments.work, arguments.minutes, arguments.out)


if __name__ == "__main__":
    main()
