"""Paged against contiguous, measured on the bundled target's shape."""

import pytest

from engine.benchmark import cache
from engine.wire.benchmark import BenchmarkSettings
from engine.wire.config import RunConfig


def test_reserved_and_unwritten_bytes_follow_from_the_lengths(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cache, "CONTEXTS", (64, 256))
    monkeypatch.setattr(cache, "N_REPEATS", 20)
    settings = BenchmarkSettings(suite="cache", config=RunConfig(draft="none"))
    result = cache.run(settings, progress=lambda _: None)
    paged, contiguous = result["memory"]["paged"], result["memory"]["contiguous"]
    assert paged["written_bytes"] == contiguous["written_bytes"]
    n_tokens, block = sum(result["sequence_tokens"]), result["block_size"]
    per_token = paged["written_bytes"] // n_tokens
    n_blocks = sum(-(-tokens // block) for tokens in result["sequence_tokens"])
    assert paged["reserved_bytes"] == n_blocks * block * per_token
    n_reserved = len(result["sequence_tokens"]) * result["reservation_tokens"]
    assert contiguous["reserved_bytes"] == n_reserved * per_token
    assert paged["unwritten_share"] < contiguous["unwritten_share"]
    assert [row["context_length"] for row in result["roll_back"]] == [64, 256]
    assert all(
        row[name]["median"] > 0
        for row in result["roll_back"]
        for name in ("paged_us", "contiguous_us", "copying_us")
    )
