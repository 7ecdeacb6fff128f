"""Colours, fonts and the style sheet of the window, for dark and for light.

A colour means one thing everywhere and never stands alone: accepted is plain, recovered underlined,
bonus bold, rejected struck through or crossed, discarded an empty outline; the draft is a circle,
verify a square, prefill a triangle. The pairs were checked for contrast (text 4.5 : 1 or more on a
panel, see ``contrast``) and against simulated colour blindness.
"""

import importlib.resources
from dataclasses import dataclass

from PySide6.QtGui import QColor, QFont, QFontDatabase


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """Colours as ``#RRGGBB``."""

    name: str
    is_dark: bool
    window: str
    panel: str
    raised: str  # buttons, chips, fields
    line: str
    text: str
    dim: str
    grid: str  # lines inside a plot: fainter than ``line``
    # --- fates and origins ---
    accepted: str
    rejected: str
    discarded: str
    recovered: str
    bonus: str
    # --- phases ---
    draft: str
    verify: str
    sample: str
    commit: str
    prefill: str
    # --- the rest ---
    accent: str  # selection, focus, the playhead
    warning: str
    good: str
    expected: str  # what a model predicts, beside what was measured
    on_colour: str  # ink on a filled accent or good

    def role(self, role: str) -> str:
        """The colour of a model's role: ``draft`` or ``target``."""
        return self.draft if role == "draft" else self.verify


DARK = Theme(
    name="dark", is_dark=True,
    window="#0F1318", panel="#161B22", raised="#20262F", line="#262D37", text="#D7DEE7",
    dim="#8F9CAB", grid="#222933",
    accepted="#35B58A", rejected="#EE6C4A", discarded="#7B8794", recovered="#E8B04A",
    bonus="#5AA9F0",
    draft="#A78BFA", verify="#3FB6C6", sample="#C3CCD6", commit="#8692A0", prefill="#5AA9F0",
    accent="#5AA9F0", warning="#E8B04A", good="#35B58A", expected="#93A0AF", on_colour="#0B0F13",
)  # fmt: skip

LIGHT = Theme(
    name="light", is_dark=False,
    window="#F3F5F8", panel="#FFFFFF", raised="#E6EAF0", line="#D9DFE6", text="#1B232D",
    dim="#56626E", grid="#E9EDF2",
    accepted="#0E7A56", rejected="#C23E1B", discarded="#626D78", recovered="#8A5B00",
    bonus="#1A67B3",
    draft="#6D4FD3", verify="#0B7886", sample="#4B5763", commit="#626E7A", prefill="#1A67B3",
    accent="#1A67B3", warning="#8A5B00", good="#0E7A56", expected="#5F6B77", on_colour="#FFFFFF",
)  # fmt: skip

THEMES = {theme.name: theme for theme in (DARK, LIGHT)}

ICONS = str(importlib.resources.files("resources") / "icons").replace("\\", "/")
"""Where the style sheet finds the drawings it cannot colour itself."""

CAPTION, TEXT, FIGURE = 0.92, 1.0, 1.75
"""The three sizes, relative to the system's interface font."""


def interface_font(scale: float = TEXT, *, is_bold: bool = False) -> QFont:
    """The system's interface font, at one of the three sizes."""
    return _scaled(QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont), scale, is_bold)


def token_font(scale: float = TEXT) -> QFont:
    """The system's monospaced font, for text that a model wrote."""
    font = _scaled(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont), scale, False)
    font.setStyleHint(QFont.StyleHint.Monospace)
    return font


def _scaled(font: QFont, scale: float, is_bold: bool) -> QFont:
    size = font.pointSizeF()
    font.setPointSizeF((size if size > 0 else 9.0) * scale)
    font.setBold(is_bold)
    return font


def capitals(title: str) -> str:
    """A title in capitals; Greek letters stay the symbols they are."""
    return "".join(char if "\u0370" <= char <= "\u03ff" else char.upper() for char in title)


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, 1 to 21 (WCAG 2.1, relative luminance)."""
    brighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    ink = QColor(colour)
    channels = (ink.redF(), ink.greenF(), ink.blueF())
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def mixed(one: str, other: str, share: float) -> str:
    """``share`` of ``one`` and the rest of ``other``: a tint without transparency."""
    pair = [(ink.red(), ink.green(), ink.blue()) for ink in (QColor(one), QColor(other))]
    channels = (round(x * share + y * (1 - share)) for x, y in zip(*pair, strict=True))
    return "#" + "".join(f"{channel:02X}" for channel in channels)


def style_sheet(theme: Theme) -> str:
    """The style sheet of the whole application."""
    t = theme
    hover = mixed(t.accent, t.raised, 0.18)
    pressed = mixed(t.accent, t.raised, 0.32)
    return f"""
* {{ color: {t.text}; selection-background-color: {mixed(t.accent, t.panel, 0.35)};
     selection-color: {t.text}; }}
QMainWindow, QDialog, #stage, #page {{ background: {t.window}; }}
QWidget#page, QScrollArea, QScrollArea > QWidget > QWidget {{ background: transparent; }}
QLabel {{ background: transparent; }}
QGraphicsView {{ background: transparent; border: none; }}
QLabel[dim="true"], QLabel#title {{ color: {t.dim}; }}
QToolTip {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.line}; padding: 6px; }}

#cardHeader, #cardBody, #card {{ background: {t.panel}; border: 1px solid {t.line}; }}
#cardHeader {{ border-bottom: none; border-top-left-radius: 8px; border-top-right-radius: 8px; }}
#cardBody {{ border-top: none; border-bottom-left-radius: 8px;
             border-bottom-right-radius: 8px; }}
#card {{ border-radius: 8px; }}
#card[clickable="true"]:hover, #card[clickable="true"]:focus {{ border-color: {t.accent}; }}
QDockWidget {{ background: {t.window}; border: none; }}
QMainWindow::separator {{ background: {t.window}; width: 8px; height: 8px; }}
QMainWindow::separator:hover {{ background: {mixed(t.accent, t.window, 0.4)}; }}

#chip {{ background: {t.raised}; border-radius: 7px; padding: 5px 10px; }}
#toast {{ background: {t.raised}; border: 1px solid {t.line}; border-radius: 7px;
          padding: 5px 13px; }}
#banner {{ background: {mixed(t.warning, t.panel, 0.16)}; border: 1px solid {t.warning};
           border-radius: 8px; }}
#banner[kind="error"] {{ background: {mixed(t.rejected, t.panel, 0.16)};
                         border-color: {t.rejected}; }}
#banner[kind="note"] {{ background: {t.raised}; border-color: {t.line}; }}

QPushButton, QToolButton {{ background: {t.raised}; border: 1px solid {t.raised};
    border-radius: 7px; padding: 4px 11px; }}
QToolButton {{ padding: 2px 7px 3px 7px; }}
QPushButton:hover, QToolButton:hover {{ background: {hover}; }}
QPushButton:pressed, QToolButton:pressed, QToolButton:checked, QPushButton:checked
    {{ background: {pressed}; border-color: {t.accent}; }}
QPushButton:focus, QToolButton:focus {{ border-color: {t.accent}; }}
QPushButton:disabled, QToolButton:disabled {{ color: {mixed(t.dim, t.panel, 0.6)}; }}
QPushButton[primary="true"] {{ background: {t.good}; color: {t.on_colour}; font-weight: bold; }}
QPushButton[primary="true"]:hover {{ background: {mixed(t.good, t.text, 0.85)}; }}
QPushButton[primary="true"]:disabled {{ background: {t.raised};
    color: {mixed(t.dim, t.panel, 0.6)}; }}
QToolButton#chipButton {{ padding: 2px 9px 3px 9px; }}
QToolButton#chipButton:disabled {{ color: {t.dim}; }}
QToolButton::menu-indicator {{ image: none; width: 0; }}

QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox, QComboBox, QListView, QTreeView,
QTableView {{ background: {t.window}; border: 1px solid {t.line}; border-radius: 6px;
    padding: 3px 6px; }}
QTextBrowser, QPlainTextEdit#plain {{ background: transparent; border: none; padding: 0; }}
QLineEdit:focus, QPlainTextEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus,
QListView:focus, QTreeView:focus, QTableView:focus {{ border-color: {t.accent}; }}
QSpinBox, QDoubleSpinBox {{ padding: 2px 0 1px 0; }}
QSpinBox QLineEdit, QDoubleSpinBox QLineEdit, QComboBox QLineEdit {{ border: none; padding: 0;
    background: transparent; }}
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button
    {{ width: 0; border: none; }}
QComboBox::drop-down {{ border: none; width: 18px; }}
QComboBox::down-arrow {{ width: 12px; height: 12px;
    image: url({ICONS}/chevron-{"dark" if t.is_dark else "light"}.svg); }}
QCheckBox::indicator {{ width: 13px; height: 13px; border: 1px solid {t.dim}; border-radius: 4px;
    background: {t.window}; }}
QCheckBox::indicator:checked {{ background: {t.accent}; border-color: {t.accent};
    image: url({ICONS}/tick-{"dark" if t.is_dark else "light"}.svg); }}
QCheckBox::indicator:disabled {{ border-color: {t.line}; }}
QCheckBox::indicator:focus {{ border-color: {t.text}; }}
QRadioButton::indicator {{ width: 13px; height: 13px; border: 1px solid {t.dim}; border-radius: 7px;
    background: {t.window}; }}
QRadioButton::indicator:checked {{ border: 4px solid {t.accent}; width: 7px; height: 7px;
    background: {t.on_colour}; }}
QRadioButton::indicator:disabled {{ border-color: {t.line}; }}
QCheckBox:disabled, QRadioButton:disabled {{ color: {t.dim}; }}
QComboBox QAbstractItemView {{ background: {t.panel}; border: 1px solid {t.line}; }}
QHeaderView {{ background: transparent; }}
QHeaderView::section {{ background: transparent; color: {t.dim}; border: none;
    border-bottom: 1px solid {t.line}; padding: 4px 6px; }}
QTableView, QTreeView {{ gridline-color: {t.grid}; alternate-background-color: {t.raised}; }}
QTableView::item:selected, QTreeView::item:selected, QListView::item:selected
    {{ background: {mixed(t.accent, t.panel, 0.25)}; color: {t.text}; }}
QTableCornerButton::section {{ background: transparent; border: none; }}

QMenuBar {{ background: {t.window}; }}
QMenuBar::item {{ background: transparent; padding: 4px 9px; border-radius: 6px; }}
QMenuBar::item:selected {{ background: {t.raised}; }}
QMenu {{ background: {t.panel}; border: 1px solid {t.line}; padding: 4px; }}
QMenu::item {{ padding: 5px 22px 5px 12px; border-radius: 5px; }}
QMenu::item:selected {{ background: {mixed(t.accent, t.panel, 0.25)}; }}
QMenu::item:disabled {{ color: {mixed(t.dim, t.panel, 0.6)}; }}
QMenu::separator {{ height: 1px; background: {t.line}; margin: 4px 8px; }}

QTabBar::tab {{ background: transparent; color: {t.dim}; padding: 4px 11px; border: none;
    border-bottom: 2px solid transparent; min-width: 30px; }}
QTabBar::tab:selected {{ color: {t.text}; border-bottom-color: {t.accent}; }}
QTabBar::tab:hover {{ color: {t.text}; }}
QTabBar::close-button {{ image: url({ICONS}/close-{"dark" if t.is_dark else "light"}.svg); }}
QTabBar::close-button:hover {{ background: {hover}; border-radius: 4px; }}
QTabWidget::pane {{ border: none; }}
QTabBar {{ qproperty-drawBase: 0; }}

QScrollBar {{ background: transparent; border: none; margin: 0; }}
QScrollBar:vertical {{ width: 9px; }}
QScrollBar:horizontal {{ height: 9px; }}
QScrollBar::handle {{ background: {mixed(t.dim, t.panel, 0.45)}; border-radius: 4px;
    min-height: 28px; min-width: 28px; }}
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page
    {{ background: transparent; border: none; width: 0; height: 0; }}
QSlider::groove:horizontal {{ height: 4px; background: {t.line}; border-radius: 2px; }}
QSlider::sub-page:horizontal {{ background: {mixed(t.accent, t.line, 0.55)}; border-radius: 2px; }}
QSlider::handle:horizontal {{ background: {t.accent}; width: 14px; height: 14px; margin: -5px 0;
    border-radius: 7px; }}
QSlider::handle:horizontal:focus {{ border: 2px solid {t.text}; }}
QProgressBar {{ background: {t.line}; border: none; border-radius: 3px; height: 6px; }}
QProgressBar::chunk {{ background: {t.accent}; border-radius: 3px; }}
QGroupBox {{ border: none; margin-top: 18px; }}
QGroupBox::title {{ color: {t.dim}; subcontrol-origin: margin; left: 0; }}
QSplitter::handle {{ background: {t.window}; }}
QStatusBar {{ background: {t.window}; }}
"""
