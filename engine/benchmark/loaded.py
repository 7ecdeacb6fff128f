"""The models of a benchmark, loaded once however many suites use them."""

from collections.abc import Callable

import torch

from engine.assembly import Parts
from engine.models.loading import LoadedPair, Shelf, load_pair
from engine.wire.config import RunConfig


def load(
    config: RunConfig, *, progress: Callable[[str], None], shelf: Shelf | None = None
) -> tuple[LoadedPair, Parts]:
    """The pair that ``config`` names, and what engines are put together from. Models on the
    ``shelf`` need no loading; on CUDA the target's device becomes the current one.

    Raises:
        ConfigError: a sentence about what cannot be loaded.
    """
    pair = load_pair(config, progress=progress, shelf=shelf)
    if pair.target.device.type == "cuda":
        torch.cuda.set_device(pair.target.device)  # streams and events are the current device's
    return pair, Parts(pair.target, pair.draft, pair.tokenizer, pair.n_tokens)
