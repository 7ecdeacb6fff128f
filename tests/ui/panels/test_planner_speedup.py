"""The speed-up form: published figures, what is refused, presets."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from ui.look import Look
from ui.panels.planner_speedup import (
    DOUBTED,
    SpeedupForm,
    SpeedupInputs,
    finding,
    planned,
    summary,
    table,
)
from ui.theme import DARK


def test_the_published_formula() -> None:
    plan = planned(SpeedupInputs(alpha=0.8, gamma=5, c=0.05))
    assert plan.asked.speedup == pytest.approx((1 - 0.8**6) / 0.2 / (5 * 0.05 + 1))
    assert f"{plan.asked.speedup:.2f}" in summary(plan)
    assert "never" not in table(plan, DARK)


def test_overhead_and_a_list_of_costs() -> None:
    plan = planned(SpeedupInputs(alpha=0.8, gamma=2, c=0.1, v="1,1.1,1.2,1.3", overhead=0.3))
    assert plan.asked.speedup == pytest.approx((1 + 0.8 + 0.64) / (0.2 + 1.2 + 0.3))
    assert plan.points[-1].gamma == 3
    short = planned(SpeedupInputs(alpha=0.99, gamma=1, c=0.0, v="1,1,1"))
    assert "largest tried" in finding(short)


def test_drafting_that_does_not_pay_is_said() -> None:
    assert finding(planned(SpeedupInputs(alpha=0.1, c=1.0))) == "drafting does not pay here"


@pytest.fixture
def form(qtbot) -> SpeedupForm:
    made = SpeedupForm(Look("dark"))
    qtbot.addWidget(made)
    made.resize(700, 480)
    made.show()
    return made


def test_every_change_is_worked_out_at_once(form: SpeedupForm, qtbot) -> None:
    before = form.words.text()
    with qtbot.waitSignal(form.found):
        form.alpha.setValue(0.5)
    assert form.words.text() != before
    assert form.plot.known.yData[0] == 1.0
    assert form.plot.csv().splitlines()[0] == "gamma,tokens_per_step,speedup,break_even_alpha"
    form.plot.clicked.emit(7.2, 1.0)
    assert form.gamma.value() == 7


def test_what_makes_no_plan_is_a_sentence(form: SpeedupForm) -> None:
    form.v.setText("wide")
    assert form.plan is None
    assert form.problem.isVisible()
    assert "number or a list" in form.problem.text()
    assert form.problem.textFormat() == Qt.TextFormat.PlainText  # it repeats what is typed
    assert not form.words.isVisible()
    form.v.setText("1,1.1")  # gamma 4 needs five widths
    assert "gamma 4 needs 5" in form.problem.text()
    form.v.setText("1.1")
    assert not form.problem.isVisible()
    assert form.plan is not None


def test_a_preset_fills_the_form(form: SpeedupForm) -> None:
    assert form.source.button.isHidden()
    preset = SpeedupInputs(alpha=0.7, gamma=2, c=0.2, v="1,1.1,1.2,1.3", overhead=0.1)
    form.set_preset(preset)
    assert form.inputs() == preset
    form.gamma.setValue(3)
    form.set_preset(preset)
    assert form.gamma.value() == 3
    form.source.button.click()
    assert form.inputs() == preset


def test_both_themes_and_a_narrow_form(form: SpeedupForm, qtbot) -> None:
    form._look.choose("light")
    form.restyle()
    assert form.plot.theme.name == "light"
    form.resize(300, 700)
    qtbot.waitUntil(lambda: form.plot.y() > form.v.y())  # beneath the fields


def test_the_formulas_best_gamma_is_held_against_the_runs(form: SpeedupForm) -> None:
    preset = SpeedupInputs(alpha=0.8, gamma=4, c=0.1)
    best = planned(preset).best.gamma
    form.set_preset(preset, run_best=best)
    assert f"this run's drafts agree: best γ {best}" in form.words.text()  # noqa: RUF001
    form.set_preset(preset, run_best=best - 1)
    assert f"this run's drafts: best γ {best - 1}, by" in form.words.text()  # noqa: RUF001
    form.alpha.setValue(0.3)  # typed: no longer of the run
    assert "this run" not in form.words.text()


def test_a_plan_from_doubted_timing_says_so_until_somebody_types(form: SpeedupForm) -> None:
    preset = SpeedupInputs(alpha=0.8, gamma=4, c=0.1)
    form.set_preset(preset)
    assert DOUBTED not in form.words.text()
    form.set_preset(preset, is_doubtful=True)
    assert DOUBTED in form.words.text()
    form.alpha.setValue(0.3)
    assert DOUBTED not in form.words.text()


def test_the_whole_list_of_costs_is_told_by_its_field(form: SpeedupForm) -> None:
    form.set_preset(SpeedupInputs(v=",".join(["1", *["1.0141"] * 15, "1.25"])))
    assert form.v.toolTip().count("1.0141") == 15
    assert "1.25" in form.v.toolTip()
    assert "T(1)" in form.v.toolTip()


def test_a_gamma_that_is_too_large_makes_no_plan(form: SpeedupForm) -> None:
    form.gamma.selectAll()
    QTest.keyClicks(form.gamma, "99")
    assert "99 is too large: 0 to 64." in form.problem.text()
    assert form.plan is None
