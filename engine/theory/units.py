"""Sizes, rates and times as short texts with a unit."""


def si_text(value: float, unit: str) -> str:
    """Four digits with a decimal prefix: 139.4e9, "B" gives "139.4 GB"."""
    for scale, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= scale:
            return f"{value / scale:.4g} {prefix}{unit}"
    return f"{value:.4g} {unit}"


def time_text(seconds: float) -> str:
    """Three digits in s, ms or us."""
    if seconds >= 1.0:
        return f"{seconds:.3g} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"


def parameters_text(n_parameters: int) -> str:
    """A parameter count as models are called by it: "70.55B", "494M"."""
    if n_parameters >= 1e9:
        return f"{n_parameters / 1e9:.2f}B"
    return f"{n_parameters / 1e6:.0f}M" if n_parameters >= 1e6 else f"{n_parameters:,}"
