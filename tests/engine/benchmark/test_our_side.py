"""The engine as the benchmark runs it, on toy models."""

import statistics

import pytest

from engine.assembly import Parts
from engine.benchmark.our_side import OurSide, SpanTotals
from engine.wire.config import RunConfig
from engine.wire.events import SpansMeasured
from tests.support.toy_model import ToyModel, ToyTokenizer

CONFIG = RunConfig(max_new_tokens=20, gamma=3, calibrate=False)


def make_side(**changes: object) -> OurSide:
    parts = Parts(ToyModel(40, seed=1), ToyModel(40, seed=2), ToyTokenizer(40), 40)
    return OurSide(RunConfig(**{**_fields(CONFIG), **changes}), parts)  # type: ignore[arg-type]


def _fields(config: RunConfig) -> dict[str, object]:
    return {name: getattr(config, name) for name in config.__struct_fields__}


def test_both_ways_give_the_same_greedy_tokens() -> None:
    speculative, plain = make_side().run("hello"), make_side(draft="none").run("hello")
    assert speculative.token_ids == plain.token_ids
    assert len(plain.token_ids) == 20
    assert plain.elapsed_s > 0


def test_totals_fold_the_counted_runs_only() -> None:
    side = make_side()
    side.run("hello", is_counted=False)
    assert side.totals.n_steps == 0
    side.run("hello")
    totals = side.totals
    assert totals.n_committed == 20
    assert totals.n_tested >= totals.n_accepted
    assert totals.n_drafted >= totals.n_tested
    assert sum(map(len, totals.verify_ns.values())) == totals.n_steps
    assert set(totals.verify_ns) <= {1, 2, 3, 4}
    assert len(totals.draft_forward_ns) >= totals.n_drafted
    assert totals.forward_ns == sum(totals.draft_forward_ns) + sum(
        ns for times in totals.verify_ns.values() for ns in times
    )
    assert 0 < totals.overhead_share < 1


def test_plain_decoding_verifies_one_token_at_a_time() -> None:
    side = make_side(draft="none")
    side.run("hello")
    assert list(side.totals.verify_ns) == [1]
    assert statistics.median(side.totals.verify_ns[1]) > 0
    assert side.totals.acceptance_rate is None
    assert side.totals.n_steps == 20


def test_nothing_run_has_no_shares() -> None:
    totals = make_side().totals
    assert totals.overhead_share is None
    assert totals.acceptance_rate is None
    assert totals.n_committed == pytest.approx(0)


def test_plain_decoding_leaves_the_draft_model_alone() -> None:
    draft = ToyModel(40, seed=2)
    parts = Parts(ToyModel(40, seed=1), draft, ToyTokenizer(40), 40)
    fields = {**_fields(CONFIG), "draft": "none"}
    OurSide(RunConfig(**fields), parts).run("hello")  # type: ignore[arg-type]
    assert draft.n_forwards == 0


def test_a_captured_draft_is_as_many_forwards_as_it_holds() -> None:
    nothing = (None, None)
    spans = SpansMeasured(
        step=0, names=("draft", "draft_forward"), roles=nothing, start_ns=(0, 0),
        host_ns=(50, 40), gpu_ns=(100, 90), n_flops=nothing, n_bytes=nothing, n_forwards=(1, 3),
    )  # fmt: skip
    totals = SpanTotals()
    totals.add([spans])
    assert totals.draft_forward_ns == [30, 30, 30]
    assert totals.forward_ns == 90
