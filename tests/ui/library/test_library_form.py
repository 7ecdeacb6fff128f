"""Tags and notes: told when they are left, kept while they are written."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from ui.library.library_form import LibraryForm
from ui.library.library_rows import Column, LibraryRow


def row(name: str = "a", **told: object) -> LibraryRow:
    made = LibraryRow(
        path=Path(f"{name}.specscope"), words=(name,) * len(Column),
        keys=((1, 0.0, name),) * len(Column), name=name, tags=("x", "y"), notes="noted",
        facts=f"facts of {name}", problem="", is_recording=False, haystack=name,
    )  # fmt: skip
    return replace(made, **told)  # type: ignore[arg-type]


class Heard:
    """What a form told."""

    def __init__(self, form: LibraryForm) -> None:
        self.tags: list[tuple[Path, list[str]]] = []
        self.notes: list[tuple[Path, str]] = []
        form.tags_written.connect(lambda path, tags: self.tags.append((path, tags)))
        form.notes_written.connect(lambda path, notes: self.notes.append((path, notes)))


@pytest.fixture
def form(qtbot: QtBot) -> LibraryForm:
    form = LibraryForm()
    qtbot.addWidget(form)
    return form


def test_a_row_is_shown(form: LibraryForm) -> None:
    assert not form.tags.isEnabled()
    form.show_row(row())
    assert (form.tags.text(), form.notes.toPlainText()) == ("x, y", "noted")
    assert form.facts == "facts of a"
    form.show_row(None)
    assert (form.tags.text(), form.notes.toPlainText(), form.facts) == ("", "", "")


@pytest.mark.parametrize("told", [{"problem": "It is broken."}, {"is_recording": True}])
def test_what_cannot_be_written_to_cannot_be_edited(
    form: LibraryForm, told: dict[str, object]
) -> None:
    form.show_row(row(**told))
    assert not form.tags.isEnabled()
    assert not form.notes.isEnabled()
    assert form.facts == told.get("problem", "facts of a")


def test_only_what_changed_is_told(form: LibraryForm) -> None:
    heard = Heard(form)
    form.show_row(row())
    form.keep()
    assert (heard.tags, heard.notes) == ([], [])
    form.tags.setText(" y,, z ")
    form.notes.setPlainText("more")
    form.show_row(row("b"))  # another one: the first is kept
    assert heard.tags == [(Path("a.specscope"), ["y", "z"])]
    assert heard.notes == [(Path("a.specscope"), "more")]
    assert form.notes.toPlainText() == "noted"


def test_reading_the_list_again_leaves_what_is_being_written(form: LibraryForm) -> None:
    form.show_row(row())
    form.notes.setPlainText("half a sen")
    form.show_row(row(tags=("new",), notes="written elsewhere"))
    assert form.notes.toPlainText() == "half a sen"
    assert form.tags.text() == "new"  # untouched: follows


def test_facts_are_shown_as_they_are(form: LibraryForm) -> None:
    assert form._facts.textFormat() is Qt.TextFormat.PlainText
