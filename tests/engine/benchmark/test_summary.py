"""Medians, spreads, ratios."""

import pytest

from engine.benchmark.summary import paired_ratio, spread


def test_spread_of_one_value_is_that_value() -> None:
    assert spread([3.0]) == {
        "median": 3.0, "lower_quartile": 3.0, "upper_quartile": 3.0, "min": 3.0, "max": 3.0, "n": 1,
    }  # fmt: skip


def test_spread_sorts_and_takes_inclusive_quartiles() -> None:
    told = spread([5.0, 1.0, 3.0, 2.0, 4.0])
    assert (told["min"], told["median"], told["max"]) == (1.0, 3.0, 5.0)
    assert (told["lower_quartile"], told["upper_quartile"]) == (2.0, 4.0)


def test_a_ratio_is_taken_pair_by_pair() -> None:
    # The machine halves its speed for the second pair: the ratio does not notice.
    assert paired_ratio([20.0, 10.0], [10.0, 5.0])["median"] == 2.0
    with pytest.raises(ValueError, match="shorter"):
        paired_ratio([1.0, 2.0], [1.0])
