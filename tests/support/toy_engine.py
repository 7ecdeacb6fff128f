"""The real worker with toy models: ``python -m tests.support.toy_engine``."""

import sys
from collections.abc import Callable

from engine.assembly import Parts, model_loaded, put_together
from engine.engine import Engine
from engine.telemetry.emitter import Emitter
from engine.telemetry.spans import SpanRecorder
from engine.wire.config import ConfigError, RunConfig
from engine.wire.events import Role
from engine.worker import main
from tests.support.toy_model import ToyModel, ToyTokenizer

N_TOKENS = 128


def assemble(
    config: RunConfig, *, emitter: Emitter, spans: SpanRecorder, rest: Callable[[str], None]
) -> Engine:
    """Two toys of 128 tokens; the target "missing" is not there."""
    if config.target == "missing":
        raise ConfigError("missing is no model: pick one from `specscope models`.")
    target = ToyModel(N_TOKENS, seed=1, context_length=256)
    draft = ToyModel(N_TOKENS, seed=2, context_length=256) if config.draft_model else None
    emitter.say(model_loaded(Role.TARGET, target, load_ns=1))
    if draft is not None:
        emitter.say(model_loaded(Role.DRAFT, draft, load_ns=1))
    parts = Parts(target, draft, ToyTokenizer(N_TOKENS), N_TOKENS)
    return put_together(config, parts, emitter=emitter, spans=spans, rest=rest)


if __name__ == "__main__":
    sys.exit(main(assemble))
