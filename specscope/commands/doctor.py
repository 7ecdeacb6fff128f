"""``specscope doctor``: what is there, what is missing, and what to do about it."""

import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from engine.wire.catalog import KNOWN_MODELS, is_complete, model_folder
from engine.wire.program import engine_command, engine_environment
from specscope.commands.models import user_data_folder
from specscope.window_libraries import window_lack

_PROBE_SECONDS = 120
_NO_READINGS = "these GPU readings are left out; decoding does not need them"
_SUPPORTED_PYTHON = ((3, 11), (3, 14))  # from, below


class State(StrEnum):
    """How a part is."""

    OK = "ok"
    MISSING = "missing"
    BROKEN = "broken"


@dataclass(frozen=True)
class Finding:
    """One part, how it is, and what to do where that is not well."""

    part: str
    state: State
    detail: str
    remedy: str = ""
    is_needed: bool = False  # without it nothing can be decoded


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object only.")
def doctor(as_json: bool) -> None:
    """Check what decoding needs. The exit status is 0 when decoding can work, 1 otherwise."""
    findings = examine()
    can_decode = all(one.state is State.OK for one in findings if one.is_needed)
    if as_json:
        report = {"can_decode": can_decode, "findings": [asdict(one) for one in findings]}
        click.echo(json.dumps(report, indent=2))
    else:
        _print(findings, can_decode=can_decode)
    raise SystemExit(0 if can_decode else 1)


def examine() -> list[Finding]:
    """Every finding, in the order a person would check."""
    facts = probe_engine()
    return [
        _python(),
        _torch(facts.get("torch", {})),
        _transformers(facts),
        _device(facts.get("torch", {}), facts.get("nvml", {})),
        _nvml(facts.get("nvml", {})),
        *_counters(facts.get("nvml", {})),
        _nvtx(facts.get("nvtx", {})),
        _tool("nsys", "Nsight Systems", "for timelines of a run"),
        _tool("ncu", "Nsight Compute", "for single kernels"),
        _window(),
        *_bundled_models(),
        _data_folder(user_data_folder()),
    ]


def probe_engine() -> Mapping[str, Any]:
    """What torch and the driver say, asked in a process of its own; errors are facts too."""
    try:
        done = subprocess.run(
            engine_command("engine.doctor_probe"),
            env=engine_environment(),
            capture_output=True,
            text=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _all_failed(f"importing torch took more than {_PROBE_SECONDS} s")
    except OSError as error:
        return _all_failed(str(error))
    try:
        return dict(json.loads(done.stdout))
    except ValueError:
        last_words = done.stderr.strip().splitlines()[-1:] or ["the probe stopped without a word"]
        return _all_failed(last_words[0])


def _all_failed(error: str) -> Mapping[str, Any]:
    return {part: {"error": error} for part in ("torch", "nvml", "nvtx")}


def _python() -> Finding:
    version = platform.python_version()
    lowest, below = _SUPPORTED_PYTHON
    if lowest <= sys.version_info[:2] < below:
        return Finding("Python", State.OK, version, is_needed=True)
    remedy = "install SpecScope under Python 3.11, 3.12 or 3.13"
    return Finding("Python", State.BROKEN, version, remedy, is_needed=True)


def _torch(facts: Mapping[str, Any]) -> Finding:
    if "version" in facts:
        build = f"CUDA {facts['cuda_version']}" if facts.get("cuda_version") else "CPU build"
        packed = ", packed linear layers" if facts.get("can_pack") else ""
        return Finding("torch", State.OK, f"{facts['version']} ({build}{packed})", is_needed=True)
    error = str(facts.get("error", "not asked"))
    is_missing = "No module named 'torch'" in error
    state = State.MISSING if is_missing else State.BROKEN
    return Finding("torch", state, error, "reinstall it: pip install torch", is_needed=True)


def _transformers(facts: Mapping[str, Any]) -> Finding:
    version = facts.get("transformers")
    if version:
        return Finding("transformers", State.OK, str(version), is_needed=True)
    remedy = "install it: pip install transformers"
    return Finding("transformers", State.MISSING, "not found", remedy, is_needed=True)


def _device(facts: Mapping[str, Any], nvml: Mapping[str, Any]) -> Finding:
    devices = facts.get("devices") or []
    if devices:
        names = ", ".join(f"{d['name']}, {d['memory_bytes'] / 2**30:.0f} GiB" for d in devices)
        return Finding("device", State.OK, names)
    cpu = f"the CPU decodes, {facts.get('n_threads', '?')} threads"
    if nvml.get("n_devices"):
        if facts.get("cuda_version"):
            remedy = f"the driver may be too old for CUDA {facts['cuda_version']}: update it"
        else:
            remedy = "this torch is a CPU build: install a CUDA one from pytorch.org"
        return Finding("device", State.BROKEN, f"torch does not see the GPU; {cpu}", remedy)
    return Finding("device", State.MISSING, f"no GPU; {cpu}", "none needed for small models")


def _nvml(facts: Mapping[str, Any]) -> Finding:
    if "driver" in facts:
        detail = f"driver {facts['driver']}, {facts['n_devices']} device(s)"
        problem = facts.get("readings_error")
        if problem:
            return Finding("NVML", State.BROKEN, f"{detail}; {problem}", _NO_READINGS)
        missing = facts.get("missing_readings") or []
        if missing:
            return Finding("NVML", State.MISSING, f"{detail}; {', '.join(missing)}", _NO_READINGS)
        return Finding("NVML", State.OK, detail)
    error = str(facts.get("error", "not asked"))
    if facts.get("is_without_driver"):
        remedy = "GPU readings are left out; install the NVIDIA driver to have them"
        return Finding("NVML", State.MISSING, error, remedy)
    return Finding("NVML", State.BROKEN, error, "reinstall it: pip install nvidia-ml-py")


def _counters(facts: Mapping[str, Any]) -> list[Finding]:
    """The hardware's counters of a GPU; nothing is said of a machine without one."""
    missing = facts.get("missing_counters")
    if missing is None:
        return []
    part = "GPU counters"
    if not missing:
        return [Finding(part, State.OK, "SMs, tensor cores and memory, through GPM")]
    if any("no permission" in each for each in missing):
        remedy = "ask for access to the GPU's performance counters, or do without these three"
    else:
        remedy = "Hopper and later have them, outside some MIG modes; nothing else needs them"
    return [Finding(part, State.MISSING, ", ".join(missing), remedy)]


def _nvtx(facts: Mapping[str, Any]) -> Finding:
    if "version" not in facts:
        error = str(facts.get("error", "not asked"))
        return Finding("nvtx", State.BROKEN, error, "reinstall it: pip install nvtx")
    if not facts.get("is_enabled", True):
        remedy = "unset NVTX_DISABLE to see phases in a profiler"
        return Finding("nvtx", State.MISSING, f"{facts['version']}, switched off", remedy)
    return Finding("nvtx", State.OK, str(facts["version"]))


def _tool(command: str, name: str, purpose: str) -> Finding:
    path = shutil.which(command)
    if path:
        return Finding(name, State.OK, path)
    return Finding(
        name, State.MISSING, f"{command} is not on PATH", f"install {name} {purpose}; not needed"
    )


def _window() -> Finding:
    if importlib.util.find_spec("PySide6") is None:
        return Finding(
            "window", State.MISSING, "the window is not installed", "the command line does it all"
        )
    platform_name = os.environ.get("QT_QPA_PLATFORM", "")
    has_display = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    if sys.platform.startswith("linux") and not platform_name and not has_display:
        remedy = "start it in a desktop session, or set QT_QPA_PLATFORM=offscreen"
        return Finding("window", State.BROKEN, "PySide6 is installed but has no display", remedy)
    if (lack := window_lack()) is not None:
        return Finding("window", State.BROKEN, lack.detail, lack.remedy)
    return Finding("window", State.OK, f"Qt platform {platform_name or 'by default'}")


def _bundled_models() -> list[Finding]:
    findings = []
    for known in KNOWN_MODELS:
        if not known.bundled_folder:
            continue
        folder = model_folder(known, Path())
        if is_complete(folder):
            findings.append(Finding(known.name, State.OK, str(folder)))
        else:
            remedy = "reinstall specscope, or name another model, see `specscope models`"
            findings.append(Finding(known.name, State.MISSING, "not in this installation", remedy))
    return findings


def _data_folder(folder: Path) -> Finding:
    existing = next((one for one in (folder, *folder.parents) if one.exists()), folder)
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        remedy = "make it writable, or set SPECSCOPE_DATA_DIR to a folder that is"
        reason = error.strerror or str(error)
        return Finding("data folder", State.BROKEN, f"{folder}: {reason}", remedy)
    free = shutil.disk_usage(existing).free
    return Finding("data folder", State.OK, f"{folder}, {free / 1e9:.0f} GB free")


def _print(findings: list[Finding], *, can_decode: bool) -> None:
    colours = {State.OK: "green", State.MISSING: "yellow", State.BROKEN: "red"}
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in findings:
        text = escape(one.detail) + (f"\n[dim]-> {escape(one.remedy)}[/]" if one.remedy else "")
        table.add_row(one.part, f"[{colours[one.state]}]{one.state.value}[/]", text)
    console = Console()
    console.print(table)
    verdict = "Decoding can work here." if can_decode else "Decoding cannot work here yet."
    console.print(f"\n[bold]{verdict}[/]")
