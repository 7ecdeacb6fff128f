from typing import Any

import pytest

from engine.calibration import MAX_ROUNDS, Calibration, calibrate
from engine.wire.events import CalibrationMeasured
from tests.support.toy_model import ToyModel


class TickingModel(ToyModel):
    """Forwards take a set time on a clock of their own."""

    clock = 0

    def __init__(self, seed: int, *, base_ns: int, per_token_ns: int = 0, **options: Any) -> None:
        super().__init__(8, seed=seed, **options)
        self.base_ns = base_ns
        self.per_token_ns = per_token_ns
        self.seen: list[tuple[int, int]] = []

    def forward(self, batch: Any, store: Any, *, n_logits: int) -> Any:
        TickingModel.clock += self.base_ns + self.per_token_ns * batch.widths[0]
        self.seen.append((batch.context_lengths[0], batch.widths[0]))
        assert n_logits == batch.widths[0]
        return super().forward(batch, store, n_logits=n_logits)


@pytest.fixture(autouse=True)
def _clock() -> None:
    TickingModel.clock = 0


def now_ns() -> int:
    return TickingModel.clock


def test_times_every_width_at_the_context_s_length() -> None:
    target = TickingModel(1, base_ns=1_000_000, per_token_ns=100_000)
    draft = TickingModel(2, base_ns=200_000)
    measured = calibrate(target, draft, context_length=50, max_width=5, now_ns=now_ns)
    assert measured.target_forward_ns == (1_100_000, 1_200_000, 1_300_000, 1_400_000, 1_500_000)
    assert measured.draft_forward_ns == 200_000
    assert measured.context_length == 50
    assert set(target.seen) == {(50 + width, width) for width in range(1, 6)}
    assert set(draft.seen) == {(51, 1)}
    assert measured.elapsed_ns == TickingModel.clock
    costs = measured.costs
    assert costs.c == pytest.approx(200 / 1100)
    assert [costs.verify(width) for width in (1, 2, 5)] == pytest.approx([1.0, 12 / 11, 15 / 11])


def test_a_width_is_timed_behind_the_drafts_of_its_step() -> None:
    order: list[str] = []

    class Noting(TickingModel):
        def forward(self, batch: Any, store: Any, *, n_logits: int) -> Any:
            order.append(f"target {batch.widths[0]}" if self is target else "draft")
            return super().forward(batch, store, n_logits=n_logits)

    target, draft = Noting(1, base_ns=1000), Noting(2, base_ns=100)
    calibrate(target, draft, context_length=5, max_width=3, now_ns=now_ns, budget_ns=1)
    warm_up = ["target 1", "target 2", "target 3", "draft"]
    assert order == [
        *warm_up, "target 1", "draft", "target 2", "draft", "draft", "target 3"
    ]  # fmt: skip


def test_without_a_draft_model_c_is_nothing() -> None:
    target = TickingModel(1, base_ns=1_000_000)
    measured = calibrate(target, None, context_length=5, max_width=1, now_ns=now_ns)
    assert measured.draft_forward_ns is None
    assert (measured.costs.c, measured.costs.verify_costs) == (0.0, (1.0,))
    assert measured.event() == CalibrationMeasured(
        context_length=5, draft_forward_ns=None, target_widths=(1,),
        target_forward_ns=(1_000_000,), elapsed_ns=measured.elapsed_ns,
    )  # fmt: skip


def test_the_budget_bounds_the_rounds_and_one_is_always_run() -> None:
    slow = TickingModel(1, base_ns=10**9)
    calibrate(slow, None, context_length=5, max_width=2, now_ns=now_ns, budget_ns=1)
    assert len(slow.seen) == 4  # a warm-up and a round
    quick = TickingModel(1, base_ns=1000)
    calibrate(quick, None, context_length=5, max_width=2, now_ns=now_ns)
    assert len(quick.seen) == 2 * (1 + MAX_ROUNDS)
    middle = TickingModel(1, base_ns=10**8)
    calibrate(middle, None, context_length=5, max_width=1, now_ns=now_ns)
    assert TickingModel.clock <= 600_000_000 + 10**9 * 4 + 10**5


def test_a_context_near_the_model_s_end_is_measured_where_there_is_room() -> None:
    target = TickingModel(1, base_ns=1000, context_length=30)
    draft = TickingModel(2, base_ns=1000, context_length=10)
    measured = calibrate(target, draft, context_length=29, max_width=9, now_ns=now_ns)
    assert measured.context_length == 21
    assert max(length for length, _ in target.seen) == 30
    assert max(length for length, _ in draft.seen) == 10


def test_no_context_at_all() -> None:
    target = TickingModel(1, base_ns=1000)
    assert calibrate(target, None, context_length=0, max_width=3, now_ns=now_ns).context_length == 0
    assert set(target.seen) == {(1, 1), (2, 2), (3, 3)}


def test_a_median_is_at_least_a_nanosecond() -> None:
    """A clock that stands still must not divide by zero."""
    target = TickingModel(1, base_ns=0)
    measured = calibrate(target, target, context_length=5, max_width=2, now_ns=now_ns)
    assert measured.target_forward_ns == (1, 1)
    assert measured.costs.c == 1.0


@pytest.mark.parametrize(
    ("measured_at", "length", "is_outgrown"),
    [(0, 256, False), (0, 257, True), (100, 456, False), (100, 457, True), (1000, 2256, False)],
)
def test_outgrown(measured_at: int, length: int, is_outgrown: bool) -> None:
    calibration = Calibration(measured_at, None, (1,), 0)
    assert calibration.is_outgrown(length) is is_outgrown
