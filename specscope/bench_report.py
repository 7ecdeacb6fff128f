"""A benchmark's result as tables."""

from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

WAY_NAMES = {
    "transformers_plain": "transformers, plain",
    "transformers_assisted": "transformers, assisted",
    "plain": "SpecScope, plain",
    "speculative": "SpecScope, speculative",
    "plain_eager": "SpecScope, plain, without graphs",
    "speculative_eager": "SpecScope, speculative, without graphs",
}


_FIGURES = ("captured", "eager")


def print_report(suite: str, result: dict[str, Any], console: Console) -> None:
    """Print the result of ``specscope bench --suite SUITE``."""
    reports: dict[str, Callable[[dict[str, Any], Console], None]] = {
        "decoding": _decoding,
        "cache": _cache,
        "events": _events,
        "claims": _claims,
        "goals": _goals,
        "sessions": _sessions,
        "ui": _ui,
    }
    reports[suite](result, console)
    for name, trace in result.get("failed", {}).items():
        console.print(f"{name} failed:\n{trace}", markup=False)


def _decoding(result: dict[str, Any], console: Console) -> None:
    table = Table(title="Tokens per second, prefill included", title_justify="left")
    table.add_column("")
    for column in ("median", "quartiles", "SpecScope speculative is"):
        table.add_column(column, justify="right")
    for way, speed in result["tokens_per_second"].items():
        ratio = result["ratios"].get(f"speculative_vs_{way}")
        table.add_row(
            WAY_NAMES[way],
            f"{speed['median']:.1f}",
            f"{speed['lower_quartile']:.1f} .. {speed['upper_quartile']:.1f}",
            "" if ratio is None else f"{ratio:.2f} x as fast",
        )
    console.print(table)
    facts = _facts_table()
    rows = [
        ("speed-up measured", _number(result["measured_speedup"]), "speculative / plain, paired"),
        ("speed-up predicted", _number(result["predicted_speedup"]), "E[N] / (gamma c + v)"),
        ("acceptance rate", _number(result["acceptance_rate"], 3), "accepted / tested"),
        ("tokens per step", _number(result["tokens_per_step"]), "extra token included"),
        ("c", _number(result["c"], 3), "draft forward / target forward, medians of this run"),
        (
            "verify-width cost",
            _number(result["verify_width_cost"]),
            f"target forward at width {result['gamma'] + 1} / at width 1",
        ),
        (
            "overhead",
            _percent(result["overhead_share"]),
            "share of speculative steps outside the forwards",
        ),
        ("greedy tokens", _equality(result), f"{result['n_compared']} outputs of each way"),
    ]
    rows += _device_rows(result)
    steadiness = result["steadiness"]
    if steadiness is not None:
        rows.append(
            (
                "the machine's speed",
                f"1 .. {steadiness['slow_vs_fast']:.2f}",
                f"one matrix product before every output: {steadiness['fast_us']:.0f} us in the "
                f"fastest twentieth, {steadiness['slow_us']:.0f} in the slowest",
            )
        )
    for row in rows:
        facts.add_row(*row)
    console.print(facts)
    if steadiness is not None and not steadiness["is_steady"]:
        console.print(
            "The machine did not keep its speed: something else ran on its cores. Ratios between "
            "the four ways were taken side by side and bear it; v, the cost of a wide forward, "
            "comes out higher than on a quiet machine, and the speed-up over plain decoding lower."
        )
    for each in result["divergences"]:
        console.print(
            f"  {WAY_NAMES[each['way']]}, output {each['run']}: leaves transformers' plain text at "
            f"token {each['position']}, top-2 margin {each['top2_margin']:.2g}"
            f"{' (a tie)' if each['is_tie'] else ''}"
        )


def _device_rows(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Of a CUDA device: what its memory gives, and the forwards captured beside those that are not;
    nothing elsewhere."""
    figures, reading = result["device_figures"], result["plain_bytes_per_s"]
    if figures is None:
        return []
    if "eager" not in figures:
        return [("the device's figures", "none", figures["why_not_captured"])]
    copy = figures["copy_bytes_per_s"]
    rows = [
        (
            "a copy within its memory",
            f"{copy / 1e12:.2f} TB/s",
            f"bytes read and bytes written together, {figures['name']}",
        )
    ]
    if reading is not None:
        share = f"weights, keys and values: {_percent(reading['steps'] / copy)} of a copy"
        rows.append(("plain steps read", f"{reading['steps'] / 1e12:.2f} TB/s", share))
    for name, ways in (
        ("draft forward", [figures[way] and figures[way]["draft_forward_ns"] for way in _FIGURES]),
        *(
            (
                f"target forward, width {width}",
                [figures[way] and figures[way]["target_forward_ns"][width] for way in _FIGURES],
            )
            for width in ("1", str(figures["gamma"] + 1))
        ),
    ):
        captured, eager = ("-" if ns is None else f"{ns / 1e6:.2f} ms" for ns in ways)
        rows.append((name, captured, f"captured; {eager} launched kernel by kernel"))
    if figures["captured"] is None:
        rows.append(("graphs", "none", figures["why_not_captured"]))
    else:
        uncaptured = _percent(figures["uncaptured_launch_share"])
        rows.append(
            (
                "launching",
                _percent(figures["draft_launch_share"]),
                f"of a captured draft's time; {uncaptured} launched kernel by kernel",
            )
        )
    if figures["flash_attention"] is not None:
        rows.append(
            (
                "FlashAttention",
                figures["flash_attention"],
                "in place of torch's own, for transformers in this process as well",
            )
        )
    return rows


def _equality(result: dict[str, Any]) -> str:
    if result["greedy_identical"]:
        return "identical"
    return "equal but for ties" if result["greedy_equal"] else "DIFFERENT"


def _cache(result: dict[str, Any], console: Console) -> None:
    table = Table(
        title=f"Rolling back {result['gamma']} positions, microseconds", title_justify="left"
    )
    for column in ("context", "paged", "contiguous", "copying the kept part"):
        table.add_column(column, justify="right")
    for row in result["roll_back"]:
        table.add_row(
            str(row["context_length"]),
            *(f"{row[name]['median']:.1f}" for name in ("paged_us", "contiguous_us", "copying_us")),
        )
    console.print(table)
    lengths = ", ".join(map(str, result["sequence_tokens"]))
    table = Table(title=f"Memory for sequences of {lengths} tokens", title_justify="left")
    for column in ("", "reserved", "written", "reserved and not written"):
        table.add_column(column, justify="right")
    for name, memory in result["memory"].items():
        table.add_row(
            name,
            f"{memory['reserved_bytes'] / 2**20:.2f} MiB",
            f"{memory['written_bytes'] / 2**20:.2f} MiB",
            f"{memory['unwritten_bytes'] / 2**20:.2f} MiB ({_percent(memory['unwritten_share'])})",
        )
    console.print(table)


def _events(result: dict[str, Any], console: Console) -> None:
    facts = _facts_table()
    for key, name in (
        ("events_on_vs_off", "time with events / without"),
        ("everything_on_vs_off", "with sending, spans and samples / events made and dropped"),
    ):
        ratio = result.get(key)
        if ratio is not None:
            facts.add_row(
                name,
                f"{ratio['median']:.4f}",
                f"quartiles {ratio['lower_quartile']:.4f} .. {ratio['upper_quartile']:.4f}, "
                f"{ratio['n']} pairs",
            )
    if "total_on_vs_off" in result:
        facts.add_row("total with events / without", f"{result['total_on_vs_off']:.4f}", "")
    facts.add_row(
        "events written", str(result["n_events"]), f"{result['bytes_per_event']:.0f} bytes each"
    )
    console.print(facts)


def _sessions(result: dict[str, Any], console: Console) -> None:
    table = Table(
        title=f"Sessions; the long one: {result['n_draft_tokens']:,} draft tokens, "
        f"{result['n_events']:,} events, {result['n_file_bytes'] / 1e6:,.0f} MB",
        title_justify="left",
    )
    table.add_column("")
    for column in ("measured", "limit", ""):
        table.add_column(column, justify="right")
    table.add_column("", style="dim", overflow="fold")
    for figure in result["figures"]:
        side = "at least" if figure["is_rate"] else "at most"
        table.add_row(
            figure["name"],
            _amount(figure["value"], figure["unit"]),
            f"{side} {_amount(figure['limit'], figure['unit'])}",
            "met" if figure["is_met"] else "MISSED",
            figure["about"],
        )
    console.print(table)


def _ui(result: dict[str, Any], console: Console) -> None:
    error = result["figures"]["beside_cost_error"]
    names = {
        "start_s": "from the command to a painted start page, the second time, s",
        "first_paint_anew_s": f"first picture of {result['n_draft_tokens']:,} tokens, new to it, s",
        "first_paint_s": "first picture of them, seen before, s",
        "frame_p95_ms": "frame, 95th percentile: panning, zooming, playing at 10x, ms",
        "heartbeat_gap_ms": "longest gap between frames under 2,000 steps/s, ms",
        "rss_growth_mb": "memory grown under them, tables included, MB",
        "n_lost": "steps lost under them",
        "beside_cost": f"share of a run's tokens/s that it costs, standard error {error:.2g}",
    }
    table = Table(title="The window, offscreen", title_justify="left")
    table.add_column("")
    for column in ("measured", "at most", ""):
        table.add_column(column, justify="right")
    for key, verdict in result["verdicts"].items():
        mark = "holds" if verdict["holds"] else "missed"
        table.add_row(names[key], f"{verdict['value']:.4g}", f"{verdict['limit']:g}", mark)
    console.print(table)


def _amount(value: float, unit: str) -> str:
    if unit == "share":
        return _percent(value)
    return f"{value:,.3g} {unit}" if value < 1000 else f"{value:,.0f} {unit}"


def _claims(result: dict[str, Any], console: Console) -> None:
    table = Table(title=f"Claims, on {result['device'] or 'no GPU'}", title_justify="left")
    for column in ("claim", "measured here", "verdict", "why"):
        table.add_column(column)
    for claim in result["claims"]:
        table.add_row(claim["claim"], claim["measured"] or "-", claim["verdict"], claim["why"])
    console.print(table)


def _goals(result: dict[str, Any], console: Console) -> None:
    for name, tell in (("decoding", _decoding), ("events", _events), ("claims", _claims)):
        if result[name] is not None:
            tell(result[name], console)
    table = Table(title="What a GPU is to show", title_justify="left")
    for column in ("goal", "measured here", "limit", "verdict", "why"):
        table.add_column(column)
    for row in result["verdicts"]:
        measured = row["measured"] or "-"
        table.add_row(row["what"], measured, row["limit"], row["verdict"], row["why"])
    console.print(table)


def _facts_table() -> Table:
    table = Table(show_header=False, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(justify="right")
    table.add_column(style="dim")
    return table


def _number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"
