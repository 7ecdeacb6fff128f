"""Sequences' colours, seen with all cones and without one of them."""

from itertools import combinations

import numpy as np
import pytest
from PySide6.QtGui import QColor

from ui.sequence_hues import N_HUES, SEQUENCE_HUES, sequence_hue
from ui.theme import DARK, THEMES, contrast

# Linear RGB as seen without one kind of cone (Machado, Oliveira and Fernandes 2009, severity 1).
SIGHT = {
    "all": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def seen(colour: str, sight: str) -> np.ndarray:
    """OKLab of the colour as that sight has it."""
    ink = QColor(colour)
    channels = np.array([ink.redF(), ink.greenF(), ink.blueF()])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(SIGHT[sight]) @ linear, 0, 1)
    return TO_LAB @ np.cbrt(TO_LMS @ linear)


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("name", SEQUENCE_HUES)
def test_any_two_differ_for_everyone(name: str, sight: str) -> None:
    for one, other in combinations(SEQUENCE_HUES[name], 2):
        distance = np.linalg.norm(seen(one, sight) - seen(other, sight))
        assert distance > 0.11, (one, other, sight)


@pytest.mark.parametrize("name", SEQUENCE_HUES)
def test_each_stands_out_from_a_panel(name: str) -> None:
    assert len(SEQUENCE_HUES[name]) == N_HUES
    for colour in SEQUENCE_HUES[name]:
        assert contrast(colour, THEMES[name].panel) >= 3.0


def test_after_eight_they_begin_again() -> None:
    assert sequence_hue(DARK, 9) == sequence_hue(DARK, 1)
