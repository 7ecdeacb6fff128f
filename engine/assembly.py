"""The composition root of the engine process: settings become models, caches, a drafter and a
loop."""

import gc
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

import psutil
import torch

from engine.decode_loop import DecodeLoop, Rest
from engine.device.build import make_device_step, model_modes
from engine.drafters.base import Drafter
from engine.drafters.composite import CompositeDrafter
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.ngram import NgramDrafter
from engine.drafters.none import NoDrafter
from engine.engine import Engine
from engine.forward import RoleRunner
from engine.gamma import make_gamma
from engine.kv.block_table import blocks_for
from engine.kv.contiguous_cache import ContiguousCache
from engine.kv.paged_cache import PagedCache
from engine.kv.slot_cache import SlotCache
from engine.models.base import CausalModel, Tokenizer
from engine.sampling import SamplingParams
from engine.scheduler import Scheduler
from engine.speaker import StepSpeaker
from engine.telemetry.cuda_timer import CudaTimer
from engine.telemetry.emitter import Emitter
from engine.telemetry.kernel_recorder import KernelRecorder
from engine.telemetry.spans import SpanRecorder
from engine.text import TokenTexts
from engine.wire.config import MAX_BLOCKS, ConfigError, RunConfig
from engine.wire.events import (
    CacheCreated,
    EngineState,
    EngineStateChanged,
    LogEmitted,
    ModelLoaded,
    Role,
)

if TYPE_CHECKING:
    from engine.models.loading import Shelf

CACHE_MEMORY_SHARE = 0.25
"""Of the memory that is free when a cache is made, the most it takes when no size is asked for."""


@dataclass(frozen=True, eq=False)
class Parts:
    """Loaded models, ready to be put together; tests hand in toys."""

    target: CausalModel
    draft: CausalModel | None
    tokenizer: Tokenizer
    n_tokens: int  # ids that both models know


class Assembler:
    """Makes engines, one after the other; models that several of them use are loaded once."""

    def __init__(self) -> None:
        self._shelf: Shelf = {}

    def __call__(
        self, config: RunConfig, *, emitter: Emitter, spans: SpanRecorder, rest: Rest
    ) -> Engine:
        """See ``assemble``. The engine before is over, and its memory is free for this one."""
        if self._shelf:
            let_go()
        return assemble(config, emitter=emitter, spans=spans, rest=rest, shelf=self._shelf)


def assemble(
    config: RunConfig,
    *,
    emitter: Emitter,
    spans: SpanRecorder,
    rest: Rest,
    shelf: "Shelf | None" = None,
) -> Engine:
    """Load what ``config`` names and put the engine together, saying ``ModelLoaded`` and
    ``CacheCreated`` for each role. Models on the ``shelf`` need no loading.

    Raises:
        ConfigError: a sentence about what cannot be loaded or does not fit together.
    """
    from engine.models.loading import load_pair  # transformers takes seconds to import

    def progress(detail: str) -> None:
        emitter.say(EngineStateChanged(state=EngineState.LOADING, detail=detail))

    pair = load_pair(config, progress=progress, shelf=shelf)
    if pair.target.device.type == "cuda":
        torch.cuda.set_device(pair.target.device)  # streams and events are the current device's
        spans.gpu_timer = CudaTimer(emitter.now_ns)
        spans.gpu_timer.align()
    parts = Parts(pair.target, pair.draft, pair.tokenizer, pair.n_tokens)
    for role, model, load_ns in (
        (Role.TARGET, pair.target, pair.target_load_ns),
        (Role.DRAFT, pair.draft, pair.draft_load_ns),
    ):
        if model is not None:
            notes = attention_notes(model, config)
            emitter.say(model_loaded(role, model, load_ns=load_ns, notes=notes))
    for note in pair.notes:
        emitter.say(LogEmitted(level="info", message=note))
    return put_together(config, parts, emitter=emitter, spans=spans, rest=rest)


def put_together(
    config: RunConfig, parts: Parts, *, emitter: Emitter, spans: SpanRecorder, rest: Rest
) -> Engine:
    """The engine of loaded ``parts``."""
    target = make_runner(Role.TARGET, parts.target, config, parts.n_tokens, emitter, spans)
    draft = None
    if parts.draft is not None and config.draft_model is not None:
        draft = make_runner(Role.DRAFT, parts.draft, config, parts.n_tokens, emitter, spans)
    drafter = make_drafter(config, draft, n_tokens=parts.n_tokens, device=parts.target.device)
    texts = TokenTexts(parts.tokenizer)
    scheduler = Scheduler(
        target=target,
        drafter=drafter,
        tokenizer=parts.tokenizer,
        texts=texts,
        batch=config.batch,
        say=emitter.say,
        now_ns=emitter.now_ns,
    )
    kernels = KernelRecorder(
        emitter, is_cuda=parts.target.device.type == "cuda", every=config.kernels_every
    )
    spans.kernels = kernels
    device_step = None
    if parts.target.device.type == "cuda":
        device_step = make_device_step(
            config, target=target, draft=draft, drafter=drafter, spans=spans, say=emitter.say
        )
    policy = make_gamma(config.gamma if config.draft != "none" else 0, max_gamma=config.max_gamma)
    sampling = SamplingParams(config.temperature, config.top_k, config.top_p)
    if device_step is not None:
        device_step.check_room(policy.limit, sampling)
    loop = DecodeLoop(
        target=target,
        drafter=drafter,
        gamma=policy,
        sampling=sampling,
        scheduler=scheduler,
        speaker=StepSpeaker(texts, emitter.say, is_profiled=lambda: spans.is_slowed),
        spans=spans,
        rest=rest,
        device_step=device_step,
    )
    return Engine(
        config,
        target=target,
        draft_model=parts.draft,
        tokenizer=parts.tokenizer,
        loop=loop,
        kernels=kernels,
        say=emitter.say,
        now_ns=emitter.now_ns,
    )


def make_drafter(
    config: RunConfig, draft: RoleRunner | None, *, n_tokens: int, device: torch.device
) -> Drafter:
    """What ``config.draft`` names. Gamma 0 needs none of them."""
    ngram = NgramDrafter(shortest=config.ngram_min, longest=config.ngram_max)
    if config.draft == "ngram":
        return ngram
    if draft is None:
        return NoDrafter()
    model = DraftModelDrafter(draft)
    return CompositeDrafter(ngram, model) if config.draft == "composite" else model


def make_runner(
    role: Role,
    model: CausalModel,
    config: RunConfig,
    n_tokens: int,
    emitter: Emitter,
    spans: SpanRecorder,
) -> RoleRunner:
    """A model with its cache, which is said."""
    try:
        cache = make_cache(role, model, config, say=emitter.say)
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise ConfigError(
            f"The {role} model's cache does not fit the memory of {model.device}: give fewer "
            "--blocks, a smaller batch, or a shorter context."
        ) from error
    emitter.say(
        CacheCreated(
            role=role,
            allocation=cache.allocation,
            n_blocks=cache.n_blocks,
            block_size=cache.block_size,
            bytes_per_block=cache.bytes_per_block,
            total_bytes=cache.total_bytes,
        )
    )
    return RoleRunner(role, model, cache, n_tokens=n_tokens, spans=spans, say=emitter.say)


def make_cache(
    role: Role, model: CausalModel, config: RunConfig, *, say: Callable[..., None]
) -> SlotCache:
    """A block pool of the size asked for; else enough for the whole batch at full context, or what
    a quarter of the free memory holds."""
    shapes = model.layer_kv_shapes()
    per_sequence = blocks_for(model.context_length, config.block_size)
    n_blocks = config.n_blocks
    if n_blocks is None:
        bytes_per_block = config.block_size * sum(
            2 * n_kv_heads * head_dim * model.dtype.itemsize for n_kv_heads, head_dim in shapes
        )
        affordable = int(CACHE_MEMORY_SHARE * free_memory(model.device)) // bytes_per_block
        n_blocks = max(1, min(config.batch * per_sequence, affordable, MAX_BLOCKS))
    make: Callable[..., SlotCache] = PagedCache
    if config.allocation == "contiguous":
        make = partial(ContiguousCache, reservation=model.context_length)
    return make(
        role,
        shapes,
        n_blocks=n_blocks,
        block_size=config.block_size,
        dtype=model.dtype,
        device=model.device,
        say=say,
    )


def free_memory(device: torch.device) -> int:
    """Bytes that can be taken on ``device`` now."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    return int(psutil.virtual_memory().available)


def let_go() -> None:
    """Of engines that are done with, their graphs and caches: all of them at once, before others
    capture or memory is asked for. Else they stay until a collection comes by, and what torch keeps
    for later counts as taken."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def attention_notes(model: CausalModel, config: RunConfig) -> tuple[str, ...]:
    """How a model on CUDA reads its cache; on a CPU there is nothing to choose."""
    if model.device.type != "cuda":
        return ()
    return (model_modes(model, block_size=config.block_size).sentence,)


def model_loaded(
    role: Role, model: CausalModel, *, load_ns: int, notes: tuple[str, ...] = ()
) -> ModelLoaded:
    """``notes`` come behind the model's own."""
    return ModelLoaded(
        role=role,
        name=model.name,
        n_parameters=model.shape.n_parameters,
        vocab_size=model.vocab_size,
        context_length=model.context_length,
        dtype=str(model.dtype).removeprefix("torch."),
        device=str(model.device),
        weight_bytes=model.weight_bytes,
        load_ns=load_ns,
        shape_json=json.dumps(asdict(model.shape)),
        notes=(*model.notes, *notes),
    )
