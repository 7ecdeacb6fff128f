"""A memory plan as it is shown: in a few words, as bars, and part by part."""

from engine.theory.plans import PART_TEXTS, MemoryPlan
from engine.theory.workload import to_gib
from ui.plots.part_bars import Part, PartBar
from ui.theme import Theme, mixed

_DIAGONAL, _DOTTED = 1, 2
_SHARED = (
    "lookahead_kv", "verify_buffers", "activations", "cuda_context", "cuda_graphs", "padding",
)  # fmt: skip


def finding(plan: MemoryPlan) -> str:
    """The plan in a few words."""
    per_gpu = " per GPU" if plan.need.n_gpus > 1 else ""
    where = plan.fitting[0].removeprefix("NVIDIA ") if plan.fitting else "no known GPU"
    return f"{size_text(plan.need.total_bytes)}{per_gpu} · fits on {where}" + (
        f" and {len(plan.fitting) - 1} more" if len(plan.fitting) > 1 else ""
    )


def bars(plan: MemoryPlan, theme: Theme) -> list[PartBar]:
    """In GiB: a bar for each model, one for what they share, and all of it."""
    parts = {name: to_gib(n_bytes) for name, n_bytes in plan.need.components().items()}

    def part(name: str, colour: str, hatch: int = 0) -> Part:
        return Part(PART_TEXTS[name], parts[name], colour, hatch)

    tint = mixed(theme.dim, theme.panel, 0.75)
    target = (
        part("target_weights", theme.verify),
        part("target_kv", mixed(theme.verify, theme.panel, 0.55), _DIAGONAL),
    )
    draft = (
        part("draft_weights", theme.draft),
        part("draft_kv", mixed(theme.draft, theme.panel, 0.55), _DIAGONAL),
    )
    shared = tuple(part(name, tint, _DOTTED) for name in _SHARED if parts[name])
    return [
        PartBar("target", target),
        PartBar("draft", draft),
        PartBar("buffers", shared),
        PartBar("all", (*target, *draft, *shared)),
    ]


def parts_text(plan: MemoryPlan, theme: Theme) -> str:
    """Each part as a row of an HTML table."""
    rows = [
        f'<tr><td style="color:{theme.dim}">{PART_TEXTS[name]}</td>'
        f'<td align="right">&nbsp;&nbsp;{size_text(n_bytes)}</td></tr>'
        for name, n_bytes in plan.need.components().items()
        if n_bytes
    ]
    return f"<table>{''.join(rows)}</table>"


def size_text(n_bytes: float) -> str:
    """With the digits that are worth it, from bundled models to large ones."""
    gib = to_gib(n_bytes)
    if gib < 1:
        return f"{1024 * gib:.1f} MiB"
    return f"{gib:.1f} GiB" if gib >= 100 else f"{gib:.2f} GiB"
