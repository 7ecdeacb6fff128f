"""Folds of a step's events, against rows written out by hand."""

import math

import numpy as np

from engine.wire.events import DraftVerified, Event, Fate, Origin, Role, SpansMeasured
from sessions.columns import MISSING_CODE, MISSING_COUNT, MISSING_INT
from sessions.tables import DRAFT, TARGET, KvChange
from tests.sessions.played import snapshot_of
from tests.support.event_script import EventScript


def two_steps() -> list[Event]:
    script = EventScript(block_size=4)
    script.sequence("abc")
    script.step(drafted=3, accepted=1, gamma=5)
    script.step(drafted=2, accepted=2)
    return script.events


def test_a_draft_and_its_tokens() -> None:
    snapshot = snapshot_of(two_steps())
    assert snapshot.drafts["n_drafted"].tolist() == [3, 2]
    assert snapshot.drafts["gamma"].tolist() == [5, 2]
    assert snapshot.drafts["position"].tolist() == [3, 5]
    assert np.isnan(snapshot.drafts["gamma_alpha"]).all()
    assert snapshot.drafts.texts("drafter") == ["model", "model"]
    assert snapshot.proposals["draft_index"].tolist() == [0, 1, 2, 0, 1]
    assert snapshot.proposals["step"].tolist() == [0, 0, 0, 1, 1]
    assert snapshot.proposals.texts("text") == ["a", "b", "c", "a", "b"]
    assert snapshot.proposals["token_id"].tolist() == [97, 98, 99, 97, 98]


def test_a_verdict_and_its_tokens() -> None:
    snapshot = snapshot_of(two_steps())
    tokens, fates = snapshot.draft_tokens, list(Fate)
    assert [fates[code] for code in tokens["fate"].tolist()] == [
        Fate.ACCEPTED, Fate.REJECTED, Fate.DISCARDED, Fate.ACCEPTED, Fate.ACCEPTED,
    ]  # fmt: skip
    assert tokens["position"].tolist() == [3, 4, 5, 5, 6]
    assert tokens["target_prob"].tolist() == [0.4, 0.1, 0.1, 0.4, 0.4]
    assert tokens["uniform"].tolist() == [0.6, 0.9, 0.9, 0.6, 0.6]
    for column, value in (("overlap", 0.7), ("target_entropy", 1.2), ("draft_confidence", 0.5)):
        assert tokens[column].tolist() == [value] * 5
    assert snapshot.verdicts["n_accepted"].tolist() == [1, 2]
    assert snapshot.verdicts.texts("extra_text") == ["!", "!"]
    assert [list(Origin)[code] for code in snapshot.verdicts["extra_origin"].tolist()] == [
        Origin.RECOVERED,
        Origin.BONUS,
    ]


def test_a_commit_and_its_tokens() -> None:
    snapshot = snapshot_of(two_steps())
    assert snapshot.steps["n_committed"].tolist() == [2, 3]
    assert snapshot.output_tokens["position"].tolist() == [3, 4, 5, 6, 7]
    assert snapshot.output_tokens.texts("text") == ["a", "!", "a", "b", "!"]
    assert [list(Origin)[code] for code in snapshot.output_tokens["origin"].tolist()] == [
        Origin.ACCEPTED, Origin.RECOVERED, Origin.ACCEPTED, Origin.ACCEPTED, Origin.BONUS,
    ]  # fmt: skip


def test_a_step_that_stopped_in_its_draft_has_no_extra_token() -> None:
    script = EventScript()
    script.sequence("a")
    script.step(drafted=4, accepted=2, stop=True)
    snapshot = snapshot_of(script.events)
    assert snapshot.verdicts["extra_token_id"].tolist() == [MISSING_COUNT]
    assert snapshot.verdicts.text("extra_text", 0) == ""
    assert math.isnan(snapshot.verdicts["extra_entropy"][0])
    assert snapshot.steps["extra_origin"].tolist() == [MISSING_CODE]
    assert len(snapshot.draft_tokens) == len(snapshot.output_tokens) == 2


def test_a_step_without_a_draft_has_rows_but_no_tokens() -> None:
    script = EventScript()
    script.sequence("a")
    script.step(drafted=0, accepted=0, gamma=4)
    snapshot = snapshot_of(script.events)
    assert snapshot.lengths()["drafts"] == snapshot.lengths()["verdicts"] == 1
    assert len(snapshot.proposals) == len(snapshot.draft_tokens) == 0
    assert snapshot.steps["n_committed"].tolist() == [1]


def test_cache_changes_keep_their_order() -> None:
    snapshot = snapshot_of(two_steps())
    changes = snapshot.kv_changes
    assert np.all(np.diff(changes["ordinal"]) >= 0)
    ours = changes["role"] == TARGET
    kinds = [KvChange(code) for code in changes["change"][ours].tolist()]
    assert kinds[:2] == [KvChange.ALLOCATED, KvChange.ADVANCED]
    advanced = ours & (changes["change"] == KvChange.ADVANCED)
    assert changes["step"][advanced].tolist() == [-1, 0, 1]
    lengths = changes["position"] + changes["n_written"] - changes["n_rolled_back"]
    assert lengths[advanced].tolist() == [2, 4, 7]  # all tokens but the newest
    assert changes["n_rolled_back"][advanced].tolist() == [0, 2, 0]
    is_block = ours & ~advanced
    assert set(changes["position"][is_block].tolist()) == {MISSING_COUNT}
    assert changes["logical_block"][is_block].tolist() == [0, 1]


def test_spans_say_what_was_not_measured() -> None:
    event = SpansMeasured(
        ordinal=0, t_ns=9, step=3,
        names=("step", "draft_forward"), roles=(None, Role.DRAFT), start_ns=(1, 2),
        host_ns=(7, 3), gpu_ns=(None, 4), n_flops=(None, 10), n_bytes=(None, None),
    )  # fmt: skip
    spans = snapshot_of([event]).spans
    assert spans.texts("name") == ["step", "draft_forward"]
    assert spans["role"].tolist() == [MISSING_CODE, DRAFT]
    assert spans["gpu_ns"].tolist() == [MISSING_INT, 4]
    assert spans["n_bytes"].tolist() == [MISSING_INT] * 2
    assert spans["ordinal"].tolist() == [0, 0]
    assert spans["n_forwards"].tolist() == [1, 1]
    assert spans["n_syncs"].tolist() == [MISSING_COUNT] * 2


def test_a_captured_draft_says_how_many_forwards_it_holds() -> None:
    event = SpansMeasured(
        ordinal=0, t_ns=9, step=3,
        names=("step", "draft_forward"), roles=(None, Role.DRAFT), start_ns=(1, 2),
        host_ns=(7, 3), gpu_ns=(6, 4), n_flops=(None, 10), n_bytes=(None, 10),
        n_forwards=(1, 4), n_syncs=1,
    )  # fmt: skip
    spans = snapshot_of([event]).spans
    assert spans["n_forwards"].tolist() == [1, 4]
    assert spans["n_syncs"].tolist() == [1, 1]


def test_a_verdict_needs_no_proposal() -> None:
    verdicts = [event for event in two_steps() if isinstance(event, DraftVerified)]
    snapshot = snapshot_of(verdicts)
    assert len(snapshot.draft_tokens) == 5
    assert len(snapshot.proposals) == 0
