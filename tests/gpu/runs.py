"""Runs of the engine on the GPU, in this process, and what is read of what they said."""

from collections.abc import Sequence
from typing import Any, TypeVar

import pytest
import torch

from engine.assembly import Parts, put_together
from engine.engine import Engine
from engine.models.loading import LoadedPair
from engine.telemetry.cuda_timer import CudaTimer
from engine.telemetry.emitter import Emitter
from engine.telemetry.spans import SpanRecorder
from engine.wire.commands import SubmitPrompt
from engine.wire.config import RunConfig
from engine.wire.events import Event, LogEmitted, StepCommitted

Kind = TypeVar("Kind", bound=Event)

ON_GPU = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]
"""The marks of every file here."""

PROMPTS = ("def quicksort(items):\n", '{"name": "Ada", "age": ', "import os\n\n\ndef ")
SAMPLED = {"temperature": 0.8, "top_p": 0.95, "seed": 11}


def settings(**changes: Any) -> RunConfig:
    """Single precision on the GPU, nothing calibrated, so that no text depends on the clock."""
    known = {"device": "cuda", "dtype": "float32", "calibrate": False, "max_new_tokens": 48}
    return RunConfig(**{**known, **changes})


def make_engine(pair: LoadedPair, **changes: Any) -> tuple[Engine, list[Event]]:
    """An engine of loaded models, and the list in which its events will lie."""
    said: list[Event] = []
    emitter = Emitter(said.append)
    is_cuda = pair.target.device.type == "cuda"
    engine = put_together(
        settings(**changes),
        Parts(pair.target, pair.draft, pair.tokenizer, pair.n_tokens),
        emitter=emitter,
        spans=SpanRecorder(emitter, gpu_timer=CudaTimer() if is_cuda else None),
        rest=lambda point: None,
    )
    return engine, said


def submit(engine: Engine, prompts: Sequence[str]) -> None:
    for prompt in prompts:
        engine.submit(SubmitPrompt(text=prompt))


def run(engine: Engine) -> None:
    """Step to the end of all that was submitted."""
    while engine.has_work:
        engine.step()


def decode(pair: LoadedPair, prompts: Sequence[str] = PROMPTS, **changes: Any) -> list[Event]:
    """What the engine says of ``prompts``; a warning, as of a failed capture, is a failure."""
    engine, said = make_engine(pair, **changes)
    submit(engine, prompts)
    run(engine)
    warnings = [event.message for event in of_kind(said, LogEmitted) if event.level != "info"]
    assert not warnings, warnings
    return said


def of_kind(events: Sequence[Event], kind: type[Kind]) -> list[Kind]:
    return [event for event in events if isinstance(event, kind)]


def texts(events: Sequence[Event]) -> dict[int, list[int]]:
    """Output tokens by sequence."""
    found: dict[int, list[int]] = {}
    for event in of_kind(events, StepCommitted):
        found.setdefault(event.sequence_id, []).extend(event.token_ids)
    return found
