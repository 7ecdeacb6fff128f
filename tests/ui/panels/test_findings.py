"""What to do: gravest first, links to panels that exist, and how much evidence is missing."""

import importlib
import re
from pathlib import Path

from PySide6.QtCore import QUrl

import ui.panels.findings as findings_module
from sessions import findings as rules
from sessions.findings import Finding, MissingEvidence, Severity
from tests.sessions.played import drafted
from tests.ui.panels.moments import EVERYTHING, in_both_themes, moment_of, plain, shown
from ui.look import Look
from ui.panels.base import Panel
from ui.panels.findings import EVIDENCE, Advice, FindingsPanel, missing_words, note
from ui.view_state import ViewState

MODULES = ("acceptance_position", "acceptance_time", "throughput", "speedup_curve", "step_split",
           "waterfall")  # fmt: skip


def advice(*severities: Severity) -> Advice:
    found = tuple(Finding("other_gamma", severity, "A <b> & c.", {}) for severity in severities)
    return Advice(found, MissingEvidence(0, 0), has_draft=True)


def test_every_rule_has_its_evidence_in_a_panel_of_that_title() -> None:
    source = Path(rules.__file__).read_text(encoding="utf-8")
    assert set(re.findall(r'Finding\(\s*"(\w+)"', source)) == set(EVIDENCE)
    titles = {}
    for name in MODULES:
        module = importlib.import_module(f"ui.panels.{name}")
        for each in vars(module).values():
            if isinstance(each, type) and issubclass(each, Panel) and each is not Panel:
                titles[each.key] = each.title
    assert set(EVIDENCE.values()) == set(titles.items())


def test_it_is_said_how_much_evidence_is_missing() -> None:
    thin = Advice((), MissingEvidence(12, 1), has_draft=True)
    assert missing_words(thin) == (
        "Evidence is still thin: 12 more tested draft tokens before anything is said of "
        "acceptance; 1 more measured step before anything is said of time."
    )
    assert "draft" not in missing_words(Advice((), MissingEvidence(50, 3), has_draft=False))
    assert missing_words(advice()) == ""


def test_the_note_counts() -> None:
    two = advice(Severity.WARNING, Severity.WARNING, Severity.INFO)
    assert note(two) == "2 warnings · 1 note"
    assert note(advice()) == "nothing to report"


def test_what_is_on_the_screen(qtbot: object, look: Look, state: ViewState) -> None:
    panel = FindingsPanel(state, look)
    qtbot.addWidget(panel)  # type: ignore[attr-defined]
    panel.show_digest(advice(Severity.WARNING, Severity.INFO))
    for _ in in_both_themes(panel, look):
        text = panel.browser.toPlainText()
        assert text.index("Warning") < text.index("Note")
        assert "A <b> & c." in text
        assert look.theme.rejected.lower() in panel.browser.toHtml().lower()
    wanted: list[str] = []
    state.evidence_wanted.connect(wanted.append)
    assert "panel:speedup-curve" in panel.browser.toHtml()
    panel.browser.anchorClicked.emit(QUrl("panel:speedup-curve"))
    assert wanted == ["speedup-curve"]


def test_what_rests_on_doubted_timing_is_shown_and_marked(look: Look) -> None:
    doubt = Finding("timing_doubtful", Severity.WARNING, "The machine was busy.", {})
    gamma = Finding("other_gamma", Severity.ADVICE, "Gamma 2 would be faster.", {}, True)
    rate = Finding("acceptance_low", Severity.ADVICE, "Only 1 % were accepted.", {})
    told = Advice((doubt, gamma, rate), MissingEvidence(0, 0), has_draft=True)
    rows = findings_module.page(told, look.theme).split("<tr>")[1:]
    assert ["in doubt" in row for row in rows] == [False, True, False]


def test_a_session_is_read(qtbot: object, look: Look, state: ViewState) -> None:
    panel = FindingsPanel(state, look)
    qtbot.addWidget(panel)  # type: ignore[attr-defined]
    assert FindingsPanel.digest(moment_of([]), EVERYTHING) is None
    shown(panel, moment_of(drafted([0] * 60, 1, with_spans=True)))
    assert "Only 0% of 60 tested draft tokens" in panel.browser.toPlainText()
    shown(panel, moment_of(plain()))
    assert "17 more measured steps" in panel.browser.toPlainText()


def test_a_page_that_has_not_changed_is_not_written_again(
    qtbot: object, look: Look, state: ViewState
) -> None:
    panel = FindingsPanel(state, look)
    qtbot.addWidget(panel)  # type: ignore[attr-defined]
    panel.show_digest(advice(Severity.INFO))
    panel.browser.selectAll()
    panel.show_digest(advice(Severity.INFO))
    assert panel.browser.textCursor().hasSelection()
    assert findings_module.page(advice(), look.theme).count("<tr>") == 0
