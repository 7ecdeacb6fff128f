"""An event from a file is held to what an engine could have said."""

from contextlib import suppress

import pytest
from msgspec.structs import replace

from engine.wire.events import (
    BlocksAllocated,
    BlocksFreed,
    CacheCreated,
    DraftProposed,
    DraftVerified,
    Event,
    GpuSampled,
    KvAdvanced,
    SequenceStarted,
    SpansMeasured,
    StepCommitted,
)
from sessions.model import SessionModel
from sessions.session_limits import LimitError, check_limits
from sessions.tables import KvChange
from tests.sessions.recorded import script

ALLOCATED = int(KvChange.ALLOCATED)


def first(kind: type[Event]) -> Event:
    return next(event for event in script() if isinstance(event, kind))


def check(event: Event) -> None:
    check_limits([event])


def test_whatever_an_engine_says_is_within() -> None:
    for event in script():
        check(event)
    check_limits(script())
    check_limits([])


def test_one_of_many_is_found() -> None:
    events = script()
    events[50:50] = [replace(first(SpansMeasured), n_bytes=(2**64,) * 6)]
    with pytest.raises(LimitError, match="SpansMeasured is out of range"):
        check_limits(events)


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        (KvAdvanced, {"position": -1}),
        (KvAdvanced, {"n_written": 2**31}),
        (KvAdvanced, {"step": -(2**31) - 1}),
        (KvAdvanced, {"t_ns": 2**63}),
        (StepCommitted, {"step_ns": 2**64}),
        (StepCommitted, {"token_ids": (1, 2, 2**70)}),
        (StepCommitted, {"token_ids": (-1, 2, 2)}),
        (BlocksAllocated, {"physical_blocks": (1, -1)}),
        (BlocksFreed, {"physical_blocks": (2**31,)}),
        (DraftVerified, {"extra_token_id": 2**63}),
        (SequenceStarted, {"seed": 2**63}),
        (SpansMeasured, {"gpu_ns": (None, None, None, None, None, 2**63)}),
        (SpansMeasured, {"n_syncs": 2**31}),
        (SequenceStarted, {"prompt_token_ids": (2**31,), "prompt_token_texts": ("a",)}),
        (CacheCreated, {"n_blocks": 2**22 + 1}),
        (CacheCreated, {"block_size": 0}),
    ],
)
def test_a_number_that_no_column_takes_is_refused(
    kind: type[Event], changes: dict[str, object]
) -> None:
    with pytest.raises(LimitError, match=f"a number in {kind.__name__} is out of range"):
        check(replace(first(kind), **changes))


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        (DraftProposed, "position"),
        (DraftVerified, "position"),
        (StepCommitted, "position"),
        (KvAdvanced, "position"),
        (BlocksAllocated, "first_logical_block"),
    ],
)
def test_places_that_count_on_past_a_column_are_refused(kind: type[Event], field: str) -> None:
    event = first(kind)
    length = max(
        getattr(event, "n_written", 0),
        *(len(getattr(event, name, ())) for name in ("token_ids", "physical_blocks")),
    )
    assert length > 0
    last = replace(event, **{field: 2**31 - 1 - length})
    check(last)
    model = SessionModel()
    model.consume([last])
    tables = model.snapshot()
    assert all(tables.draft_tokens["position"] > 0)
    assert all(tables.output_tokens["position"] > 0)
    assert all(tables.kv_changes["logical_block"][tables.kv_changes["change"] == ALLOCATED] > 0)
    with pytest.raises(LimitError, match=f"a number in {kind.__name__} is out of range"):
        check_limits([event, replace(event, **{field: 2**31 - length})])


def test_every_number_that_is_let_in_fits_its_column() -> None:
    n_let_in = 0
    for kind in {type(event) for event in script()}:
        event = first(kind)
        for name in kind.__struct_fields__:
            value = getattr(event, name)
            many = value if isinstance(value, tuple) else (value,)
            if isinstance(value, bool) or not any(isinstance(each, int) for each in many):
                continue
            for largest in (2**63 - 1, 2**31 - 1):
                told = (largest,) * len(value) if isinstance(value, tuple) else largest
                changed = replace(event, **{name: told})
                with suppress(LimitError):
                    check(changed)
                    SessionModel().consume([changed])
                    n_let_in += 1
    assert n_let_in > 50


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        (DraftVerified, "fates"),
        (DraftVerified, "uniforms"),
        (StepCommitted, "origins"),
        (SpansMeasured, "n_bytes"),
        (SequenceStarted, "prompt_token_texts"),
    ],
)
def test_lists_that_do_not_belong_together_are_refused(kind: type[Event], field: str) -> None:
    event = first(kind)
    with pytest.raises(LimitError, match="differ in length"):
        check(replace(event, **{field: getattr(event, field)[:-1]}))


def test_what_may_be_negative_or_missing_is_let_in() -> None:
    check(replace(first(KvAdvanced), step=-1))
    check(replace(first(SequenceStarted), seed=-(2**63)))
    sample = GpuSampled(
        device_uuid="",
        utilization_pct=None,
        memory_used_bytes=None,
        memory_total_bytes=2**40,
        power_mw=None,
        temperature_c=-5,
        sm_clock_mhz=None,
    )
    check(sample)
