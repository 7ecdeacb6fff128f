"""Work of the forwards over their time, by hand."""

import numpy as np
import pytest

from engine.wire.events import Event, PrefillCompleted, Role, SpansMeasured
from sessions.metrics.forward_work import counted_rates, forward_work
from tests.sessions.played import snapshot_of


def spans(step: int, gpu_ns: tuple[int | None, ...] = (None,) * 5) -> Event:
    """A step of two draft forwards and a verification, from its hundredth microsecond on."""
    return SpansMeasured(
        ordinal=step + 1, t_ns=(step + 1) * 100_000, step=step,
        names=("step", "draft", "draft_forward", "draft_forward", "verify"),
        roles=(None, Role.DRAFT, Role.DRAFT, Role.DRAFT, Role.TARGET),
        start_ns=tuple(step * 100_000 + at for at in (0, 0, 0, 10, 30)),
        host_ns=(90, 20, 10, 10, 50),
        gpu_ns=gpu_ns,
        n_flops=(None, None, 200, 200, 5000),
        n_bytes=(None, None, 100, 100, 1000),
    )  # fmt: skip


PREFILL = PrefillCompleted(
    ordinal=0, t_ns=10, sequence_id=0, role=Role.TARGET, n_tokens=4, start_ns=0, host_ns=100,
    gpu_ns=None, n_flops=9000, n_bytes=300,
)  # fmt: skip


def test_rates_of_each_kind_of_forward() -> None:
    draft, verify, prefill = forward_work(snapshot_of([PREFILL, spans(0), spans(1)]))
    assert (draft.forward, draft.n, draft.clock) == ("draft", 4, "host")
    assert draft.intensity == 2.0
    assert draft.flops_per_s == pytest.approx(200 / 10e-9)
    assert draft.bytes_per_s == pytest.approx(100 / 10e-9)
    assert (verify.forward, verify.intensity) == ("verify", 5.0)
    assert verify.bytes_per_s == pytest.approx(1000 / 50e-9)
    assert (prefill.forward, prefill.intensity) == ("prefill", 30.0)


def test_the_device_s_clock_counts_where_it_timed_any() -> None:
    timed = spans(1, (None, None, 5, 5, 25))
    draft, verify = forward_work(snapshot_of([spans(0), timed]))
    assert (draft.clock, draft.n) == ("device", 2)
    assert verify.flops_per_s == pytest.approx(5000 / 25e-9)


def test_nothing_counted_is_no_work() -> None:
    assert forward_work(snapshot_of([])) == ()
    assert counted_rates(snapshot_of([]), n_stretches=4) is None


def test_rates_over_time_share_the_wall_time_out() -> None:
    rates = counted_rates(snapshot_of([PREFILL, spans(0), spans(1)]), n_stretches=2)
    assert rates is not None
    # 0 to 200 us, two stretches of 100 us each.
    assert rates.flops_per_s == pytest.approx(np.array([9000 + 5400, 5400]) / 100e-6)
    assert rates.bytes_per_s == pytest.approx(np.array([300 + 1200, 1200]) / 100e-6)
    assert rates.t_ns.tolist() == [50_000, 150_000]


def test_stretches_stay_where_they_are_while_a_session_is_played() -> None:
    whole = counted_rates(snapshot_of([PREFILL, spans(0), spans(1)]), n_stretches=4)
    early = snapshot_of([PREFILL, spans(0)])  # at 100 us
    part = counted_rates(early, n_stretches=4, last_ns=200_000)
    assert whole is not None
    assert part is not None
    assert part.t_ns.tolist() == whole.t_ns.tolist()[:2]
    assert part.flops_per_s == pytest.approx(whole.flops_per_s[:2])
