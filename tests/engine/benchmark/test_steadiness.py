import pytest

from engine.benchmark import steadiness as module
from engine.benchmark.steadiness import Steadiness


def looked(monkeypatch: pytest.MonkeyPatch, *looks_us: float) -> Steadiness:
    """As if the product had taken so long, each look's other tries longer."""
    steadiness = Steadiness()
    for look_us in looks_us:
        tries = iter([look_us + 3, look_us, look_us + 7])
        monkeypatch.setattr(steadiness, "_once_us", lambda tries=tries: next(tries))
        steadiness.look()
    return steadiness


def test_a_fast_and_a_slow_twentieth_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    summary = looked(monkeypatch, *range(100, 201)).summary()
    assert summary == {
        "fast_us": 105.0,
        "slow_us": 195.0,
        "slow_vs_fast": pytest.approx(195 / 105),
        "is_steady": False,
        "n": 101,
    }


def test_a_machine_that_keeps_its_speed_is_steady(monkeypatch: pytest.MonkeyPatch) -> None:
    summary = looked(monkeypatch, 200, 201, 199, 230, 200).summary()
    assert summary is not None
    assert summary["is_steady"]


def test_nothing_is_said_of_too_few_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Steadiness().summary() is None
    assert looked(monkeypatch, 200).summary() is None


def test_a_look_times_a_product() -> None:
    steadiness = Steadiness()
    for _ in range(4):
        steadiness.look()
    summary = steadiness.summary()
    assert summary is not None
    assert 0 < summary["fast_us"] <= summary["slow_us"]
    assert summary["n"] == 4
    assert module.UNSTEADY > 1
