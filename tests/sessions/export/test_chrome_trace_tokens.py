"""Tokens, blocks and memory in a Chrome trace."""

from pathlib import Path

import msgspec
import pytest

from engine.wire.events import (
    DraftVerified,
    Fate,
    SpansMeasured,
    StepCommitted,
)
from tests.support.export_streams import (
    gpu_session,
    plain_session,
    two_sequences,
    with_clear_spans,
)
from tests.support.written_exports import written_trace


def test_tokens_go_with_their_ranges(tmp_path: Path) -> None:
    events = with_clear_spans(two_sequences())
    trace = written_trace(events, tmp_path)
    verdicts = [event for event in events if isinstance(event, DraftVerified)]
    found = [
        (r.args["step"], s["sequence_id"], s["token_ids"], s["fates"], s["token_texts"])
        for r in trace.named("verify")
        for s in r.args["sequences"]
    ]
    assert found == [
        (e.step, e.sequence_id, list(e.token_ids), [str(f) for f in e.fates], list(e.token_texts))
        for e in verdicts
    ]
    drafts = [s for r in trace.named("draft") for s in r.args["sequences"]]
    assert [float(p) for s in drafts for p in s["draft_probs"]] == [
        p for e in verdicts for p in e.draft_probs
    ]
    rejected = [i for i in trace.instants if i["name"] == "rejected"]
    assert [(i["t_ns"], i["args"]["position"]) for i in rejected] == [
        (e.t_ns, e.position + e.n_accepted) for e in verdicts if Fate.REJECTED in e.fates
    ]


def test_acceptance_rolls(tmp_path: Path) -> None:
    trace = written_trace(plain_session(2), tmp_path)
    rates = [c["args"]["acceptance_rate"] for c in trace.counters if "acceptance_rate" in c["args"]]
    assert [float(rate) for rate in rates] == [2 / 3, 4 / 6]  # two accepted, one rejected a step


def test_memory_is_counted(tmp_path: Path) -> None:
    trace = written_trace(plain_session(1), tmp_path)
    assert [c["args"] for c in trace.counters if c["name"] == "host memory"] == [
        {"process_bytes": 5 << 20}
    ]
    names = {c["name"] for c in written_trace(gpu_session(1), tmp_path).counters}
    assert "GPU 0 memory_used_bytes" in names
    assert "GPU 0 power_mw" not in names  # it was missing, which is not 0


def test_tokens_whose_ranges_were_lost_are_said_alone(tmp_path: Path) -> None:
    events = [event for event in plain_session(2) if not isinstance(event, SpansMeasured)]
    trace = written_trace(events, tmp_path)
    assert [i["name"] for i in trace.instants if "sequences" in i["args"]] == [
        "draft tokens", "verify tokens", "draft tokens", "verify tokens",
    ]  # fmt: skip


def test_awkward_texts_are_json(tmp_path: Path) -> None:
    texts = ('"', "\x00\x1f", "\u2028", "é🙂")
    events = [
        msgspec.structs.replace(event, token_texts=texts)
        if isinstance(event, DraftVerified)
        else event
        for event in plain_session(1)
    ]
    (verify,) = written_trace(events, tmp_path).named("verify")
    assert verify.args["sequences"][0]["token_texts"] == list(texts)


@pytest.mark.parametrize("per_step", [False, True])
def test_a_set_back_and_two_sequences(tmp_path: Path, per_step: bool) -> None:
    events = two_sequences()
    trace = written_trace(events, tmp_path, per_step=per_step)
    assert [i["args"]["sequence_id"] for i in trace.instants if i["name"] == "set back"] == [1]
    n_steps = len({event.step for event in events if isinstance(event, StepCommitted)})
    assert len(trace.named("step")) == n_steps
