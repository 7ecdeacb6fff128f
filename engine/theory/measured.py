"""A predicted footprint held against a measured one."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.theory.footprint import Footprint
from engine.theory.validate import require_positive


@dataclass(frozen=True, slots=True)
class ComponentRatio:
    """One part, predicted and measured, in bytes; ``ratio`` is measured / predicted.

    ``ratio`` is None where nothing was predicted.
    """

    name: str
    predicted_bytes: int
    measured_bytes: int
    ratio: float | None


@dataclass(frozen=True, slots=True)
class MeasuredFootprint:
    """A comparison: the whole, the parts that were measured, and the bytes no part explains."""

    total: ComponentRatio
    components: tuple[ComponentRatio, ...]
    unexplained_bytes: int


def compare_with_measured(
    predicted: Footprint, peak_bytes: int, *, components: Mapping[str, int] | None = None
) -> MeasuredFootprint:
    """How a measured peak, and any measured parts, compare with the prediction.

    ``components`` maps names of ``Footprint.components`` ("target_kv", ...) to bytes. Parts that
    were not measured count as predicted when ``unexplained_bytes`` (measured peak - parts) is
    formed; it is negative when less was used than foreseen. ValueError: a peak not above 0, a
    name that no part has.
    """
    require_positive("the measured peak", peak_bytes)
    foreseen = predicted.components()
    measured = dict(components or {})
    unknown = sorted(measured.keys() - foreseen.keys())
    if unknown:
        raise ValueError(f"No part is called {unknown[0]!r}; the parts are {', '.join(foreseen)}.")
    return MeasuredFootprint(
        total=_ratio("total", predicted.total_bytes, peak_bytes),
        components=tuple(_ratio(name, foreseen[name], measured[name]) for name in measured),
        unexplained_bytes=peak_bytes - sum({**foreseen, **measured}.values()),
    )


def _ratio(name: str, predicted_bytes: int, measured_bytes: int) -> ComponentRatio:
    ratio = measured_bytes / predicted_bytes if predicted_bytes else None
    return ComponentRatio(name, predicted_bytes, measured_bytes, ratio)
