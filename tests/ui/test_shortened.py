"""Notes that are too long for their line."""

from collections.abc import Callable

import pytest

from ui.shortened import shortened


def within(n: int) -> Callable[[str], bool]:
    return lambda text: len(text) <= n


NOTE = "lost to drafting 28%, verify width 17% · vs bare target forward"


@pytest.mark.parametrize(
    ("room", "shown"),
    [
        (80, NOTE),
        (62, "lost to drafting 28%, verify width 17% …"),
        (30, "lost to drafting 28% …"),
        (10, "lost to d…"),
        (0, ""),
    ],
)
def test_whole_parts_are_left_out_before_letters(room: int, shown: str) -> None:
    assert shortened(NOTE, within(room)) == shown


def test_rich_text_is_cut_between_its_parts_alone() -> None:
    legend = '<span style="color:#FFF">■</span> seq 5&nbsp;&nbsp; <s>x</s> free'
    assert shortened(legend, within(50)) == '<span style="color:#FFF">■</span> seq 5 …'
    assert shortened("<b>only one part</b>", within(5)) == "<b>only one part</b>"


def test_a_name_of_any_length_takes_few_looks() -> None:
    looks: list[str] = []

    def fits(text: str) -> bool:
        looks.append(text)
        return len(text) <= 20

    assert shortened("x" * 100_000, fits) == "x" * 19 + "…"
    assert shortened(", ".join(["ab"] * 10_000), fits) == ", ".join(["ab"] * 5) + " …"
    assert len(looks) < 60
