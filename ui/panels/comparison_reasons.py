"""ComparisonReasonsPanel: why each of several sessions is slower than the fastest, in sentences."""

from dataclasses import dataclass
from html import escape

from sessions.snapshot_memo import SnapshotMemo
from sessions.speed_reasons import ReasonKind, SpeedReason, speed_reasons
from ui.moment import Moment, View
from ui.page_browser import PageBrowser
from ui.panels.base import Empty, Panel
from ui.theme import Theme


@dataclass(frozen=True, slots=True)
class Reasons:
    """At least one sentence: of each session but the fastest of those that did the same work, in
    the comparison's order."""

    reasons: tuple[SpeedReason, ...]

    @property
    def caption(self) -> str:
        if all(reason.is_best_of_all for reason in self.reasons):
            return f"against {self.reasons[0].best}, the fastest"
        return "each against the fastest that did the same work"


class ComparisonReasonsPanel(Panel):
    key = "comparison-reasons"
    title = "Why slower"
    reads = ("steps", "spans", "draft_tokens", "sequences", "calibrations")
    hint = (
        "What makes each session slower than the fastest. Open two to four sessions from Sessions "
        "with Compare, or several drafts in the run dialog."
    )
    explanation = (
        "Exact arithmetic on what was recorded, no estimate:\n"
        "speed = tokens per second = tokens per step * sequences per step / step time\n"
        "step time = drafting + verifying + the rest: sampling, committing and all else\n"
        "So the factors of a sentence multiply to its ratio of speeds, and the milliseconds add up "
        "to what its steps take longer.\n"
        "Tokens per step grow with the acceptance rate, with the length of the drafts and with the "
        "share of steps that have one: those that differ are named.\n"
        "Prompt by prompt: the geometric mean of the prompts' ratios, and its 95 % interval over "
        "prompts; where it includes 1, nothing is explained.\n"
        "Where one has begun only some of the other's prompts, as before the end of a run, nothing "
        "is explained either: their speeds are those of unlike work.\n"
        "In doubt: verifications took much longer while one of the two decoded than when they were "
        "timed before, as if the machine had been busy: its steps may be longer for that."
    )
    frames_per_draw = 15

    def build(self) -> None:
        self.browser = PageBrowser(self.title)
        self.browser.document().setDocumentMargin(0)
        self.body.addWidget(self.browser)

    @staticmethod
    def digest(moment: Moment, view: View) -> Reasons | Empty | None:
        if not moment.others:
            return None
        reasons = _REASONS([(other.name, other.snapshot) for other in moment.others])
        if not reasons:
            return Empty("Only one session has decoded something: there is none to be slower than.")
        return Reasons(reasons)

    def draw(self, digest: Reasons) -> None:
        self.browser.show_page(page(digest, self.theme))
        self.noted.emit(escape(digest.caption))

    def has_moved(self) -> bool:
        return _REASONS.is_behind

    def restyle(self) -> None:
        self.browser.forget()


def page(digest: Reasons, theme: Theme) -> str:
    """The sentences as rich text, each session's name bold."""
    return "".join(_paragraph(reason, theme) for reason in digest.reasons)


def _paragraph(reason: SpeedReason, theme: Theme) -> str:
    doubt = f'<span style="color:{theme.warning}">in doubt:</span> ' if reason.is_doubted else ""
    ink = theme.text if reason.kind is ReasonKind.REASON else theme.dim
    rest = reason.sentence.removeprefix(reason.name)
    return (
        f'<p style="margin:2px 0 7px 0; color:{ink}">{doubt}'
        f"<b>{escape(reason.name)}</b>{escape(rest)}</p>"
    )


_REASONS = SnapshotMemo(speed_reasons)
"""The newest reasons: looked at again at every click, they are made once."""
