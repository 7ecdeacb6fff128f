"""Panel: one card of the window. It is handed a moment and draws it; it owns no data, no timer and
no thread."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from ui.look import Look
from ui.moment import Moment, View
from ui.plain_text import plain_label
from ui.theme import Theme
from ui.view_state import ViewState


@dataclass(frozen=True, slots=True)
class Empty:
    """A digest that holds nothing to draw; ``reason`` says why, and what to do, in a sentence."""

    reason: str


_LOADING = "The engine starts and loads its models."
_START = re.compile(r"\s*Start a run[^.]*\.")  # what a hint bids, which was done


class Panel(QWidget):
    """Two halves: ``digest`` makes of a moment what is to be drawn - arrays, numbers, words - and
    may run on another thread, so it is a pure function and touches no widget; ``draw`` puts a
    digest on the screen and computes nothing.

    A subclass builds its widgets in ``build`` into the layout it returns to, ``self.body``.
    """

    key: ClassVar[str]
    """Names the panel in layouts and files."""
    title: ClassVar[str]
    """What is seen."""
    reads: ClassVar[tuple[str, ...]]
    """The tables whose growth makes it out of date; also the view's changes do, see
    ``follows_window``."""
    follows_window: ClassVar[bool] = False
    """Whether it shows the part of the timeline that is looked at, and no other: that changes with
    every frame of a drag, and most panels do not care."""
    is_brief: ClassVar[bool] = False
    """Whether its digest takes milliseconds, however long the session: then the first picture of a
    long one has it already."""
    hint: ClassVar[str] = ""
    """What it will show, and what to do: said while there is nothing."""
    explanation: ClassVar[str] = ""
    """What the panel's figures mean, by their formulas: the title's tooltip."""
    frames_per_draw: ClassVar[int] = 1
    """Of 30 a second. Text that changes faster than at 5 Hz (6) cannot be read; statistics of all
    that was decoded hardly change within half a second (15)."""

    noted = Signal(str)
    """What the picture means, in a few words: shown at the right of the title. Rich text: what
    came from outside is to be escaped."""

    def __init__(self, state: ViewState, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.state = state
        self.look = look
        self._stack = QStackedLayout(self)
        self._stack.setContentsMargins(0, 0, 0, 0)
        self.content = QWidget()
        self.body = QVBoxLayout(self.content)
        self.body.setContentsMargins(10, 2, 10, 8)
        self.body.setSpacing(6)
        self._placeholder = plain_label(self.hint)
        self._placeholder.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._placeholder.setWordWrap(True)
        self._placeholder.setProperty("dim", True)
        self._placeholder.setContentsMargins(24, 12, 24, 12)
        self._stack.addWidget(self._placeholder)
        self._stack.addWidget(self.content)
        self.digested: Any = None
        self.is_awaited = False  # whether a first sequence is on its way: the clock says
        self.build()
        look.changed.connect(self._redress)

    # --- for subclasses --------------------------------------------------------------------------

    def build(self) -> None:
        """Make the widgets, once."""
        raise NotImplementedError

    @staticmethod
    def digest(moment: Moment, view: View) -> Any:
        """What to draw of ``moment``: anything frozen; ``Empty`` or None where there is nothing."""
        raise NotImplementedError

    def order(self, moment: Moment, view: View) -> Callable[[], Any]:
        """What makes the digest. Called on the GUI thread, so a panel whose digest depends on its
        own size binds that here."""
        return partial(self.digest, moment, view)

    def draw(self, digest: Any) -> None:
        """Put a digest on the screen."""
        raise NotImplementedError

    def restyle(self) -> None:
        """Take the colours of ``self.theme``; ``draw`` is called behind it."""

    def has_moved(self) -> bool:
        """Whether something of the panel's own (its size, its zoom) asks for a new digest though
        the session stood still. Asked once a frame; answering clears it."""
        return False

    # --- for the window --------------------------------------------------------------------------

    @property
    def theme(self) -> Theme:
        return self.look.theme

    def show_digest(self, digest: Any) -> None:
        """Draw, or say why there is nothing to draw."""
        self.digested = digest
        if digest is None or isinstance(digest, Empty):
            waits = digest is None and self.is_awaited
            nothing = f"{_LOADING} {_START.sub('', self.hint)}" if waits else self.hint
            self._placeholder.setText(nothing if digest is None else digest.reason)
            self._stack.setCurrentWidget(self._placeholder)
            self.noted.emit("")
            return
        self.draw(digest)
        self._stack.setCurrentWidget(self.content)

    @property
    def is_empty(self) -> bool:
        return self._stack.currentWidget() is self._placeholder

    def _redress(self) -> None:
        self.restyle()
        if self.digested is not None and not isinstance(self.digested, Empty):
            self.draw(self.digested)
