"""The colours that tell sequences apart. After eight they begin again, so a sequence's number
stands beside its colour.

Chosen so that any two of a theme's differ for people who see all colours and for those who see
without one of the three cones, by 0.11 or more in OKLab; each has 3 : 1 or more on a panel.
"""

from ui.theme import Theme

SEQUENCE_HUES: dict[str, tuple[str, ...]] = {
    "dark": (
        "#59DAC1", "#936CCD", "#F3BF47", "#B64B06", "#267778", "#B399F8", "#D58609", "#4EA293",
    ),
    "light": (
        "#2B68C1", "#CE7D90", "#606212", "#6C2A45", "#6E90EB", "#888603", "#AD5177", "#353294",
    ),
}  # fmt: skip
N_HUES = 8


def sequence_hue(theme: Theme, sequence_id: int) -> str:
    """The colour of a sequence, the same for as long as the theme is."""
    return SEQUENCE_HUES[theme.name][sequence_id % N_HUES]
