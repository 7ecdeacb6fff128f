"""The ranges of a real run, as a profiler attached from outside receives them."""

from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from engine.telemetry.spans import DOMAIN
from engine.wire.client import EngineClient
from engine.wire.config import RunConfig
from engine.wire.events import Event, SpansMeasured
from specscope.headless import run_session
from specscope.prompts import Prompt
from tests.support.nvtx_injection import build_injection, find_c_compiler


@pytest.mark.skipif(find_c_compiler() is None, reason="no C compiler to build the profiler with")
def test_a_profiler_receives_the_spans_that_the_stream_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    injection = build_injection(tmp_path)
    for name, value in injection.environment().items():
        monkeypatch.setenv(name, value)
    start = partial(EngineClient.start, program="tests.support.toy_engine")
    monkeypatch.setattr("specscope.headless.EngineClient.start", start)
    events: list[Event] = []
    config = RunConfig(max_new_tokens=12, gamma=3, calibrate=False, draft="composite")
    run_session(config, [Prompt("abcabcabc"), Prompt("hello")], consume=events.extend)

    told = Counter(
        name for event in events if isinstance(event, SpansMeasured) for name in event.names
    )
    ranges = injection.ranges()  # raises when pushes and pops do not balance
    assert {each.domain for each in ranges} == {DOMAIN}
    assert Counter(each.path[-1] for each in ranges) == told
    assert told["step"] > 0
    assert told["draft_forward"] > 0
    assert told["prefill"] == 4
    parents = {each.path[-1]: each.path[:-1] for each in ranges}
    assert parents["draft_forward"] == ("step", "draft")
    assert parents["verify"] == parents["sample"] == parents["commit"] == ("step",)
    assert parents["prefill"] == ()
