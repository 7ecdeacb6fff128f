"""The drafts: ticked, refused with the reason, added by hand."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from tests.ui.tab_stops import order_from
from ui.dialogs.draft_list import DraftList
from ui.look import Look
from ui.models_offered import OfferedDraft


def offer(target: str) -> list[OfferedDraft]:
    refusal = "Its id 5 is another token." if target == "b" else ""
    return [
        OfferedDraft(name="model", words="2 M parameters", refusal=refusal),
        OfferedDraft(name="ngram", words="looks it up"),
    ]


def list_of(qtbot: QtBot, target: str) -> DraftList:
    drafts = DraftList(offer, Look("dark"))
    qtbot.addWidget(drafts)
    drafts.offer_for(target)
    return drafts


def test_the_first_that_may_be_is_ticked(qtbot: QtBot) -> None:
    assert list_of(qtbot, "a").chosen == ("model",)
    assert list_of(qtbot, "b").chosen == ("ngram",)


def test_one_that_may_not_be_says_why_and_cannot_be_ticked(qtbot: QtBot) -> None:
    drafts = list_of(qtbot, "b")
    assert not drafts._boxes["model"].isEnabled()
    assert "Its id 5 is another token." in [label.text() for label in drafts.findChildren(QLabel)]
    drafts.choose(["model"])
    assert drafts.chosen == ("ngram",)


def test_one_is_added_by_hand(qtbot: QtBot) -> None:
    drafts = list_of(qtbot, "a")
    drafts.other.setText("/models/mine")
    drafts._add_own()
    assert drafts.chosen == ("model", "/models/mine")
    assert drafts.other.text() == ""


def test_what_was_ticked_stays_so_for_another_target(qtbot: QtBot) -> None:
    drafts = list_of(qtbot, "a")
    drafts.choose(["model", "ngram"])
    drafts.offer_for("b")
    assert drafts.chosen == ("ngram",)


def test_names_and_refusals_are_shown_as_they_are(qtbot: QtBot) -> None:
    said = "id 0 is '<s>' in the target"
    drafts = DraftList(lambda _: [OfferedDraft(name="a&b", words="", refusal=said)], Look("dark"))
    qtbot.addWidget(drafts)
    drafts.offer_for("a")
    assert drafts._boxes["a&b"].text() == "a&&b"
    (label,) = drafts.findChildren(QLabel)
    assert label.text() == said
    assert label.textFormat() is Qt.TextFormat.PlainText


def test_nothing_is_asked_about_a_target_that_can_be_no_path(qtbot: QtBot) -> None:
    asked: list[str] = []

    def hear(target: str) -> list[OfferedDraft]:
        asked.append(target)
        return offer(target)

    drafts = DraftList(hear, Look("dark"))
    qtbot.addWidget(drafts)
    drafts.offer_for("a")
    drafts.offer_for("~nosuchuser/model")
    drafts.offer_for("n" * 300)
    assert asked == ["a"]
    assert drafts.chosen == ()
    drafts.offer_for("a")
    assert drafts.chosen == ("model",)


def test_tab_goes_from_draft_to_draft_and_then_to_the_field(qtbot: QtBot) -> None:
    drafts = list_of(qtbot, "a")
    drafts.choose(["model"])
    boxes = list(drafts._boxes.values())
    assert order_from(boxes[0], 3) == [*boxes, drafts.other]


def test_no_part_of_it_is_a_window_while_it_is_filled(qtbot: QtBot) -> None:
    drafts = list_of(qtbot, "a")
    drafts.show()
    shown: list[QWidget] = []

    class Watch(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() is QEvent.Type.Show and isinstance(watched, QWidget):
                shown.extend([watched] if watched.isWindow() else [])
            return False

    watch = Watch()
    QApplication.instance().installEventFilter(watch)
    drafts.offer_for("b")
    QApplication.instance().removeEventFilter(watch)
    assert shown == []
