from engine.benchmark.loaded import load
from engine.models.loading import Shelf
from engine.wire.config import RunConfig


def test_models_on_the_shelf_are_the_same_ones() -> None:
    shelf: Shelf = {}
    config = RunConfig(device="cpu")
    pair, parts = load(config, progress=lambda detail: None, shelf=shelf)
    again, _ = load(config, progress=lambda detail: None, shelf=shelf)
    assert again.target is pair.target
    assert again.draft is pair.draft
    assert (parts.target, parts.draft, parts.n_tokens) == (pair.target, pair.draft, pair.n_tokens)
