"""What a person reads, drawn from scripted streams into a string."""

import io
import re

import pytest
from msgspec.structs import replace
from rich.console import Console, Group
from rich.table import Table

from engine.wire.events import (
    CalibrationMeasured,
    FinishReason,
    LogEmitted,
    SessionStarted,
    SpansMeasured,
)
from sessions.what_if import gamma_what_if
from specscope.report import (
    WHAT_IF_NOTE,
    TextReport,
    ending_note,
    figures_table,
    number,
    percent,
    what_if_table,
)
from tests.sessions.scripted import folded
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


@pytest.mark.parametrize(
    ("reason", "detail", "context_length", "note"),
    [
        (FinishReason.LENGTH, "", 1024, ""),
        (FinishReason.CONTEXT, "", 1024, "(context: the context of 1,024 tokens is full)"),
        (FinishReason.CONTEXT, "", None, "(context: the context is full)"),
        ("stop_string", "def", 1024, "(stop_string: def)"),
    ],
)
def test_why_a_sequence_ended(
    reason: str, detail: str, context_length: int | None, note: str
) -> None:
    assert ending_note(reason, detail, context_length=context_length) == note


def test_a_full_context_is_told_beneath_the_text() -> None:
    script = EventScript()
    script.sequence("ab")
    script.finish_sequence(reason=FinishReason.CONTEXT)
    assert re.search(r"\(context: the context of [\d,]+ tokens is full\)", shown(script)[1])


def test_warnings_and_models_go_to_the_notes() -> None:
    script = EventScript()
    script.say(LogEmitted(level="warning", message="the pool is full"))
    output, notes = shown(script)
    assert output == ""
    assert "warning: the pool is full" in notes
    assert "scripted-target" in notes


def table_text(table: Table | Group) -> str:
    console = plain_console()
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_the_table_names_every_figure_and_divides_by_nothing() -> None:
    script = EventScript()
    script.sequence("ab")
    script.step(drafted=4, accepted=2)
    for events in (EventScript().events, script.events):
        text = table_text(figures_table(folded(events)))
        assert "tokens per second" in text
    assert "0.667" in text
    assert "2 accepted of 3 tested" in text


def test_what_another_gamma_would_have_done_marks_the_best() -> None:
    script = EventScript()
    script.say(
        CalibrationMeasured(
            context_length=10,
            draft_forward_ns=100,
            target_widths=(1, 2, 3),
            target_forward_ns=(1000, 1050, 1100),
        )
    )
    script.sequence("ab")
    for _ in range(4):
        script.step(drafted=2, accepted=2)
    what_if = gamma_what_if(folded(script.events))
    assert what_if is not None
    assert "in doubt" in table_text(what_if_table(what_if, is_doubtful=True)).splitlines()[0]
    lines = table_text(what_if_table(what_if)).splitlines()
    assert "in doubt" not in lines[0]
    assert sum("best" in line for line in lines) == 1
    assert any("extrapolated" in line for line in lines)
    assert any("tokens/s" in line and "speed-up" in line for line in lines)
    assert lines[-1] == WHAT_IF_NOTE
    assert len(WHAT_IF_NOTE) <= 80


def test_launching_is_told_where_it_was_measured() -> None:
    script = EventScript()
    script.sequence("ab")
    script.step(drafted=3, accepted=1)
    script.finish()
    assert "launch overhead" not in table_text(figures_table(folded(script.events)))
    script.say(
        CalibrationMeasured(
            context_length=9, draft_forward_ns=5, target_widths=(1,), target_forward_ns=(20,),
            draft_launch_share=0.04, uncaptured_launch_share=0.61,
        )
    )  # fmt: skip
    told = table_text(figures_table(folded(script.events)))
    assert re.search(r"launch overhead +4\.0 % +of a draft's time the device waits", told)
    assert "without graphs 61.0 %" in told


def test_figures_that_do_not_exist_are_dashes() -> None:
    assert (number(None, 2), percent(None)) == ("-", "-")
    assert (number(1.005, 1), percent(0.125)) == ("1.0", "12.5 %")


@pytest.mark.parametrize("color_system", [None, "truecolor"])
def test_the_text_comes_as_it_is(color_system: str | None) -> None:
    """Tabs, carriage returns, lone or not, bells and brackets: none is for the printer to judge."""
    draft = "\tx\r\n\ry[b]\x07"
    script = EventScript()
    script.sequence("\ta\rb\x0b")
    script.step(drafted=len(draft), accepted=len(draft), text=draft)
    script.finish()
    file = io.StringIO(newline="")
    output = Console(file=file, color_system=color_system, force_terminal=bool(color_system))
    with TextReport(output, plain_console(), is_live=True, has_origins=True) as report:
        for event in script.events:
            report.show(event)
    shown_text = re.sub("\x1b\\[[0-9;]*m", "", file.getvalue())
    assert shown_text.startswith(f"\ta\rb\x0b{draft}")


def test_a_quiet_console_prints_nothing() -> None:
    script = EventScript()
    script.sequence("ab")
    script.step()
    script.finish()
    file = io.StringIO()
    report = TextReport(
        Console(file=file, quiet=True), plain_console(), is_live=True, has_origins=True
    )
    with report:
        for event in script.events:
            report.show(event)
    assert file.getvalue() == ""


def test_a_device_with_known_peaks_is_told_how_much_of_them_each_phase_uses() -> None:
    script = EventScript()
    script.sequence("ab")
    for _ in range(4):
        script.step(drafted=2, accepted=2)
    script.finish()
    text = table_text(figures_table(folded(script.events)))
    assert " uses" not in text  # nobody knows the script's device
    known = []
    for event in script.events:
        if isinstance(event, SessionStarted):
            event = replace(event, device_name="NVIDIA H100 80GB HBM3")
        if isinstance(event, SpansMeasured):
            counted = (10**6,) * len(event.names)
            event = replace(event, n_flops=counted, n_bytes=counted)
        known.append(event)
    lines = table_text(figures_table(folded(known))).splitlines()
    (told,) = [line for line in lines if line.startswith("verify uses")]
    assert "counted FLOPs and bytes" in told
