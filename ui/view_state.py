"""ViewState: what the user points at, in one place, with one signal."""

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from ui.moment import TokenRef, View


class ViewState(QObject):
    """Panels ask it to select; whoever cares redraws. Panels do not know each other."""

    changed = Signal()
    evidence_wanted = Signal(str)
    """The key of a panel that should come to the front."""
    token_wanted = Signal()
    """The moment of the selected token is to be shown."""

    def __init__(self) -> None:
        super().__init__()
        self._view = View()
        self._version = 0

    @property
    def now(self) -> View:
        return self._view

    @property
    def version(self) -> int:
        """Grows with every change: cheap to compare."""
        return self._version

    def select_step(self, step: int | None) -> None:
        """Look at a step; None is the newest. A selected token of another step is let go."""
        token = self._view.token
        keeps = token is not None and token.step == step
        self._set(step=step, token=token if keeps else None)

    def select_token(self, token: TokenRef) -> None:
        """Look at a token, its step and its sequence."""
        self._set(token=token, step=token.step, sequence_id=token.sequence_id)

    def go_to_token(self, token: TokenRef) -> None:
        """Look at a token, and at the moment at which its step was complete."""
        self.select_token(token)
        self.token_wanted.emit()

    def select_sequence(self, sequence_id: int | None) -> None:
        self._set(sequence_id=sequence_id)

    def narrow(self, sequence_id: int | None) -> None:
        """Let figures be of one sequence alone; None: of the whole session again."""
        self._set(only_sequence_id=sequence_id)

    def select_block(self, role: int, physical_block: int) -> None:
        self._set(block=(role, physical_block))

    def look_at(self, window_ns: tuple[int, int] | None) -> None:
        """Show this part of the timeline; None follows the newest steps."""
        self._set(window_ns=window_ns)

    def show_refused(self, is_shown: bool) -> None:
        self._set(shows_refused=is_shown)

    def show_evidence(self, panel: str) -> None:
        """Bring a panel to the front."""
        self.evidence_wanted.emit(panel)

    def reset(self) -> None:
        """Point at nothing: another session was opened."""
        self._set(
            sequence_id=None,
            only_sequence_id=None,
            step=None,
            token=None,
            window_ns=None,
            block=None,
        )

    def _set(self, **changes: Any) -> None:
        view = replace(self._view, **changes)
        if view == self._view:
            return
        self._view = view
        self._version += 1
        self.changed.emit()
