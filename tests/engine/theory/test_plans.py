"""Whole plans, against the functions they are made of and published figures."""

import pytest

from engine.theory.plans import (
    SHOWN_GAMMAS,
    break_even_text,
    fitting_text,
    memory_plan,
    parse_verify_costs,
    room_text,
    speedup_plan,
    weight_format,
    with_overhead,
)
from engine.theory.shape_source import resolve_shape
from engine.theory.speedup import best_gamma, expected_speedup
from engine.theory.speedup_table import speedup_point
from engine.theory.workload import GIB, Workload, to_gib


def test_a_speed_up_plan_holds_the_asked_and_the_best_gamma() -> None:
    plan = speedup_plan(0.8, 7, c=0.05)
    assert plan.asked.speedup == pytest.approx(expected_speedup(0.8, 7, c=0.05))
    assert plan.best == best_gamma(0.8, 0.05)
    gammas = [point.gamma for point in plan.points]
    assert gammas == sorted(SHOWN_GAMMAS | {7, plan.best.gamma})


def test_a_table_of_costs_ends_the_plan_where_it_ends() -> None:
    plan = speedup_plan(0.8, 2, c=0.05, v=[1.0, 1.1, 1.2])
    assert [point.gamma for point in plan.points] == [0, 1, 2]
    with pytest.raises(ValueError, match="cover 3 widths"):
        speedup_plan(0.8, 3, c=0.05, v=[1.0, 1.1, 1.2])


def test_costs_as_they_are_typed() -> None:
    assert parse_verify_costs("1.2") == 1.2
    assert parse_verify_costs("1, 1.02,1.05") == [1.0, 1.02, 1.05]
    with pytest.raises(ValueError, match=r"verify cost must be a number or a list.*'wide'"):
        parse_verify_costs("wide", called="verify cost")


def test_overhead_slows_drafting_steps_only() -> None:
    assert with_overhead(1.1, 0.2) == pytest.approx(1.3)
    assert with_overhead([1.0, 1.1, 1.2], 0.5) == pytest.approx([1.0, 1.6, 1.7])
    plain = speedup_plan(0.8, 2, c=0.1, v=with_overhead([1.0, 1.1, 1.2], 0.5))
    assert plain.points[0].speedup == 1.0
    assert plain.points[2].speedup == pytest.approx(expected_speedup(0.8, 2, c=0.1, v=1.7))
    with pytest.raises(ValueError, match="overhead"):
        with_overhead(1.0, -0.1)


@pytest.mark.parametrize(
    ("gamma", "c", "words"),
    [
        (0, 0.1, "nothing is drafted"),
        (4, 0.1, "pays above alpha 0."),
        (1, 1.5, "cannot pay"),
    ],
)
def test_where_speculation_stops_paying(gamma: int, c: float, words: str) -> None:
    assert words in break_even_text(speedup_point(0.8, gamma, c=c, v=1.0))


def test_the_published_memory_of_a_pair() -> None:
    target, draft = resolve_shape("llama-3-70b"), resolve_shape("llama-3-8b")
    load = Workload(batch_size=4, context_length=4096, gamma=5)
    plan = memory_plan(target, draft, load, mode="document", budget_bytes=80 * GIB)
    assert to_gib(plan.need.total_bytes) == pytest.approx(164.48, abs=0.01)
    assert plan.room is None
    assert fitting_text(plan.fitting) == "B200"
    exact = memory_plan(target, draft, load, budget_bytes=192 * GIB)
    assert exact.need.padding_bytes == 0
    assert exact.room is not None
    assert "for each of 4 sequences" in room_text(exact.room, load)


def test_what_fits_nowhere() -> None:
    target = resolve_shape("llama-3-70b")
    load = Workload(batch_size=512, context_length=100_000)
    assert memory_plan(target, None, load).fitting == ()
    assert "no known GPU" in fitting_text(())


def test_scales_come_with_few_bits() -> None:
    assert weight_format(16).group_size is None
    assert weight_format(8).group_size is None
    assert weight_format(4).group_size == 128
    assert weight_format(8, 32).group_size == 32
