"""FindingsPanel: what the numbers amount to and what to do, each with a way to its evidence."""

# ruff: noqa: RUF001 - gamma's letter is meant

from dataclasses import dataclass
from html import escape

from PySide6.QtCore import QUrl
from PySide6.QtGui import QTextDocument

from sessions.findings import (
    MIN_STEPS,
    MIN_TESTED,
    Finding,
    MissingEvidence,
    Severity,
    find,
    missing_evidence,
)
from sessions.metrics.selection import Selection
from ui.icons import pixmap
from ui.moment import Moment, View
from ui.page_browser import PageBrowser
from ui.panels.base import Panel
from ui.theme import Theme

EVIDENCE = {
    "timing_doubtful": ("step-split", "Where a step goes"),
    "acceptance_low": ("acceptance-position", "Acceptance · by position"),
    "acceptance_high": ("acceptance-position", "Acceptance · by position"),
    "acceptance_unexpected": ("acceptance-time", "Acceptance · over time"),
    "few_drafted": ("throughput", "Speed · over time"),
    "drafting_does_not_pay": ("speedup-curve", "Speed-up · S(γ)"),
    "other_gamma": ("speedup-curve", "Speed-up · S(γ)"),
    "draft_share_high": ("step-split", "Where a step goes"),
    "overhead_high": ("step-split", "Where a step goes"),
    "verify_width_cost_high": ("waterfall", "Why not faster"),
    "prediction_not_reached": ("waterfall", "Why not faster"),
    "measured_speedup": ("waterfall", "Why not faster"),
}
"""The key and the title of the panel that shows where a finding comes from."""

WORDS = {Severity.WARNING: "Warning", Severity.ADVICE: "Advice", Severity.INFO: "Note"}
ICONS = {Severity.WARNING: "warning", Severity.ADVICE: "settings", Severity.INFO: "info"}
_ICON_PX = 16


@dataclass(frozen=True, slots=True)
class Advice:
    """Gravest first, and what is not known yet."""

    findings: tuple[Finding, ...]
    missing: MissingEvidence
    has_draft: bool


class FindingsPanel(Panel):
    key = "findings"
    title = "What to do"
    reads = ("draft_tokens", "steps", "spans", "calibrations", "sequences")
    hint = "What the numbers amount to, in sentences. Start a run, or open one."
    explanation = (
        f"Rules over the session's metrics. Nothing is said of acceptance before {MIN_TESTED} "
        f"tested draft tokens, nor of time before {MIN_STEPS} measured steps. A link shows the "
        "panel that a finding comes from. Where the timing of a run is doubted, findings that rest "
        "on it are marked: in doubt."
    )
    frames_per_draw = 15

    def build(self) -> None:
        self.browser = PageBrowser(self.title)
        self.browser.anchorClicked.connect(self._follow)
        self.body.addWidget(self.browser)
        self._dress()

    @staticmethod
    def digest(moment: Moment, view: View) -> Advice | None:
        snapshot, selection = moment.snapshot, Selection(view.only_sequence_id)
        if not len(snapshot.steps):
            return None
        return Advice(
            findings=find(snapshot, selection, baseline=moment.baseline),
            missing=missing_evidence(snapshot, selection),
            has_draft=bool(len(snapshot.draft_tokens)),
        )

    def draw(self, digest: Advice) -> None:
        self.browser.show_page(page(digest, self.theme))
        self.noted.emit(note(digest))

    def restyle(self) -> None:
        self.browser.forget()
        self._dress()

    def _dress(self) -> None:
        theme = self.theme
        for severity, name in ICONS.items():
            picture = pixmap(name, theme, colour=_colour(severity, theme), size=_ICON_PX)
            self.browser.document().addResource(
                QTextDocument.ResourceType.ImageResource, QUrl(f"icon:{name}"), picture
            )

    def _follow(self, link: QUrl) -> None:
        self.state.show_evidence(link.toString().removeprefix("panel:"))


def page(digest: Advice, theme: Theme) -> str:
    """The findings as rich text."""
    rows = "".join(_row(finding, theme) for finding in digest.findings)
    thin = missing_words(digest)
    if not rows and not thin:
        thin = "Nothing stands out: no rule has anything to say of this session."
    dim = f"<p style='color:{theme.dim}; margin:4px 0'>{escape(thin)}</p>" if thin else ""
    return f"<table cellspacing='0' cellpadding='4' width='100%'>{rows}</table>{dim}"


def _row(finding: Finding, theme: Theme) -> str:
    severity = finding.severity
    link = ""
    if finding.key in EVIDENCE:
        key, title = EVIDENCE[finding.key]
        style = f"color:{theme.accent}"
        link = f" <a href='panel:{key}' style='{style}'>{escape(title).replace(' ', '&nbsp;')}</a>"
    colour = _colour(severity, theme)
    doubt = f" <span style='color:{theme.warning}'>in doubt:</span>" if finding.is_doubted else ""
    return (
        f"<tr><td width='{_ICON_PX + 4}'><img src='icon:{ICONS[severity]}' width='{_ICON_PX}' "
        f"height='{_ICON_PX}'></td><td style='color:{theme.text}'>"
        f"<b style='color:{colour}'>{WORDS[severity]}</b>{doubt}&nbsp; "
        f"{escape(finding.sentence)}{link}</td></tr>"
    )


def _colour(severity: Severity, theme: Theme) -> str:
    return {
        Severity.WARNING: theme.rejected,
        Severity.ADVICE: theme.warning,
        Severity.INFO: theme.accent,
    }[severity]


def missing_words(digest: Advice) -> str:
    """What more must be seen; "" where there is enough."""
    words = []
    if digest.missing.n_tested and digest.has_draft:
        words.append(_of(digest.missing.n_tested, "tested draft token", "acceptance"))
    if digest.missing.n_steps:
        words.append(_of(digest.missing.n_steps, "measured step", "time"))
    return f"Evidence is still thin: {'; '.join(words)}." if words else ""


def _of(n: int, what: str, subject: str) -> str:
    return f"{n} more {what}{'' if n == 1 else 's'} before anything is said of {subject}"


def note(digest: Advice) -> str:
    """How many of each."""
    counts = [
        (severity, sum(finding.severity is severity for finding in digest.findings))
        for severity in WORDS
    ]
    names = {Severity.WARNING: ("warning", "warnings"), Severity.ADVICE: ("advice", "advice"),
             Severity.INFO: ("note", "notes")}  # fmt: skip
    words = [f"{n} {names[severity][n > 1]}" for severity, n in counts if n]
    return " · ".join(words) or "nothing to report"
