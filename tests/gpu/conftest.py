"""Models that are loaded once, and products in full single precision."""

import gc
from collections.abc import Iterator

import pytest
import torch

from engine.models.loading import LoadedPair, load_pair
from tests.gpu.reference import Reference
from tests.gpu.runs import settings


@pytest.fixture(scope="session", autouse=True)
def _full_precision() -> Iterator[None]:
    """Products of single precision are not rounded to 11 bits on their way in."""
    matmul = torch.backends.cuda.matmul
    before = matmul.fp32_precision
    matmul.fp32_precision = "ieee"
    yield
    matmul.fp32_precision = before


@pytest.fixture(autouse=True)
def _graphs_go_between_tests() -> Iterator[None]:
    """An engine is part of a cycle: let go of its graphs now, and not within another's capture."""
    yield
    gc.collect()


@pytest.fixture(scope="session")
def pair() -> LoadedPair:
    """In single precision, where two ways of computing seldom disagree."""
    return load_pair(settings(), progress=lambda detail: None)


@pytest.fixture(scope="session")
def half_pair() -> LoadedPair:
    """In bfloat16, as a GPU decodes by default and as its attention kernels want it."""
    return load_pair(settings(dtype="bfloat16"), progress=lambda detail: None)


@pytest.fixture(scope="session")
def reference(pair: LoadedPair) -> Reference:
    return Reference(torch.float32, pair.target.device)


@pytest.fixture(scope="session")
def half_reference(half_pair: LoadedPair) -> Reference:
    return Reference(torch.bfloat16, half_pair.target.device)
