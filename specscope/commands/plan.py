"""``specscope plan``: what to expect of a pair of models, worked out before anything runs."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from engine.theory.devices import SHORT_NAMES, DevicePeaks, Precision, find_device
from engine.theory.footprint import weights_bytes
from engine.theory.host_peaks import measure_host_peaks
from engine.theory.phases import step_floors
from engine.theory.plans import (
    break_even_text,
    fitting_text,
    memory_plan,
    parse_verify_costs,
    room_text,
    speedup_plan,
    weight_format,
)
from engine.theory.presets import find_preset
from engine.theory.roofline import ridge_point
from engine.theory.shape_source import NamedShape, resolve_shape
from engine.theory.speedup import PUBLISHED_BAND
from engine.theory.units import si_text, time_text
from engine.theory.validate import require_positive
from engine.theory.workload import GIB, Workload, to_gib
from engine.wire.catalog import find_known_model
from specscope.model_choices import model_folders
from specscope.plan_report import (
    make_table,
    or_dash,
    print_facts,
    print_load,
    print_memory,
    print_phases,
    print_table,
)


@click.group()
def plan() -> None:
    """Work out speedup, memory and limits of a pair of models before running it."""


_COUNT = click.IntRange(min=1)
_BITS = click.FloatRange(min=0, max=64, min_open=True)
_MODEL = (
    "A preset, a bundled or added model, a folder with a config.json, or "
    "layers=32,hidden=4096,heads=32 and so on."
)

_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object only.")
_gamma_option = click.option(
    "--gamma",
    type=click.IntRange(0, 1024),
    default=5,
    show_default=True,
    help="Draft tokens per step.",
)


def _with_models(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options that memory and roofline share: the models, their formats, the load."""
    for option in reversed(
        (
            click.option("--target", required=True, help=_MODEL),
            click.option("--draft", default="none", show_default=True, help="As --target."),
            click.option("--batch", type=_COUNT, default=1, show_default=True, help="Sequences."),
            click.option(
                "--context", type=_COUNT, default=4096, show_default=True, help="Tokens of each."
            ),
            _gamma_option,
            click.option(
                "--target-bits",
                type=_BITS,
                default=16.0,
                show_default=True,
                help="Bits per target weight.",
            ),
            click.option(
                "--draft-bits",
                type=_BITS,
                default=16.0,
                show_default=True,
                help="Bits per draft weight.",
            ),
            click.option(
                "--group-size",
                type=_COUNT,
                help="Quantised weights per scale; by default 128 below 8 bits.",
            ),
            click.option(
                "--kv-bits",
                type=_BITS,
                default=16.0,
                show_default=True,
                help="Bits per KV cache value.",
            ),
            _json_option,
        )
    ):
        command = option(command)
    return command


@plan.command()
@click.option("--alpha", type=float, required=True, help="Acceptance rate, 0 to 1.")
@_gamma_option
@click.option("--c", type=float, required=True, help="Draft time / target time, one token wide.")
@click.option("--v", default="1", help="T(gamma+1)/T(1) of the target, or a list from width 1 on.")
@_json_option
def speedup(alpha: float, gamma: int, c: float, v: str, as_json: bool) -> None:
    """Expected speedup, the best gamma, and where it stops paying."""
    with _usage_errors():
        costs = parse_verify_costs(v, called="--v")
        found = speedup_plan(alpha, gamma, c=c, v=costs)
    asked, best, points = found.asked, found.best, found.points
    band = [asked.speedup * edge for edge in PUBLISHED_BAND]
    if as_json:
        _print_json(
            {"alpha": alpha, "c": c, **asdict(asked), "published_band": band}
            | {"best_gamma": asdict(best), "table": [asdict(point) for point in points]}
        )
        return
    at_limit = ", the largest tried" if best.is_at_limit and best.gamma else ""
    print_facts(
        f"alpha {alpha:g}, gamma {gamma}, c {c:g}, v {asked.v:g}",
        {
            "tokens per step": f"[bold]{asked.tokens_per_step:.3f}[/] with the target's own",
            "speedup": f"[bold]{asked.speedup:.3f}x[/]  (published runs fell between "
            f"{PUBLISHED_BAND[0]} and {PUBLISHED_BAND[1]} of it: {band[0]:.2f}x to {band[1]:.2f}x)",
            "best gamma": f"[bold]{best.gamma}[/]{at_limit}, speedup {best.speedup:.3f}x",
            "break-even": break_even_text(asked),
        },
    )
    table = make_table(
        "gamma", "tokens/step", "speedup", "accepted/drafted", "pays above alpha", ""
    )
    for point in points:
        marks = {"best": point.gamma == best.gamma, "asked": point.gamma == gamma}
        table.add_row(
            str(point.gamma),
            f"{point.tokens_per_step:.3f}",
            f"{point.speedup:.3f}x",
            or_dash(point.draft_efficiency),
            or_dash(point.break_even_alpha, "never" if point.gamma else "-"),
            ", ".join(mark for mark, is_marked in marks.items() if is_marked),
            style="bold" if point.gamma == best.gamma else None,
        )
    print_table(table)


@plan.command()
@_with_models
@click.option(
    "--mode",
    type=click.Choice(["exact", "document"]),
    default="exact",
    show_default=True,
    help="What an engine allocates, or the simple estimate often seen in print.",
)
@click.option("--block-size", type=_COUNT, default=16, show_default=True, help="Tokens per block.")
@click.option("--tensor-parallel", type=_COUNT, default=1, show_default=True, help="GPUs.")
@click.option("--draft-tensor-parallel", type=_COUNT, help="GPUs that share the draft, if fewer.")
@click.option("--budget-gib", type=float, help="GiB of one GPU; 80 in document mode.")
def memory(
    mode: str,
    block_size: int,
    tensor_parallel: int,
    draft_tensor_parallel: int | None,
    budget_gib: float | None,
    **common: Any,
) -> None:
    """GPU memory by part, where it fits, what a budget holds."""
    with _usage_errors():
        target, draft, load = _load(common)
        load = replace(
            load,
            block_size=block_size,
            tensor_parallel=tensor_parallel,
            draft_tensor_parallel=draft_tensor_parallel,
        )
        if budget_gib is None and mode == "document":
            budget_gib = 80.0
        if budget_gib is not None:
            require_positive("--budget-gib", budget_gib)
        found = memory_plan(
            target,
            draft,
            load,
            mode="document" if mode == "document" else "exact",
            budget_bytes=None if budget_gib is None else budget_gib * GIB,
        )
    need, fitting, room = found.need, found.fitting, found.room
    if mode == "document":
        target, draft = target.with_nominal_size(), draft and draft.with_nominal_size()
    budget: dict[str, Any] | None = None
    if budget_gib is not None:
        budget = {"gib": budget_gib, "fits": need.fits(budget_gib * GIB)}
        budget |= asdict(room) if room else {}
    if common["as_json"]:
        _print_json(
            {"mode": mode, "target": target.name, "draft": draft.name if draft else None}
            | {"workload": asdict(load), "components_bytes": need.components()}
            | {"total_bytes": need.total_bytes, "total_gib": to_gib(need.total_bytes)}
            | {"before_buffers_bytes": need.before_buffers_bytes, "n_gpus": need.n_gpus}
            | {"fits_on": list(fitting), "budget": budget}
        )
        return
    print_load(target, draft, load)
    print_memory(need, f"per GPU, {mode}" if need.n_gpus > 1 else mode)
    facts = {"fits on": fitting_text(fitting)}
    if budget:
        verdict = "[green]fits[/]" if budget["fits"] else "[red]does not fit[/]"
        facts[f"{budget_gib:g} GiB"] = f"{verdict}{'; ' + room_text(room, load) if room else ''}"
    print_facts("", facts)


@plan.command()
@_with_models
@click.option("--device", help=f"GPU as torch names it, or: {', '.join(SHORT_NAMES)}.")
@click.option("--measure-host", is_flag=True, help="Measure this machine instead (0.5 s).")
@click.option(
    "--precision",
    type=click.Choice([str(kind) for kind in Precision]),
    default=None,
    help="Of the arithmetic; by default bf16, measured machines fp32.",
)
def roofline(device: str | None, measure_host: bool, precision: str | None, **common: Any) -> None:
    """FLOPs, bytes and least time of each forward on a device."""
    with _usage_errors():
        target, draft, load = _load(common)
        peaks = _peaks(device, measure_host)
        kind = Precision(precision or ("fp32" if peaks.is_measured else "bf16"))
        floors = step_floors(
            target.shape, draft.shape if draft else None, peaks, workload=load, precision=kind
        )
    phases = [one for one in (floors.draft, floors.verify, floors.decode, floors.prefill) if one]
    if common["as_json"]:
        _print_json(
            {"device": peaks.name, "is_measured": peaks.is_measured, "precision": str(kind)}
            | {"flops_per_s": peaks.flops_per_s(kind), "bytes_per_s": peaks.bytes_per_s}
            | {"ridge_flops_per_byte": ridge_point(peaks, kind)}
            | {"target": target.name, "draft": draft.name if draft else None}
            | {"workload": asdict(load), "phases": [phase.record() for phase in phases]}
            | {"c": floors.c, "v": floors.v, "step_floor_s": floors.step_s}
        )
        return
    print_load(target, draft, load)
    matrix_rate = si_text(peaks.flops_per_s(kind), "FLOP/s")
    ridge = f"{ridge_point(peaks, kind):.3g} FLOP/byte; below it a forward waits for memory"
    print_facts(
        peaks.name,
        {"peaks": f"{matrix_rate} {kind} dense, {si_text(peaks.bytes_per_s, 'B/s')}"}
        | {"ridge": ridge},
    )
    print_phases(phases)
    tokens = f"{load.gamma + 1} tokens of each sequence"
    c = "" if floors.c is None else f"c {floors.c:.3f}, "
    facts = {
        "step": f"at least {time_text(floors.step_s)} for up to {tokens}",
        "floors": f"{c}v {floors.v:.3f} (what plan speedup takes)",
    }
    held_bytes = weights_bytes(target.shape, load.target_weights)
    if draft:
        held_bytes += weights_bytes(draft.shape, load.draft_weights)
    if peaks.memory_bytes is not None and held_bytes > peaks.memory_bytes:
        facts["note"] = (
            f"[yellow]the weights alone, {to_gib(held_bytes):.1f} GiB, exceed its "
            f"{to_gib(peaks.memory_bytes):.1f} GiB: one such GPU cannot hold them[/]"
        )
    print_facts("", facts)


def _load(common: dict[str, Any]) -> tuple[NamedShape, NamedShape | None, Workload]:
    """The two models and the workload that the shared options describe."""
    folders = model_folders()
    target = _shape(common["target"], folders)
    draft = None if common["draft"].casefold() == "none" else _shape(common["draft"], folders)
    load = Workload(
        batch_size=common["batch"],
        context_length=common["context"],
        gamma=common["gamma"],
        bytes_per_kv=common["kv_bits"] / 8,
        target_weights=weight_format(common["target_bits"], common["group_size"]),
        draft_weights=weight_format(common["draft_bits"], common["group_size"]),
    )
    return target, draft, load


def _shape(text: str, folders: dict[str, Path]) -> NamedShape:
    known = find_known_model(text)
    if known is not None and text not in folders and find_preset(text) is None:
        raise ValueError(
            f"The files of {text} are not kept here, so its shape is not known: give the folder "
            "with its config.json, or numbers such as layers=28,hidden=3584,heads=28,..."
        )
    return resolve_shape(text, folders)


def _peaks(device: str | None, measure_host: bool) -> DevicePeaks:
    if (device is None) == (not measure_host):
        raise ValueError("Give a GPU with --device, or --measure-host to measure this machine.")
    if device is None:
        return measure_host_peaks()
    peaks = find_device(device)
    if peaks is None:
        raise ValueError(
            f"No peaks are known for {device!r}; choose one of {', '.join(SHORT_NAMES)}, "
            "or measure this machine with --measure-host."
        )
    return peaks


@contextmanager
def _usage_errors() -> Iterator[None]:
    """What the theory refuses is a mistake on the command line: its sentence, exit code 2."""
    try:
        yield
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _print_json(record: dict[str, Any]) -> None:
    click.echo(json.dumps(record, allow_nan=False))
