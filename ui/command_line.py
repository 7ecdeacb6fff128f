"""The command line that runs what the run dialog says, to be copied."""

from collections.abc import Sequence
from pathlib import Path

from engine.wire.config import RunConfig
from engine.wire.nsight import as_typed, ncu_command
from ui.run_order import RunOrder

_VALUES = {
    "target": "--target", "composite_draft": "--composite-draft", "gamma": "--gamma",
    "max_gamma": "--max-gamma", "max_new_tokens": "--max-new-tokens",
    "temperature": "--temperature", "top_k": "--top-k", "top_p": "--top-p", "seed": "--seed",
    "batch": "--batch", "block_size": "--block-size", "allocation": "--allocation",
    "n_blocks": "--blocks", "device": "--device", "dtype": "--dtype", "weights": "--weights",
    "n_threads": "--threads", "kernels_every": "--kernels-every",
}  # fmt: skip
_FLAGS = {"chat": "--chat", "ignore_eos": "--ignore-eos"}
_SWITCHES = {
    "packed": "packed", "graphs": "graphs", "calibrate": "calibrate", "telemetry": "telemetry",
}  # fmt: skip


def run_arguments(order: RunOrder) -> list[str]:
    """``specscope run`` with the first prompt of ``order``, its drafts, and every setting that is
    not the default."""
    config, plain = order.configs[0], RunConfig()
    arguments = ["specscope", "run", order.prompts[0].text]
    for draft in (each.draft for each in order.configs):
        arguments += ["--draft", draft]
    for field, option in _VALUES.items():
        value = getattr(config, field)
        if value != getattr(plain, field):
            arguments += [option, str(value)]
    arguments += [option for field, option in _FLAGS.items() if getattr(config, field)]
    for field, word in _SWITCHES.items():
        if getattr(config, field) != getattr(plain, field):
            arguments.append(f"--{word}" if getattr(config, field) else f"--no-{word}")
    if order.nsys_report is not None:
        arguments += ["--nsys", str(order.nsys_report)]
    if order.is_recorded:
        arguments.append("--record")
    return arguments


def run_line(order: RunOrder) -> str:
    """As typed in a shell."""
    return as_typed(run_arguments(order))


def ncu_line(order: RunOrder, phase: str) -> str:
    """The same under Nsight Compute, which looks at one phase's kernels."""
    return as_typed(ncu_command(phase, run_arguments(_without_nsys(order))))


def _without_nsys(order: RunOrder) -> RunOrder:
    return RunOrder(configs=order.configs, prompts=order.prompts, is_recorded=False)


def report_problem(report: Path, drafts: Sequence[str]) -> str:
    """Why ``report`` cannot be written by Nsight Systems for these drafts; "" when it can."""
    if len(drafts) > 1:
        return "Nsight Systems captures one session: choose one draft."
    if report.exists():
        return f"{report} exists: name another report, or remove it first."
    if not report.parent.is_dir():
        return f"{report.parent} is no folder: make it first."
    return ""
