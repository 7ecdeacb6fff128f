"""A session without a window: its events, its endings."""

import os
import signal
from functools import partial
from typing import Any

import pytest

from engine.wire.client import EngineClient, EngineStartError
from engine.wire.config import RunConfig
from engine.wire.events import (
    DraftProposed,
    Event,
    SequenceFinished,
    SessionEnded,
    StepCommitted,
)
from specscope.headless import EXIT_BAD_INPUT, EXIT_FAILED, RunFailed, run_session, run_sessions
from specscope.prompts import Prompt
from tests.support.stream_rules import check_stream


@pytest.fixture(autouse=True)
def _toys(monkeypatch: pytest.MonkeyPatch) -> None:
    start = partial(EngineClient.start, program="tests.support.toy_engine")
    monkeypatch.setattr("specscope.headless.EngineClient.start", start)


def test_all_prompts_are_decoded_and_the_stream_is_whole() -> None:
    events: list[Event] = []
    config = RunConfig(max_new_tokens=8)
    run_session(config, [Prompt("ab"), Prompt("cd", seed=5)], consume=events.extend)
    check_stream(events)
    finished = [event for event in events if isinstance(event, SequenceFinished)]
    assert [event.n_output_tokens for event in finished] == [8, 8]


def test_refused_settings_are_bad_input() -> None:
    with pytest.raises(RunFailed, match="missing is no model") as failure:
        run_session(RunConfig(target="missing"), [Prompt("ab")], consume=lambda _: None)
    assert failure.value.exit_code == EXIT_BAD_INPUT


def test_a_killed_engine_is_a_failure_with_its_events_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events: list[Event] = []
    pids: list[int] = []
    start = EngineClient.start

    def started(*configs: RunConfig, **settings: Any) -> EngineClient:
        client = start(*configs, **settings)
        pids.append(client.process_id)
        return client

    monkeypatch.setattr("specscope.headless.EngineClient.start", started)

    def consume(batch: list[Event]) -> None:
        if pids and any(isinstance(event, StepCommitted) for event in batch):
            os.kill(pids.pop(), signal.SIGKILL)
        events.extend(batch)

    config = RunConfig(max_new_tokens=100_000, draft="ngram")
    prompts = [Prompt("ab")] * 200
    with pytest.raises(RunFailed, match="SIGKILL") as failure:
        run_session(config, prompts, consume=consume)
    assert failure.value.exit_code == EXIT_FAILED
    assert isinstance(events[-1], SessionEnded)
    check_stream(events)


def test_an_interrupt_ends_the_engine_and_is_passed_on() -> None:
    events: list[Event] = []

    def consume(batch: list[Event]) -> None:
        already = len(events)
        events.extend(batch)
        if not any(isinstance(event, StepCommitted) for event in events[:already]) and any(
            isinstance(event, StepCommitted) for event in batch
        ):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_session(RunConfig(max_new_tokens=200), [Prompt("ab")] * 200, consume=consume)
    assert isinstance(events[-1], SessionEnded)
    check_stream(events)


def test_an_engine_that_does_not_come_up_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*configs: RunConfig, **_: Any) -> EngineClient:
        raise EngineStartError("The engine ended with exit code 7 before it had connected.")

    monkeypatch.setattr("specscope.headless.EngineClient.start", fail)
    with pytest.raises(RunFailed, match="exit code 7"):
        run_session(RunConfig(), [Prompt("ab")], consume=lambda _: None)


def test_sessions_follow_one_another_in_one_process() -> None:
    configs = [RunConfig(max_new_tokens=6, draft=draft) for draft in ("toy", "ngram", "none")]
    streams: list[list[Event]] = [[] for _ in configs]
    run_sessions(
        configs,
        [Prompt("ababab"), Prompt("hello")],
        consumers=[stream.extend for stream in streams],
    )
    for stream in streams:
        check_stream(stream)
    texts = [
        [event.text for event in stream if isinstance(event, SequenceFinished)]
        for stream in streams
    ]
    assert texts[0] == texts[1] == texts[2]
    drafters = [
        {event.drafter for event in stream if isinstance(event, DraftProposed)}
        for stream in streams
    ]
    assert drafters == [{"model"}, {"ngram"}, {"none"}]


def test_a_session_that_fails_ends_those_behind_it() -> None:
    configs = [RunConfig(max_new_tokens=4), RunConfig(target="missing"), RunConfig()]
    streams: list[list[Event]] = [[] for _ in configs]
    with pytest.raises(RunFailed, match="missing is no model") as failure:
        run_sessions(configs, [Prompt("ab")], consumers=[stream.extend for stream in streams])
    assert failure.value.exit_code == EXIT_BAD_INPUT
    assert isinstance(streams[0][-1], SessionEnded)
    assert isinstance(streams[1][-1], SessionEnded)
    assert streams[2] == []
