"""Colours: enough contrast, apart for colour-blind eyes, and the style sheet takes them."""

import itertools

import numpy as np
import pytest
from PySide6.QtGui import QColor

from ui.theme import DARK, LIGHT, Theme, contrast, mixed, style_sheet

INKS = (
    "text", "dim", "accepted", "rejected", "discarded", "recovered", "bonus", "draft", "verify",
    "sample", "commit", "prefill", "accent", "warning", "good", "expected",
)  # fmt: skip

# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
DEFICIENCIES = {
    "protan": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                        [-0.003882, -0.048116, 1.051998]]),
    "deutan": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                        [-0.011820, 0.042940, 0.968881]]),
}  # fmt: skip


def seen(colour: str, deficiency: str) -> np.ndarray:
    """CIE L*a*b* of a colour as seen with the deficiency."""
    ink = QColor(colour)
    rgb = np.array([ink.redF(), ink.greenF(), ink.blueF()])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(DEFICIENCIES[deficiency] @ linear, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ linear / np.array([0.9505, 1.0, 1.089])  # D65
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("ink", INKS)
def test_every_ink_can_be_read_on_a_panel(theme: Theme, ink: str) -> None:
    assert contrast(getattr(theme, ink), theme.panel) >= 4.5


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("ground", ["window", "raised"])
def test_text_can_be_read_on_every_ground(theme: Theme, ground: str) -> None:
    assert contrast(theme.text, getattr(theme, ground)) >= 7.0
    assert contrast(theme.dim, getattr(theme, ground)) >= 4.5
    assert contrast(theme.on_colour, theme.good) >= 4.5


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_accepted_and_rejected_differ_for_colour_blind_eyes(theme: Theme, deficiency: str) -> None:
    pairs = itertools.combinations(("accepted", "rejected", "bonus"), 2)
    for one, other in (*pairs, ("draft", "verify")):
        a, b = seen(getattr(theme, one), deficiency), seen(getattr(theme, other), deficiency)
        assert np.linalg.norm(a - b) >= 12, (one, other)


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21.0)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


def test_mixing() -> None:
    assert mixed("#FF0000", "#0000FF", 1.0) == "#FF0000"
    assert mixed("#FF0000", "#000000", 0.5) == "#800000"


def test_the_style_sheet_names_the_themes_colours() -> None:
    assert DARK.panel in style_sheet(DARK)
    assert LIGHT.panel in style_sheet(LIGHT)
    assert DARK.panel not in style_sheet(LIGHT)
