from engine.theory.units import parameters_text, si_text, time_text


def test_sizes_and_rates() -> None:
    assert si_text(139.4e9, "B") == "139.4 GB"
    assert si_text(989.4e12, "FLOP/s") == "989.4 TFLOP/s"
    assert si_text(12, "B") == "12 B"


def test_times() -> None:
    assert time_text(0.0418) == "41.8 ms"
    assert time_text(95.52) == "95.5 s"
    assert time_text(3.2e-6) == "3.2 us"


def test_parameter_counts() -> None:
    assert parameters_text(70_553_706_496) == "70.55B"
    assert parameters_text(494_032_768) == "494M"
    assert parameters_text(31_000) == "31,000"
