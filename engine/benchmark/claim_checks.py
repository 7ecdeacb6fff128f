"""Claims and what they come to on given measurements: pure."""

from dataclasses import dataclass

HOLDS, FAILS, NOT_MEASURED = "holds", "does not hold", "not measured"

H100_BYTES_PER_S = 3.35e12
"""Of an H100 SXM's memory, as published."""

NEAR = 0.7
"""Share of the published bandwidth from which a forward is called near it."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """None where something was not measured; ``why`` then is about all of it."""

    device: str
    why: str = ""
    draft_tensor_pct: float | None = None
    verify_tensor_pct: float | None = None
    verify_bytes_per_s: float | None = None  # all that a forward moves / its time
    read_bytes_per_s: float | None = None
    draft_gap_share: float | None = None
    draft_gap_share_with_graphs: float | None = None
    missing: tuple[str, ...] = ()  # "field: reason" of counters


@dataclass(frozen=True)
class Claim:
    """``measured`` is a figure with its unit, "" for none; ``why`` is a sentence."""

    claim: str
    measured: str
    verdict: str
    why: str


def check_claims(measured: Measured) -> tuple[Claim, ...]:
    """Each claim, in a fixed order."""
    return (
        _draft_tensor(measured),
        _verify_tensor(measured),
        _verify_bandwidth(measured),
        _launch_overhead(measured),
        _graphs(measured),
        _weights_once(measured),
    )


def _judged(claim: str, figure: str, holds: bool, why: str) -> Claim:
    return Claim(claim, figure, HOLDS if holds else FAILS, why)


def _unmeasured(claim: str, measured: Measured, reason: str) -> Claim:
    return Claim(claim, "", NOT_MEASURED, f"{(measured.why or reason).rstrip('.')}.")


def _counter_reason(measured: Measured) -> str:
    missing = [line for line in measured.missing if "tensor" in line or "GPU counters" in line]
    return missing[0] if missing else "the hardware's counters gave nothing"


def _draft_tensor(measured: Measured) -> Claim:
    claim = "tensor cores are active below 15 % of the time while drafting"
    value = measured.draft_tensor_pct
    if value is None:
        return _unmeasured(claim, measured, _counter_reason(measured))
    why = "counted by the hardware over captured drafts, played back to back"
    return _judged(claim, f"{value:.1f} %", value < 15.0, f"{why}, on {measured.device}.")


def _verify_tensor(measured: Measured) -> Claim:
    claim = "tensor cores are active 65 to 80 % of the time while verifying"
    value = measured.verify_tensor_pct
    if value is None:
        return _unmeasured(claim, measured, _counter_reason(measured))
    why = (
        "a verification of a few tokens reads all weights for little arithmetic, so that memory "
        f"and not arithmetic bounds it; counted by the hardware on {measured.device}."
    )
    return _judged(claim, f"{value:.1f} %", 65.0 <= value <= 80.0, why)


def _verify_bandwidth(measured: Measured) -> Claim:
    claim = "verifying reads memory at close to 3.35 TB/s"
    value = measured.verify_bytes_per_s
    if value is None:
        return _unmeasured(claim, measured, "no verification was captured")
    share = value / H100_BYTES_PER_S
    why = (
        "weights and cached keys and values that a captured verification reads / its time: "
        f"{100 * share:.0f} % of 3.35 TB/s, {_on(measured)}"
    )
    return _judged(claim, f"{value / 1e12:.2f} TB/s", share >= NEAR, why)


def _launch_overhead(measured: Measured) -> Claim:
    claim = "launching kernels takes up to 20 % of a draft's cycle"
    value = measured.draft_gap_share
    if value is None:
        return _unmeasured(claim, measured, "no draft was timed beside a captured one")
    why = (
        "the share of a draft's time in which the device waits for the host, each kernel launched "
        f"by itself, {_on(measured)}"
    )
    return _judged(claim, f"{100 * value:.1f} %", value <= 0.2, why)


def _graphs(measured: Measured) -> Claim:
    claim = "with CUDA graphs that overhead is gone"
    value = measured.draft_gap_share_with_graphs
    if value is None:
        return _unmeasured(claim, measured, "no draft was captured")
    why = f"the share of a captured draft's time in which the device waits, {_on(measured)}"
    return _judged(claim, f"{100 * value:.1f} %", value <= 0.02, why)


def _weights_once(measured: Measured) -> Claim:
    claim = "reading 140 GB of weights once takes 41.8 ms"
    value = measured.read_bytes_per_s
    if value is None:
        return _unmeasured(claim, measured, "no memory was read")
    ms = 140e9 / value * 1e3
    why = f"140 GB at the {value / 1e12:.2f} TB/s that a reduction reads, {_on(measured)}"
    return _judged(claim, f"{ms:.1f} ms", abs(ms - 41.8) <= 0.1 * 41.8, why)


def _on(measured: Measured) -> str:
    """The device; the claims are about one of them."""
    is_it = "H100" in measured.device
    return f"on {measured.device}{'' if is_it else ', which is not the H100 of the claim'}."
