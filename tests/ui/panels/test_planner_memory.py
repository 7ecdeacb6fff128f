"""The memory form: published figures, what is refused, loaded models."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from engine.theory.shape_source import NamedShape, resolve_shape
from ui.look import Look
from ui.panels.planner_memory import MemoryForm, MemoryInputs, planned


def test_no_draft_and_a_loaded_model() -> None:
    shape = resolve_shape("smollm2-135m").shape
    loaded = {"mine": NamedShape("mine", shape, shape.n_parameters)}
    plan = planned(MemoryInputs(target="mine", draft="none"), loaded)
    assert plan.need.draft_weights_bytes == 0
    assert plan.room is not None
    with pytest.raises(ValueError, match="No model 'mine'"):
        planned(MemoryInputs(target="mine"), {})


def test_blanks_belong_to_a_loaded_models_name_and_not_to_what_is_typed() -> None:
    shape = resolve_shape("smollm2-135m").shape
    loaded = {" mine  b ": NamedShape(" mine  b ", shape, shape.n_parameters)}
    plan = planned(MemoryInputs(target=" mine  b ", draft=" smollm2-135m "), loaded)
    assert plan.need.draft_weights_bytes == plan.need.target_weights_bytes > 0
    alone = planned(MemoryInputs(target=" mine  b ", draft=" None "), loaded)
    assert alone.need.draft_weights_bytes == 0


@pytest.fixture
def form(qtbot) -> MemoryForm:
    made = MemoryForm(Look("dark"))
    qtbot.addWidget(made)
    made.resize(700, 520)
    made.show()
    return made


def test_every_change_is_worked_out_at_once(form: MemoryForm, qtbot) -> None:
    before = form.plot.shown[-1].total
    with qtbot.waitSignal(form.found):
        form.target_bits.setValue(4.0)
    assert form.plot.shown[-1].total < before / 2
    form.device.setCurrentText("NVIDIA B200")
    assert form.plot.limit.value() == pytest.approx(183359 / 1024)
    assert "fits" in form.words.text()
    assert form.plot.csv().splitlines()[0] == "part,bytes"


def test_what_makes_no_plan_is_a_sentence(form: MemoryForm) -> None:
    form.target.setCurrentText("no-such-model")
    assert form.problem.isVisible()
    assert "No model 'no-such-model'" in form.problem.text()
    assert not form.plot.isVisible()
    form.target.setCurrentText("llama-3-70b")
    assert not form.problem.isVisible()
    form.n_gpus.setValue(3)
    assert "cannot be shared evenly" in form.problem.text()


def test_loaded_models_can_be_chosen_and_keep_what_is_typed(form: MemoryForm) -> None:
    shape = resolve_shape("smollm2-135m").shape
    form.target.setCurrentText("qwen2.5-7b")
    form.set_loaded({"mine": NamedShape("mine", shape, shape.n_parameters)})
    assert form.target.currentText() == "qwen2.5-7b"
    assert form.draft.itemText(0) == "none"
    assert form.target.findText("mine") >= 0
    form.target.setCurrentText("mine")
    assert form.plan is not None


def test_the_session_fills_the_form_until_somebody_types(form: MemoryForm) -> None:
    shape = resolve_shape("smollm2-135m").shape
    loaded = {"mine": NamedShape("mine", shape, shape.n_parameters)}
    form.n_gpus.setValue(1)
    form.source.take()  # the form is a session's again
    preset = MemoryInputs(target="mine", draft="none", batch=2, context=300, target_bits=32.0)
    form.set_loaded(loaded, preset)
    assert (form.target.currentText(), form.batch.value()) == ("mine", 2)
    assert form.inputs().target_bits == 32.0
    assert form.plan is not None
    form.batch.setValue(5)
    form.set_loaded(loaded, preset)
    assert form.batch.value() == 5


def test_both_themes(form: MemoryForm) -> None:
    form._look.choose("light")
    form.restyle()
    assert form.plot.shown[0].parts[0].colour == form._look.theme.verify


def test_a_model_of_any_name_is_named_letter_by_letter(form: MemoryForm) -> None:
    form.target.setCurrentText("<b>x</b>")
    assert "No model '<b>x</b>'" in form.problem.text()
    assert form.problem.textFormat() == Qt.TextFormat.PlainText


def test_a_loaded_models_blanks_stay_in_the_form(form: MemoryForm) -> None:
    shape = resolve_shape("smollm2-135m").shape
    name = "two  blanks "
    preset = MemoryInputs(target=name, draft="none")
    form.set_loaded({name: NamedShape(name, shape, shape.n_parameters)}, preset)
    assert form.inputs().target == name
    assert form.plan is not None


def ran_a_toy(form: MemoryForm) -> None:
    """The open session's, in 32 bits and with little context."""
    shape = resolve_shape("smollm2-135m").shape
    form.set_loaded(
        {"toy": NamedShape("toy", shape, shape.n_parameters)},
        MemoryInputs(
            target="toy", draft="toy", context=228, target_bits=32, draft_bits=32, kv_bits=32
        ),
    )


def test_a_preset_does_not_keep_the_formats_of_the_run(form: MemoryForm) -> None:
    ran_a_toy(form)
    form.target.setCurrentText("llama-3-8b")
    mine = form.inputs()
    assert (mine.target_bits, mine.kv_bits, mine.context) == (16, 16, 4096)
    assert mine.draft_bits == 32  # the draft is the run's
    form.draft.setCurrentText("Llama-3.2-1b")
    assert form.inputs().draft_bits == 16
    form.target.setCurrentText("toy")
    mine = form.inputs()
    assert (mine.target_bits, mine.kv_bits, mine.context) == (32, 32, 228)


def test_a_preset_leaves_what_was_typed(form: MemoryForm) -> None:
    ran_a_toy(form)
    form.kv_bits.setValue(8)
    form.context.setValue(1000)
    form.target.setCurrentText("llama-3-8b")
    mine = form.inputs()
    assert (mine.target_bits, mine.kv_bits, mine.context) == (16, 8, 1000)
    form.source.take()  # the run's again
    form.target.setCurrentText("llama-3-8b")
    assert form.inputs().kv_bits == 16


def test_a_number_that_is_too_large_makes_no_plan(form: MemoryForm) -> None:
    form.n_gpus.selectAll()
    QTest.keyClicks(form.n_gpus, "99")
    assert "GPUs: 99 is too large: 1 to 64." in form.problem.text()
    assert form.plan is None
