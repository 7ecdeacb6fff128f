from engine.theory.speedup_table import speedup_point, speedup_table


def test_a_point_agrees_with_the_formula() -> None:
    point = speedup_point(0.8, 4, c=0.05)
    assert round(point.tokens_per_step, 4) == 3.3616
    assert round(point.speedup, 4) == 2.8013
    assert round(point.draft_efficiency or 0, 4) == 0.5904
    assert round(point.break_even_alpha or 0, 4) == 0.1668


def test_a_table_keeps_the_order_asked_for() -> None:
    points = speedup_table(0.8, [4, 0, 2], c=0.05, v=[1.0, 1.1, 1.2, 1.3, 1.4])
    assert [(point.gamma, point.v) for point in points] == [(4, 1.4), (0, 1.0), (2, 1.2)]
    assert points[1].speedup == 1.0
    assert points[1].draft_efficiency is None
