"""What ``specscope plan`` prints for a person."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from engine.theory.footprint import Footprint
from engine.theory.phases import Phase
from engine.theory.plans import PART_TEXTS
from engine.theory.shape_source import NamedShape
from engine.theory.units import parameters_text, si_text, time_text
from engine.theory.workload import Workload, to_gib


def print_memory(need: Footprint, title: str) -> None:
    table = make_table(title, "GiB", "share")
    for name, n_bytes in need.components().items():
        if n_bytes:
            share = f"{n_bytes / need.total_bytes:.1%}"
            table.add_row(PART_TEXTS[name], f"{to_gib(n_bytes):.3f}", share)
    table.add_section()
    table.add_row("weights and caches alone", f"{to_gib(need.before_buffers_bytes):.3f}")
    table.add_row("total", f"{to_gib(need.total_bytes):.3f}", "100.0%", style="bold")
    print_table(table)


def print_phases(phases: list[Phase]) -> None:
    table = make_table(
        "forward", "per step", "width", "FLOPs", "bytes", "FLOP/byte", "bound", "at least"
    )
    for phase in phases:
        table.add_row(
            "plain decoding" if phase.name == "decode" else phase.name,
            str(phase.n_forwards) if phase.name in {"draft", "verify"} else "-",
            str(phase.width),
            si_text(phase.cost.n_flops, "FLOP"),
            si_text(phase.cost.n_bytes, "B"),
            f"{phase.cost.intensity:.2f}",
            str(phase.floor.bound),
            time_text(phase.floor.time_s),
        )
    print_table(table)


def print_load(target: NamedShape, draft: NamedShape | None, load: Workload) -> None:
    roles = {"target": target, "draft": draft}
    facts = {
        role: f"{escape(model.name)}, {parameters_text(model.shape.n_parameters)} parameters"
        for role, model in roles.items()
        if model
    }
    sequences = "1 sequence" if load.batch_size == 1 else f"{load.batch_size} sequences"
    facts["load"] = f"{sequences} of {load.context_length:,} tokens, gamma {load.gamma}"
    print_facts("", facts)


def print_facts(title: str, facts: dict[str, str]) -> None:
    grid = Table.grid(padding=(0, 2))
    for name, text in facts.items():
        grid.add_row(f"[dim]{name}[/]", text)
    console = _console()
    if title:
        console.print(f"[bold]{title}[/]")
    console.print(grid)


def make_table(first: str, *others: str) -> Table:
    table = Table(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def print_table(table: Table) -> None:
    _console().print(table)


def _console() -> Console:
    return Console(highlight=False)


def or_dash(value: float | None, dash: str = "-") -> str:
    return dash if value is None else f"{value:.3f}"
