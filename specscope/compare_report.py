"""Sessions side by side, as a person reads them."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sessions.compare import Column, Divergence
from sessions.speed_reasons import SpeedReason
from specscope.report import number, percent

_SHOWN_DIVERGENCES = 3


def print_comparison(
    columns: Sequence[Column],
    console: Console,
    *,
    reasons: Sequence[SpeedReason] = (),
    notes: Sequence[str] = (),
) -> None:
    """The table, why each session is slower than the fastest, what sets them apart besides their
    drafts, where outputs part, and the findings of each session."""
    table = Table(title="The baseline first, then by tokens per second", title_justify="left")
    table.add_column("")
    for column in columns:
        table.add_column(_heading(column), justify="right", overflow="fold")
    for name, cells in _rows(columns):
        table.add_row(name, *cells)
    console.print(table)
    console.print(Text("Tokens per second leave out prefill and calibration.", style="dim"))
    order = [column.name for column in columns]
    for reason in sorted(reasons, key=lambda each: order.index(each.name)):
        console.print(_reason_text(reason))
    for note in notes:
        console.print(Text.assemble(("note: ", "bold"), note))
    for column in columns:
        _print_divergences(column, console)
    for column in columns:
        for finding in column.findings:
            console.print(Text.assemble((f"{column.name}: ", "bold"), finding.words))


def _reason_text(reason: SpeedReason) -> Text:
    text = Text(reason.words)
    start = reason.words.index(reason.name)
    text.stylize("bold", start, start + len(reason.name))
    return text


def _heading(column: Column) -> str:
    return f"{column.name}\n(baseline)" if column.is_baseline else column.name


def _rows(columns: Sequence[Column]) -> list[tuple[str, list[str]]]:
    def metric(key: str, digits: int) -> list[str]:
        return [number(column.metrics[key], digits) for column in columns]

    def share(key: str) -> list[str]:
        return [percent(column.metrics[key]) for column in columns]

    return [
        ("drafts with", [column.facts.drafter for column in columns]),
        ("gamma", [column.facts.gamma for column in columns]),
        ("tokens per second", metric("tokens_per_second", 1)),
        ("speed-up, measured", [_speedup(column) for column in columns]),
        ("speed-up, predicted", metric("predicted_speedup", 2)),
        ("tokens per step", metric("tokens_per_step", 2)),
        ("acceptance rate", metric("acceptance_rate", 3)),
        ("draft efficiency", metric("draft_efficiency", 3)),
        ("c", metric("c", 3)),
        ("verify-width cost", metric("verify_width_cost", 2)),
        ("time drafting", share("draft_share")),
        ("time outside forwards", share("overhead_share")),
        ("memory of the draft", [_memory(column) for column in columns]),
        ("outputs that differ", [_outputs(column) for column in columns]),
    ]


def _speedup(column: Column) -> str:
    if column.speedup is None:
        return "1" if column.is_baseline else "-"
    text = number(column.speedup.value, 2)
    if column.speedup.low is not None:
        low, high = number(column.speedup.low, 2), number(column.speedup.high, 2)
        text += f" ({low} .. {high})"
    return text


def _memory(column: Column) -> str:
    if not column.draft_bytes:
        return "0"
    return f"{_size(column.draft_weight_bytes)}\n+ {_size(column.draft_kv_bytes)} KV"


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:.1f} MiB" if n_bytes >= 2**20 else f"{n_bytes / 2**10:.0f} KiB"


def _outputs(column: Column) -> str:
    if column.is_sampled:
        return "sampled"
    if column.is_baseline or not column.divergences:
        return "-"
    return f"{column.n_diverging} of {len(column.divergences)}"


def _print_divergences(column: Column, console: Console) -> None:
    parting = [each for each in column.divergences if each.position is not None]
    for each in parting[:_SHOWN_DIVERGENCES]:
        console.print(_parting_text(column.name, each))
    if len(parting) > _SHOWN_DIVERGENCES:
        console.print(f"{column.name}: {len(parting) - _SHOWN_DIVERGENCES} more outputs differ.")


def _parting_text(name: str, each: Divergence) -> Text:
    text = Text()
    text.append(f"{name}: ", style="bold")
    text.append(f"leaves the baseline at token {each.position} of sequence {each.sequence_id}: ")
    text.append(repr(each.before)[1:-1], style="dim")
    text.append(f" {each.text!r} instead of {each.baseline_text!r}")
    return text
