"""The dialog that exports: what can be chosen, how far it is, cancelling, errors."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QPushButton
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from sessions.export import EXPORTERS
from sessions.export.options import StepRange, TimeRange
from sessions.export.progress import ExportCancelled
from tests.sessions.recorded import record, script
from ui.dialogs.export_dialog import ExportDialog
from ui.look import Look
from ui.theme import DARK

PATIENCE_S = 30.0
WINDOW_NS = (1_200_000_000, 1_850_000_000)

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")  # offscreen, for every window


@pytest.fixture
def dialog(tmp_path: Path, qapp: object) -> Iterator[ExportDialog]:
    session = record(tmp_path / "a.specscope", script(10))
    dialog = ExportDialog(session, Look("dark"), window_ns=WINDOW_NS)
    dialog.file.setText(str(tmp_path / "out.sqlite"))
    dialog.show()
    yield dialog
    if isValid(dialog):  # it is gone as soon as it is closed
        dialog.done(0)


def run_out(dialog: ExportDialog) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while dialog.is_running:
        dialog.tick()
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_all_formats_are_offered_with_what_they_are_for(dialog: ExportDialog) -> None:
    assert list(dialog.formats.buttons) == list(EXPORTERS)
    for name, button in dialog.formats.buttons.items():
        assert button.accessibleDescription() == EXPORTERS[name].description


def test_the_file_is_written_and_its_path_said(dialog: ExportDialog, tmp_path: Path) -> None:
    dialog.formats.buttons["csv"].setChecked(True)
    assert dialog.out == tmp_path / "out.csv"
    assert dialog.reveal.isHidden()
    dialog.start.click()
    assert dialog.is_running
    assert not dialog.bar.isHidden()
    assert dialog.leave.text() == "Cancel"
    run_out(dialog)
    assert (tmp_path / "out.csv").is_file()
    assert f"Written: {tmp_path / 'out.csv'}" in dialog.words.text()
    assert dialog.bar.value() == dialog.bar.maximum() == len(script(10))
    assert not dialog.reveal.isHidden()
    assert dialog.start.text() == "Replace"


def test_the_parts(dialog: ExportDialog) -> None:
    part = dialog.part
    assert part.options(is_timeline=True).part is None
    part.first.setValue(3)
    assert part.steps.isChecked()
    assert not part.all.isChecked()
    assert part.options(is_timeline=True).part == StepRange(3, 100)
    part.last.setValue(2)
    assert not dialog.start.isEnabled()
    assert "behind the last" in dialog.words.text()
    part.window_.setChecked(True)
    assert dialog.start.isEnabled()
    assert part.options(is_timeline=True).part == TimeRange(*WINDOW_NS)
    assert "1.200 s to 1.850 s" in part.window_.text()
    part.per_step.setChecked(True)
    assert part.options(is_timeline=True).per_step
    assert not part.options(is_timeline=False).per_step


def test_without_a_window_its_part_is_not_offered(tmp_path: Path, qtbot: QtBot) -> None:
    dialog = ExportDialog(record(tmp_path / "a.specscope", script(3)), Look("dark"))
    qtbot.addWidget(dialog)
    assert not dialog.part.window_.isEnabled()
    assert dialog.part.all.isChecked()


def test_leaving_out_tokens_is_for_timelines(dialog: ExportDialog) -> None:
    assert dialog.part.per_step.isEnabled()
    dialog.formats.buttons["jsonl"].setChecked(True)
    assert not dialog.part.per_step.isEnabled()


def test_the_ending_follows_the_format(dialog: ExportDialog, tmp_path: Path) -> None:
    dialog.file.setText(str(tmp_path / "my.trace.json.gz"))
    dialog.formats.buttons["nvtxt"].setChecked(True)
    assert dialog.out == tmp_path / "my.trace.nvtxt"


def test_a_file_that_cannot_be_is_said_before(dialog: ExportDialog, tmp_path: Path) -> None:
    for text, words in (
        ("", "Name a file"),
        (str(tmp_path / "no" / "a.csv"), "no folder"),
        (str(tmp_path), "is a folder"),
        ("~nosuchuser/a.csv", "home folder"),
        (str(tmp_path / ("n" * 300)), "too long"),
        ("/", "is a folder"),
    ):
        dialog.file.setText(text)
        assert not dialog.start.isEnabled()
        assert words in dialog.words.text()
    dialog.file.setText(str(tmp_path / "a.specscope"))
    assert dialog.start.text() == "Replace"
    dialog.begin()
    run_out(dialog)
    assert "the session itself" in dialog.words.text()
    assert DARK.rejected in dialog.words.styleSheet()


def test_the_chooser_gives_the_ending(
    dialog: ExportDialog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = str(tmp_path / "chosen")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (chosen, ""))
    dialog.choose.click()
    assert dialog.out == tmp_path / "chosen.sqlite"


def test_cancelled_on_the_way(
    dialog: ExportDialog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_asked = threading.Event()

    def write(events: object, path: Path, *, should_stop: Callable[[], bool], **_: object) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not should_stop():
            is_asked.set()
            assert time.monotonic() < deadline
            time.sleep(0.001)
        raise ExportCancelled

    slow = replace(EXPORTERS["csv"], write=write)
    monkeypatch.setitem(EXPORTERS, "csv", slow)
    dialog.formats.buttons["csv"].setChecked(True)
    dialog.begin()
    assert is_asked.wait(PATIENCE_S)
    dialog.tick()
    assert dialog.is_running
    dialog.leave.click()  # now "Cancel": the dialog stays
    run_out(dialog)
    assert dialog.isVisible()
    assert dialog.words.text() == "Cancelled: nothing was written."
    assert os.listdir(tmp_path) == ["a.specscope"]
    assert dialog.start.isEnabled()
    dialog.begin()
    dialog.done(0)  # closing it ends the export, too
    assert not dialog.is_running
    assert os.listdir(tmp_path) == ["a.specscope"]


def test_another_format_does_no_harm_to_what_can_be_no_path(dialog: ExportDialog) -> None:
    for text in ("~nosuchuser", "/", "n" * 300):
        dialog.file.setText(text)
        dialog.formats.buttons["csv"].setChecked(True)
        dialog.formats.buttons["nvtxt"].setChecked(True)
        assert not dialog.start.isEnabled()


def test_return_in_a_field_exports_and_it_is_gone_when_it_is_closed(dialog: ExportDialog) -> None:
    assert [b.text() for b in dialog.findChildren(QPushButton) if b.isDefault()] == ["Export"]
    dialog.file.setFocus()
    QTest.keyClick(dialog.file, Qt.Key.Key_Return)
    run_out(dialog)
    assert dialog.words.text().startswith("Written")
    dialog.close()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not isValid(dialog)
