"""What a comparison says in its cells: figures with their units, and why one is missing."""

# ruff: noqa: RUF001 - alpha's letter, a times sign and dashes are meant

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sessions.compare import Column
from sessions.metric_catalog import CATALOG

MISSING = "n/a"
_KIB, _MIB = 2**10, 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """``bar`` is a share of the cell's width."""

    text: str
    why: str = ""  # the figure in words, or why there is none
    bar: float | None = None
    is_best: bool = False

    @property
    def is_missing(self) -> bool:
        return self.text.startswith(MISSING)


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of all sessions."""

    name: str
    meaning: str
    cells: tuple[Cell, ...]


def comparison_rows(columns: Sequence[Column]) -> tuple[Row, ...]:
    """The rows, from the top. Only tokens per second is ranked: whether a lower acceptance is
    worse depends on gamma."""
    has_baseline = any(column.is_baseline for column in columns)
    makers: tuple[tuple[str, str, Callable[[Column], Cell]], ...] = (
        ("drafts with", "What proposed the tokens.", lambda c: Cell(text=c.facts.drafter)),
        ("gamma", "How many tokens a draft may have.", lambda c: Cell(text=c.facts.gamma or "0")),
        _metric("tokens_per_second", "tokens/s", _speed(columns)),
        _metric("measured_speedup", "speed-up, measured", lambda c: _speedup(c, has_baseline)),
        _metric("predicted_speedup", "speed-up, predicted", _predicted),
        _metric("acceptance_rate", "acceptance α", _acceptance),
        _metric("tokens_per_step", "tokens per step", _plain("tokens_per_step", ".2f", "no steps")),
        _metric("c", "draft cost c", _cost),
        _metric("verify_width_cost", "verify width v", _plain("verify_width_cost", ".2f", _NO_V)),
        _metric("draft_share", "time drafting", _plain("draft_share", ".1%", _NO_SPANS)),
        ("draft memory", "The draft's weights and the most its cache held.", _memory),
        ("outputs that differ", "Prompts whose output leaves the baseline's.",
         lambda c: _outputs(c, columns)),
    )  # fmt: skip
    return tuple(
        Row(name, meaning, tuple(make(column) for column in columns))
        for name, meaning, make in makers
    )


_NO_COST = "not calibrated, and too few plain steps"
_NO_V = "nothing was drafted, or no cost is known"
_NO_SPANS = "recorded without spans"

Maker = Callable[[Column], Cell]


def _metric(key: str, name: str, make: Maker) -> tuple[str, str, Maker]:
    metric = CATALOG[key]
    return name, f"{metric.formula}\n{metric.meaning}", make


def _missing(why: str) -> Cell:
    return Cell(text=MISSING, why=why)


def _plain(key: str, form: str, why: str) -> Maker:
    def make(column: Column) -> Cell:
        value = column.metrics[key]
        return _missing(why) if value is None else Cell(text=format(value, form))

    return make


def _speed(columns: Sequence[Column]) -> Maker:
    speeds = [column.metrics["tokens_per_second"] or 0.0 for column in columns]
    fastest = max(speeds, default=0.0)

    def make(column: Column) -> Cell:
        value = column.metrics["tokens_per_second"]
        if not value or not fastest:
            return _missing("nothing was committed yet")
        is_best = column.rank == 1 and len(columns) > 1
        mark = "▲ " if is_best else ""
        why = "the fastest" if is_best else f"{value / fastest:.0%} of the fastest"
        return Cell(text=f"{mark}{value:,.1f}", why=why, bar=value / fastest, is_best=is_best)

    return make


def _speedup(column: Column, has_baseline: bool) -> Cell:
    if column.is_baseline:
        return Cell(text="1×", why="It is the baseline.")
    speedup = column.speedup
    if speedup is None:
        return _missing(
            "no prompt in common with the baseline yet"
            if has_baseline
            else "no session here decodes without a draft"
        )
    n = len(speedup.prompts)
    prompts = f"{n:,} prompt{'' if n == 1 else 's'}"
    if speedup.low is None or speedup.high is None:
        return Cell(text=f"{speedup.value:.2f}×", why=f"{prompts}: too few for an interval")
    interval = f"{speedup.low:.2f} – {speedup.high:.2f}"
    return Cell(text=f"{speedup.value:.2f}×  ({interval})", why=f"{prompts}, 95 % interval")


def _predicted(column: Column) -> Cell:
    value = column.metrics["predicted_speedup"]
    if value is None:
        return _missing("nothing was drafted, or no cost is known")
    return Cell(text=f"{value:.2f}×", why="an estimate, by the formula")


def _cost(column: Column) -> Cell:
    if column.is_baseline:
        return _missing("nothing was drafted")
    return _plain("c", ".3f", _NO_COST)(column)


def _acceptance(column: Column) -> Cell:
    value, tested = column.metrics["acceptance_rate"], column.metrics["n_tested"]
    if value is None:
        return _missing("nothing was drafted")
    return Cell(text=f"{value:.3f}", why=f"of {tested:,} tested draft tokens")


def _memory(column: Column) -> Cell:
    if not column.draft_bytes:
        return Cell(text="0", why="No draft model was loaded.")
    parts = (
        f"{_size(column.draft_weight_bytes)} of weights, {_size(column.draft_kv_bytes)} of cache"
    )
    return Cell(text=_size(column.draft_bytes), why=parts)


def _outputs(column: Column, columns: Sequence[Column]) -> Cell:
    baseline = next((each for each in columns if each.is_baseline), None)
    if baseline is None:
        return _missing("no session here decodes without a draft")
    if column.is_baseline:
        return Cell(text="–", why="It is the baseline.")
    if column.is_sampled or baseline.is_sampled:
        return _missing("sampled texts differ by chance")
    n = len(column.divergences)
    return Cell(text=f"{column.n_diverging:,} of {n:,}") if n else _missing("no prompt in common")


def _size(n_bytes: int) -> str:
    if n_bytes >= _MIB:
        return f"{n_bytes / _MIB:,.1f} MiB"
    return f"{n_bytes / _KIB:,.0f} KiB"
