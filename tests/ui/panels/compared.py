"""Moments of several sessions side by side, and a panel that shows one."""

from collections.abc import Callable
from typing import TypeVar

from pytestqt.qtbot import QtBot

from sessions.snapshot import Snapshot
from tests.sessions.scripted import baseline, speculative
from ui.look import Look
from ui.moment import Moment, NamedSnapshot
from ui.panels.base import Panel
from ui.view_state import ViewState

AnyPanel = TypeVar("AnyPanel", bound=Panel)


def moment(*others: tuple[str, Snapshot], shown: int = -1) -> Moment:
    snapshot = others[shown][1] if others else speculative()
    named = tuple(NamedSnapshot(name, each) for name, each in others)
    return Moment(snapshot=snapshot, newest=snapshot, others=named)


def three() -> Moment:
    """The baseline, one that agrees with it nowhere, one that is like the second."""
    return moment(("plain", baseline()), ("xy", speculative()), ("xz", speculative(text="xz")))


def shown(
    make: Callable[..., AnyPanel], what: Moment, qtbot: QtBot, *, state: ViewState | None = None
) -> AnyPanel:
    panel = make(state or ViewState(), Look("dark"))
    qtbot.addWidget(panel)
    panel.resize(700, 400)
    panel.show()
    panel.show_digest(panel.digest(what, panel.state.now))
    return panel
