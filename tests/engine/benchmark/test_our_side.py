"""The engine as the benchmark runs it, on toy models."""

import statistics

import msgspec
import pytest

from engine.assembly import Parts
from engine.benchmark.our_side import OurSide, SpanTotals
from engine.device.build import make_device_step
from engine.wire.config import RunConfig
from engine.wire.events import LogEmitted, SpansMeasured, StepCommitted
from tests.support.device_engine import FakeGraphs
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


def test_a_warm_up_runs_a_few_steps_and_leaves_nothing() -> None:
    side = make_side()
    for prompt in ("hi", "hello"):
        side.warm_up(prompt)
    assert side.totals.n_steps == 0
    assert side.run("hello").token_ids == make_side().run("hello").token_ids
    make_side(max_new_tokens=1).warm_up("hi")  # at its end before it can be stopped


def test_prompts_that_were_warmed_up_leave_nothing_to_capture() -> None:
    # Of 250 positions and of 510: their contexts grow into rooms that the others do not have.
    prompts = ("x" * 20, "x" * 250, "x" * 510, "x" * 900)
    models = [ToyModel(40, seed=seed, context_length=2048) for seed in (1, 2)]
    side = OurSide(RunConfig(**_fields(CONFIG)), Parts(*models, ToyTokenizer(40), 40))  # type: ignore[arg-type]
    graphs, engine = FakeGraphs(), side._engine
    engine._loop.device_step = make_device_step(
        engine.config, target=engine.target, draft=engine._loop._drafter._runner,
        drafter=engine._loop._drafter, spans=engine._loop._spans, say=lambda event: None,
        backend=graphs,
    )  # fmt: skip
    for prompt in prompts:
        side.warm_up(prompt)
    n_captures = graphs.n_captures
    assert n_captures > 0
    for prompt in reversed(prompts):
        side.run(prompt)
    assert graphs.n_captures == n_captures


def test_warnings_of_all_runs_are_kept() -> None:
    side = make_side()
    side._take(LogEmitted(level="warning", message="CUDA graphs are not used: x."))
    side._take(LogEmitted(level="info", message="y"))
    side.run("hello")
    assert side.warnings == ["CUDA graphs are not used: x."]


def test_the_prefill_is_told_apart() -> None:
    run = make_side().run("hello")
    assert run.prefill_s is not None
    assert 0 < run.prefill_s < run.elapsed_s


def test_bytes_are_told_over_the_steps_and_over_the_forwards() -> None:
    side = make_side(draft="none")
    assert side.totals.bytes_per_s is None
    side.run("hello")
    totals = side.totals
    assert totals.bytes_per_s is not None
    assert 0 < totals.bytes_per_s["steps"] < totals.bytes_per_s["forwards"]
    assert totals.verify_bytes > 20 * 4 * 4 * 16**2
    assert totals.n_syncs == []


def test_a_step_whose_time_is_no_measure_is_not_timed() -> None:
    side = make_side(draft="none")
    side.run("hello", is_counted=False)
    events = [
        msgspec.structs.replace(event, is_profiled=True)
        if isinstance(event, StepCommitted) and event.step == 3
        else event
        for event in side._events
    ]
    totals = SpanTotals()
    totals.add(events)
    assert totals.n_steps == 20
    assert len(totals.verify_ns[1]) == 19


def test_waits_are_counted_step_by_step() -> None:
    totals = SpanTotals()
    for n_syncs in (1, 1, 2, None):
        totals.add(
            [
                SpansMeasured(
                    step=0, names=(), roles=(), start_ns=(), host_ns=(), gpu_ns=(), n_flops=(),
                    n_bytes=(), n_syncs=n_syncs,
                )
            ]
        )  # fmt: skip
    assert totals.n_syncs == [1, 1, 2]


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
