import pytest

from engine.theory.footprint import Footprint
from engine.theory.measured import ComponentRatio, compare_with_measured

PREDICTED = Footprint(
    target_weights_bytes=1000,
    draft_weights_bytes=100,
    target_kv_bytes=200,
    draft_kv_bytes=0,
)


def test_the_peak_is_held_against_the_total() -> None:
    comparison = compare_with_measured(PREDICTED, 1430)
    assert comparison.total == ComponentRatio("total", 1300, 1430, 1.1)
    assert comparison.components == ()
    assert comparison.unexplained_bytes == 130


def test_measured_parts_replace_predicted_ones() -> None:
    comparison = compare_with_measured(
        PREDICTED, 1430, components={"target_kv": 250, "draft_kv": 10}
    )
    assert comparison.components == (
        ComponentRatio("target_kv", 200, 250, 1.25),
        ComponentRatio("draft_kv", 0, 10, None),
    )
    assert comparison.unexplained_bytes == 1430 - (1000 + 100 + 250 + 10)


def test_what_is_no_measurement_is_refused() -> None:
    with pytest.raises(ValueError, match="No part is called 'weights'"):
        compare_with_measured(PREDICTED, 1430, components={"weights": 3})
    with pytest.raises(ValueError, match="the measured peak must be"):
        compare_with_measured(PREDICTED, 0)
