"""What a person reads, drawn from scripted streams into a string."""

import io

from rich.console import Console

from engine.wire.events import LogEmitted
from specscope.figures import RunFigures
from specscope.report import TextReport, figures_table
from tests.support.event_script import EventScript


def plain_console() -> Console:
    return Console(file=io.StringIO(), color_system=None, width=120, highlight=False)


def shown(
    script: EventScript, *, is_live: bool = True, has_origins: bool = True
) -> tuple[str, str]:
    output, notes = plain_console(), plain_console()
    with TextReport(output, notes, is_live=is_live, has_origins=has_origins) as report:
        for event in script.events:
            report.show(event)
    return output.file.getvalue(), notes.file.getvalue()  # type: ignore[attr-defined]


def test_origins_are_told_apart_without_colour() -> None:
    script = EventScript()
    script.sequence("ab")
    script.step(drafted=3, accepted=1)
    script.step(drafted=2, accepted=2)
    script.finish()
    output, _ = shown(script)
    assert output.startswith("aba[~!]ab[+!]\n")


def test_a_step_without_a_draft_has_no_mark() -> None:
    script = EventScript()
    script.sequence("ab")
    script.step(drafted=0, accepted=0)
    script.finish()
    assert shown(script)[0].startswith("ab!\n")
    assert shown(script, has_origins=False)[0].startswith("ab!\n")


def test_colours_stand_for_origins_where_there_are_colours() -> None:
    script = EventScript()
    script.sequence("ab")
    script.step(drafted=3, accepted=1)
    console = Console(file=io.StringIO(), color_system="standard", force_terminal=True)
    with TextReport(console, plain_console(), is_live=True, has_origins=True) as report:
        for event in script.events:
            report.show(event)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b[4;33m!" in text  # recovered: underlined, yellow
    assert "[~" not in text


def test_markup_in_text_is_text() -> None:
    script = EventScript()
    script.sequence("[red]x[/red]")
    script.step(drafted=1, accepted=1, text="[")
    script.finish()
    assert "[red]x[/red]" in shown(script)[0]


def test_sequences_of_a_batch_come_whole() -> None:
    script = EventScript()
    first, second = script.sequence("ab"), script.sequence("cd")
    script.step(first, drafted=1, accepted=1, text="x", more=True)
    script.step(second, drafted=1, accepted=1, text="y")
    script.finish()
    output, _ = shown(script, is_live=False)
    assert output.index("sequence 0") < output.index("abx[+!]") < output.index("sequence 1")
    assert "cdy[+!]" in output


def test_warnings_and_models_go_to_the_notes() -> None:
    script = EventScript()
    script.say(LogEmitted(level="warning", message="the pool is full"))
    output, notes = shown(script)
    assert output == ""
    assert "warning: the pool is full" in notes
    assert "scripted-target" in notes


def test_the_table_names_every_figure_and_divides_by_nothing() -> None:
    script = EventScript()
    script.sequence("ab")
    script.step(drafted=4, accepted=2)
    for script_part in (EventScript(), script):
        figures = RunFigures()
        figures.consume(script_part.events)
        console = plain_console()
        console.print(figures_table(figures))
        text = console.file.getvalue()  # type: ignore[attr-defined]
        assert "tokens per second" in text
    assert "0.667" in text  # 2 accepted of 3 tested
    assert "2 accepted of 3 tested" in text
