"""What captured decoding on one large GPU is to show, and whether measured figures show it: pure.

The goals are about a target of 8B and a draft of 1B in bfloat16, at batch 1; the figures are the
results of the suites ``decoding`` and ``events`` as they are told in JSON. What was not measured
says why; a goal that is missed is a finding, and no failure of the program.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

HOLDS, MISSED, NOT_MEASURED = "holds", "missed", "not measured"

Result = Mapping[str, Any]

MOST_LAUNCHING = 0.05
MOST_OF_EAGER = 0.5
LEAST_OF_COPY = 0.75
MOST_VERIFY_COST = 1.1
GAMMA = 5
"""Of the verification whose cost is judged."""
LEAST_SPEEDUP = 1.8
LEAST_OVER_TRANSFORMERS = 3.0
MOST_OFF_FORMULA = 0.1
MOST_SYNCS = 1
MOST_REPORTING = 0.02
MEDIAN_ERROR = 0.93
"""A median's standard error, in distances of the quartiles over the root of how many values there
are: 1.2533 standard deviations over that root, where the quartiles lie 1.349 of them apart."""


@dataclass(frozen=True)
class Verdict:
    """One goal. ``measured`` and ``limit`` are figures with their units, ``measured`` "" for none;
    ``why`` is a sentence about what was measured, or about why it was not."""

    what: str
    measured: str
    limit: str
    verdict: str
    why: str


def check_goals(decoding: Result, events: Result) -> tuple[Verdict, ...]:
    """Each goal, in a fixed order. A figure that is not in a result, or None there, is missing."""
    return (
        _launching(decoding),
        _captured_draft(decoding),
        _bandwidth(decoding),
        _verify_cost(decoding),
        _speedup(decoding),
        _over_transformers(decoding),
        _formula(decoding),
        _syncs(decoding),
        _reporting(events),
    )


def _launching(decoding: Result) -> Verdict:
    return _judge(
        "launching takes little of a captured draft",
        _at(decoding, "device_figures", "draft_launch_share"),
        MOST_LAUNCHING,
        is_at_most=True,
        show=_percent,
        why="1 - time of a draft queued while the device was busy / its time from an idle device, "
        + _uncaptured(decoding),
        blocked=_not_captured(decoding),
        missing="no captured draft was timed",
    )


def _uncaptured(decoding: Result) -> str:
    share = _at(decoding, "device_figures", "uncaptured_launch_share")
    told = "not timed" if share is None else _percent(share)
    return f"by its events; launched kernel by kernel: {told}"


def _captured_draft(decoding: Result) -> Verdict:
    captured = _at(decoding, "device_figures", "captured", "draft_forward_ns")
    eager = _at(decoding, "device_figures", "eager", "draft_forward_ns")
    ratio = None if not captured or not eager else captured / eager
    return _judge(
        "a forward of the captured draft / of the same one launched kernel by kernel",
        ratio,
        MOST_OF_EAGER,
        is_at_most=True,
        show=_number,
        why=f"{_ms(captured)} / {_ms(eager)}, {_at(decoding, 'draft')}",
        blocked=_not_captured(decoding),
        missing="no draft was timed both ways",
    )


def _bandwidth(decoding: Result) -> Verdict:
    steps = _at(decoding, "plain_bytes_per_s", "steps")
    forwards = _at(decoding, "plain_bytes_per_s", "forwards")
    copy = _at(decoding, "device_figures", "copy_bytes_per_s")
    share = None if not steps or not copy else steps / copy
    return _judge(
        "plain captured decoding reads at this share of the bandwidth of a copy",
        share,
        LEAST_OF_COPY,
        is_at_most=False,
        show=_percent,
        why=f"weights, keys and values over the time of whole steps, {_tb(steps)}, over that of "
        f"the forwards alone {_tb(forwards)}; a copy within the device's memory, bytes read and "
        f"bytes written together: {_tb(copy)}",
        blocked=_not_decoded_captured(decoding),
        missing="no plain step was timed beside a copy",
    )


def _verify_cost(decoding: Result) -> Verdict:
    times = _at(decoding, "device_figures", "captured", "target_forward_ns") or {}
    wide, narrow = times.get(str(GAMMA + 1)), times.get("1")
    gamma = _at(decoding, "device_figures", "gamma")
    return _judge(
        f"a verification of {GAMMA + 1} tokens / a forward of one",
        None if not wide or not narrow else wide / narrow,
        MOST_VERIFY_COST,
        is_at_most=True,
        show=_number,
        why=f"{_ms(wide)} / {_ms(narrow)} over {_at(decoding, 'device_figures', 'context_length')} "
        f"cached tokens, captured, {_at(decoding, 'target')}",
        blocked=_not_captured(decoding),
        missing=f"gamma was {gamma}, and a verification of {GAMMA + 1} tokens needs {GAMMA}",
    )


def _speedup(decoding: Result) -> Verdict:
    return _judge(
        "speculative / our plain decoding, both captured",
        _at(decoding, "measured_speedup"),
        LEAST_SPEEDUP,
        is_at_most=False,
        show=_times,
        why=f"tokens per second, prefill included, the median over prompts; {_pair(decoding)}",
        blocked=_not_decoded_captured(decoding),
        missing="no speed-up was measured",
    )


def _over_transformers(decoding: Result) -> Verdict:
    package = _at(decoding, "device_figures", "flash_attention")
    kernels = f"; torch's FlashAttention is {package} for both" if package else ""
    return _judge(
        "speculative, captured / transformers' plain generate",
        _at(decoding, "ratios", "speculative_vs_transformers_plain"),
        LEAST_OVER_TRANSFORMERS,
        is_at_most=False,
        show=_times,
        why=f"tokens per second, prefill included, the median over prompts{kernels}",
        blocked=_not_decoded_captured(decoding),
        missing="transformers was not timed",
    )


def _formula(decoding: Result) -> Verdict:
    measured = _at(decoding, "decoding_speedup")
    predicted = _at(decoding, "predicted_speedup")
    distance = None if not measured or not predicted else abs(measured / predicted - 1.0)
    return _judge(
        "the speed-up measured is near E[N] / (gamma c + v)",
        distance,
        MOST_OFF_FORMULA,
        is_at_most=True,
        show=_percent,
        why=f"{_number(measured)} measured without prefill, {_number(predicted)} by the formula: "
        f"acceptance {_number(_at(decoding, 'acceptance_rate'))}, c {_number(_at(decoding, 'c'))}, "
        f"v {_number(_at(decoding, 'verify_width_cost'))} of the same run",
        blocked=_not_decoded_captured(decoding),
        missing="acceptance, c or v was not measured",
    )


def _syncs(decoding: Result) -> Verdict:
    mean = _at(decoding, "syncs_per_step", "mean")
    return _judge(
        "the host waits for the device's numbers",
        _at(decoding, "syncs_per_step", "most"),
        MOST_SYNCS,
        is_at_most=True,
        show=_a_step,
        why=f"the most of any step, plain or speculative; on average {_number(mean)}, counted "
        "where the host reads",
        blocked=_no_device(decoding),
        missing="no step was counted",
    )


def _reporting(events: Result) -> Verdict:
    ratio = _at(events, "everything_on_vs_off") or {}
    return _judge(
        "sending events, ranges, times on the device's clock and samples together cost",
        _at(events, "everything_cost_share"),
        MOST_REPORTING,
        is_at_most=True,
        show=_percent,
        why="time with all of them / with events made and dropped and none of the rest - 1, to "
        "the last token: what is sent after it is not timed. The median of "
        f"{ratio.get('n', 0)} pairs on {_at(events, 'device')}; quartiles "
        f"{_number(ratio.get('lower_quartile'))} .. {_number(ratio.get('upper_quartile'))}; "
        "no profiler was attached",
        missing="runs with and without them were not compared",
        blocked=_unsteady(ratio),
    )


def _unsteady(ratio: Result) -> str:
    """Why the median of such ratios tells nothing about the limit; "" where it does."""
    lower, upper, n = ratio.get("lower_quartile"), ratio.get("upper_quartile"), ratio.get("n")
    if lower is None or upper is None or not n:
        return ""
    error = MEDIAN_ERROR * (upper - lower) / n**0.5
    if error < MOST_REPORTING:
        return ""
    return (
        f"the machine did not keep its speed: of {n} pairs the quartiles were {_number(lower)} and "
        f"{_number(upper)}, so the median's standard error is {_percent(error)}, and not below "
        f"{_percent(MOST_REPORTING)}"
    )


def _judge(
    what: str,
    value: float | None,
    limit: float,
    *,
    is_at_most: bool,
    show: Callable[[float], str],
    why: str,
    missing: str,
    blocked: str = "",
) -> Verdict:
    """``missing`` says why there is no value; ``blocked`` why one would not be of what the goal is
    about, "" where it is."""
    told_limit = f"at {'most' if is_at_most else 'least'} {show(limit)}"
    if value is None or blocked:
        return Verdict(what, "", told_limit, NOT_MEASURED, f"{(blocked or missing).rstrip('.')}.")
    holds = value <= limit if is_at_most else value >= limit
    return Verdict(what, show(value), told_limit, HOLDS if holds else MISSED, f"{why}.")


def _no_device(decoding: Result) -> str:
    """Why nothing of a device is known; "" where something is."""
    if not decoding:
        return "nothing was decoded"
    if _at(decoding, "device_figures") is None:
        return (
            f"the goal is one of a CUDA device, and this was decoded on {_at(decoding, 'device')}"
        )
    return ""


def _not_captured(decoding: Result) -> str:
    """Why there is nothing captured; "" where there is."""
    reason = _no_device(decoding)
    if reason or _at(decoding, "device_figures", "captured") is not None:
        return reason
    return _at(decoding, "device_figures", "why_not_captured") or "nothing was captured"


def _not_decoded_captured(decoding: Result) -> str:
    """Why the text was not decoded with graphs; "" where it was."""
    warned = [text for text in _at(decoding, "warnings") or () if text.startswith("CUDA graphs")]
    return _not_captured(decoding) or "".join(warned[:1])


def _at(result: Any, *names: str) -> Any:
    """What lies at the end of a path of names; None where that ends early."""
    for name in names:
        if not isinstance(result, Mapping):
            return None
        result = result.get(name)
    return result


def _pair(decoding: Result) -> str:
    return f"{_at(decoding, 'target')} and {_at(decoding, 'draft')}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _times(value: float) -> str:
    return f"{value:.2f} times"


def _a_step(value: float) -> str:
    return f"{value:.0f} a step"


def _ms(ns: float | None) -> str:
    return "-" if ns is None else f"{ns / 1e6:.3g} ms"


def _tb(bytes_per_s: float | None) -> str:
    return "-" if bytes_per_s is None else f"{bytes_per_s / 1e12:.2f} TB/s"
