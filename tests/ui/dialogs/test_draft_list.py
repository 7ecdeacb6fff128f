"""The drafts: ticked, refused with the reason, added by hand."""

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

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
