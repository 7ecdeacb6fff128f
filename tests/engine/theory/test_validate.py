import numpy as np
import pytest

from engine.theory.validate import (
    require_at_least,
    require_count,
    require_fraction,
    require_positive,
)


def test_numpy_numbers_pass_and_come_out_plain() -> None:
    assert type(require_count("gamma", np.int64(3))) is int
    assert type(require_fraction("alpha", np.float64(0.5))) is float


def test_each_sentence_names_the_quantity_and_the_value() -> None:
    with pytest.raises(ValueError, match=r"alpha must lie between 0 and 1.*got 2"):
        require_fraction("alpha", 2)
    with pytest.raises(ValueError, match="gamma must be a whole number of at least 1, got 0"):
        require_count("gamma", 0, minimum=1)
    with pytest.raises(ValueError, match=r"c must be a finite number of at least 0, got -1"):
        require_at_least("c", -1, minimum=0)
    with pytest.raises(ValueError, match="v must be a finite number above 0, got nan"):
        require_positive("v", float("nan"))
