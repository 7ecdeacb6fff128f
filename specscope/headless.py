"""Runs sessions: prompts in, events out, until the engine says farewell."""

import time
from collections.abc import Callable, Sequence

from engine.wire.client import EngineClient, EngineStartError
from engine.wire.commands import CloseQueue, SubmitPrompt
from engine.wire.config import RunConfig
from engine.wire.events import EndReason, Event, SessionEnded
from specscope.prompts import Prompt

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130

FAREWELL_S = 20.0
"""How long an engine that has said farewell may take to be gone."""

GATHER_S = 0.03
"""How long events gather before they are handed on. One step at a time they take several times as
much of a processor, whose other half the engine may be decoding on."""

BATCH_LIMIT = 1000
"""Events handed on at once."""


class RunFailed(Exception):
    """The session ended badly; ``exit_code`` is what the command should return."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


Consume = Callable[[Sequence[Event]], None]


def run_session(config: RunConfig, prompts: Sequence[Prompt], *, consume: Consume) -> None:
    """Decode ``prompts`` and hand every event to ``consume``, in order.

    Raises:
        RunFailed: the engine could not start, refused the settings, failed or crashed.
        KeyboardInterrupt: passed on, after the engine was told to stop and its last events handed
            on.
    """
    run_sessions([config], prompts, consumers=[consume])


def run_sessions(
    configs: Sequence[RunConfig],
    prompts: Sequence[Prompt],
    *,
    consumers: Sequence[Consume],
    wrapper: Sequence[str] = (),
) -> None:
    """The same prompts under each of ``configs``, one session after the other in one process, so
    that models they share are loaded once. ``consumers[i]`` takes the events of ``configs[i]``;
    ``wrapper`` is a profiler to run the engine under.

    Raises: as ``run_session``, at the end of the first session that went wrong.
    """
    try:
        client = EngineClient.start(*configs, wrapper=wrapper)
    except EngineStartError as error:
        raise RunFailed(str(error), EXIT_FAILED) from error
    with client:
        for consume in consumers:
            for prompt in prompts:
                client.send(
                    SubmitPrompt(
                        text=prompt.text,
                        max_new_tokens=prompt.max_new_tokens,
                        seed=prompt.seed,
                        label=prompt.label,
                    )
                )
            client.send(CloseQueue())
            ended: SessionEnded | None = None
            try:
                while ended is None and not client.exhausted:
                    client.wait(0.5)
                    time.sleep(GATHER_S)
                    ended = _hand_on(client, consume)
            except KeyboardInterrupt:
                client.close()
                while not client.exhausted and _hand_on(client, consume) is None:
                    pass
                raise
            if ended is None or ended.reason is not EndReason.FINISHED:
                # Reaps the process, so that its exit code is known: one that has said farewell ends
                # by itself, on a busy machine not at once.
                more_s = FAREWELL_S if ended is not None else 0.0
                client.close(patience_s=max(client.patience_s, more_s))
                detail = ended.detail if ended else "The engine ended without a farewell."
                if ended is not None and ended.reason is EndReason.STOPPED:
                    detail = f"The engine stopped by itself: {ended.detail or 'no reason given'}."
                is_bad_input = client.exit_code == EXIT_BAD_INPUT
                raise RunFailed(detail, EXIT_BAD_INPUT if is_bad_input else EXIT_FAILED)


def _hand_on(client: EngineClient, consume: Consume) -> SessionEnded | None:
    """Everything that has come, up to the end of the session; what follows is left for the next."""
    while events := client.poll(BATCH_LIMIT):
        consume(events)
        if isinstance(events[-1], SessionEnded):
            return events[-1]
    return None
