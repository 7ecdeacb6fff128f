"""Runs a session without a window: prompts in, events out, until the engine says farewell."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from engine.wire.client import EngineClient, EngineStartError
from engine.wire.commands import CloseQueue, SubmitPrompt
from engine.wire.config import RunConfig
from engine.wire.events import EndReason, Event, SessionEnded
from specscope.prompts import Prompt

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130

BATCH_LIMIT = 1000
"""Events handed on at once."""


class RunFailed(Exception):
    """The session ended badly; ``exit_code`` is what the command should return."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@contextmanager
def started_engine(config: RunConfig) -> Iterator[EngineClient]:
    """A running engine, gone with everything it held when the block is left."""
    try:
        client = EngineClient.start(config)
    except EngineStartError as error:
        raise RunFailed(str(error), EXIT_FAILED) from error
    try:
        yield client
    finally:
        client.close()


def run_session(
    config: RunConfig, prompts: Sequence[Prompt], *, consume: Callable[[list[Event]], None]
) -> None:
    """Decode ``prompts`` and hand every event to ``consume``, in order.

    Raises:
        RunFailed: the engine could not start, refused the settings, failed or crashed.
        KeyboardInterrupt: passed on, after the engine was told to stop and its last events handed
        on.
    """
    with started_engine(config) as client:
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
            while not client.exhausted:
                client.wait(0.5)
                ended = _hand_on(client, consume) or ended
        except KeyboardInterrupt:
            client.close()
            while not client.exhausted and _hand_on(client, consume) is None:
                pass
            raise
        client.close()  # reaps the process, so that its exit code is known
        if ended is None or ended.reason in (EndReason.FAILED, EndReason.CRASHED):
            detail = ended.detail if ended else "The engine ended without a farewell."
            is_bad_input = client.exit_code == EXIT_BAD_INPUT
            raise RunFailed(detail, EXIT_BAD_INPUT if is_bad_input else EXIT_FAILED)


def _hand_on(client: EngineClient, consume: Callable[[list[Event]], None]) -> SessionEnded | None:
    ended = None
    while events := client.poll(BATCH_LIMIT):
        if isinstance(events[-1], SessionEnded):
            ended = events[-1]
        consume(events)
    return ended
