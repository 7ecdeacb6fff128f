"""Look: which theme is in force, and that it changed."""

from typing import Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from ui.theme import DARK, LIGHT, THEMES, Theme, interface_font, style_sheet

Choice = Literal["system", "dark", "light"]
CHOICES: tuple[Choice, ...] = ("system", "dark", "light")


class Look(QObject):
    """The theme of the window; ``changed`` tells whoever has drawn with the one before."""

    changed = Signal()

    def __init__(self, choice: Choice = "system") -> None:
        super().__init__()
        self._choice: Choice = choice
        self._theme = self._wanted()
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._follow)

    @property
    def theme(self) -> Theme:
        return self._theme

    @property
    def choice(self) -> Choice:
        return self._choice

    def choose(self, choice: Choice) -> None:
        """Take this theme from now on; ``system`` follows the desktop's."""
        self._choice = choice
        self._take(self._wanted())

    def apply(self) -> None:
        """Dress the application in the theme."""
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.setFont(interface_font())
        application.setPalette(_palette(self._theme))
        application.setStyleSheet(style_sheet(self._theme))

    def _wanted(self) -> Theme:
        if self._choice != "system":
            return THEMES[self._choice]
        is_light = QGuiApplication.styleHints().colorScheme() is Qt.ColorScheme.Light
        return LIGHT if is_light else DARK

    def _follow(self, _scheme: object) -> None:
        self._take(self._wanted())

    def _take(self, theme: Theme) -> None:
        if theme is self._theme:
            return
        self._theme = theme
        self.apply()
        self.changed.emit()


def _palette(theme: Theme) -> QPalette:
    """For what the style sheet does not reach: native dialogs, disabled text, links."""
    role = QPalette.ColorRole
    colours = {
        role.Window: theme.window, role.Base: theme.window, role.AlternateBase: theme.raised,
        role.Button: theme.raised, role.ToolTipBase: theme.raised, role.Highlight: theme.accent,
        role.WindowText: theme.text, role.Text: theme.text, role.ButtonText: theme.text,
        role.ToolTipText: theme.text, role.HighlightedText: theme.on_colour,
        role.PlaceholderText: theme.dim, role.Link: theme.accent, role.LinkVisited: theme.accent,
        role.Mid: theme.line, role.Dark: theme.line, role.Shadow: theme.window,
    }  # fmt: skip
    palette = QPalette()
    for each, colour in colours.items():
        palette.setColor(each, QColor(colour))
    return palette
