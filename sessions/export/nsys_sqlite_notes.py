"""What the file says of itself: who wrote it, what was recorded, and what was not."""

from collections.abc import Iterator

from sessions.export.facts import ExportFacts, own_version
from sessions.export.kernels import KernelNotes
from sessions.export.nsys_sqlite_file import VM_ID, NsysFile
from sessions.export.nsys_sqlite_schema import SCHEMA_VERSION
from sessions.export.options import ExportOptions, StepRange

INFO, WARNING, ERROR = 1, 2, 3
_SEVERITIES = {"warning": WARNING, "error": ERROR}


def write_notes(
    file: NsysFile,
    facts: ExportFacts,
    kernels: KernelNotes,
    *,
    n_kernels: int,
    n_incomplete: int,
    end_ns: int,
    options: ExportOptions,
) -> None:
    """Fill the tables that describe the process, the session and the export.

    The environment of the process is never written, nor any name of its machine or user.
    """
    major, minor, micro = SCHEMA_VERSION
    for name, value in {
        "EXPORT_PRODUCT_NAME": "SpecScope",
        "EXPORT_PRODUCT_VERSION": own_version(),
        "EXPORT_SCHEMA_VERSION": f"{major}.{minor}.{micro}",
        "EXPORT_SCHEMA_VERSION_MAJOR": str(major),
        "EXPORT_SCHEMA_VERSION_MINOR": str(minor),
        "EXPORT_SCHEMA_VERSION_MICRO": str(micro),
        "EXPORT_PARAM_EXPORT_TYPE": "SQLite",
        "EXPORT_PARAM_LAZY": "false",
    }.items():
        file.add_named("META_DATA_EXPORT", name=name, value=value)
    for name, value in _capture(facts, n_kernels, end_ns):
        file.add_named("META_DATA_CAPTURE", name=name, value=value)
    pid = file.global_pid
    for text, severity in _diagnostics(facts, kernels, n_kernels, n_incomplete, options):
        file.add_named(
            "DIAGNOSTIC_EVENT",
            timestamp=0, timestampType=1, source=3, severity=severity, text=text, globalPid=pid,
        )  # fmt: skip
    for log in facts.logs:
        file.add_named(
            "DIAGNOSTIC_EVENT",
            timestamp=log.t_ns, timestampType=1, source=3, severity=_SEVERITIES[log.level],
            text=log.message, globalPid=pid,
        )  # fmt: skip
    file.add_named(
        "TARGET_INFO_SESSION_START_TIME",
        utcEpochNs=facts.started_unix_ns, utcTime=facts.started_utc, systemClockNs=0,
    )  # fmt: skip
    file.add_named(
        "ANALYSIS_DETAILS", globalVid=VM_ID, duration=end_ns, startTime=0, stopTime=end_ns
    )
    for name, number, has in (("HasNvtxEvents", 809, 1), ("HasCudaEvents", 812, n_kernels > 0)):
        file.add_named(
            "TARGET_INFO_SYSTEM_ENV",
            globalVid=VM_ID, devStateName="Local", name=name, nameEnum=number, value=str(int(has)),
        )  # fmt: skip
    file.add_named("PROCESSES", globalPid=pid, pid=file.process_id, name="specscope engine")
    name_id = file.string_id("decoding")
    file.add_named("ThreadNames", nameId=name_id, priority=20, globalTid=file.global_tid)
    nothing = file.string_id("")
    for stream in ("stdout", "stderr"):  # not kept; one reader wants the rows
        name_id = file.string_id(f"{stream}.log")
        file.add_named("ProcessStreams", globalPid=pid, filenameId=name_id, contentId=nothing)


def _capture(facts: ExportFacts, n_kernels: int, end_ns: int) -> Iterator[tuple[str, str]]:
    yield "DEVICE_ID", "Local"
    yield "DEVICE_TYPE", "Unix"
    yield "CAPTURE_EVENT_TYPE", "NvtxEvents"
    if n_kernels:
        yield "CAPTURE_EVENT_TYPE", "Cuda"
        yield "CUDA_GRAPH_TRACE_OPTIONS:MODE", "Node"
    yield "RUN_DURATION_MS", str(end_ns // 1_000_000)
    yield "PROCESS_0:COMMAND", "specscope"
    if facts.started is not None:
        yield "SPECSCOPE:SESSION_VERSION", facts.started.specscope_version
        yield "SPECSCOPE:TORCH_VERSION", facts.started.torch_version
        yield "SPECSCOPE:DEVICE", facts.started.device_name
    for model in facts.models:
        yield f"SPECSCOPE:{model.role.upper()}_MODEL", f"{model.name}, {model.dtype}"


def _diagnostics(
    facts: ExportFacts,
    kernels: KernelNotes,
    n_kernels: int,
    n_incomplete: int,
    options: ExportOptions,
) -> Iterator[tuple[str, int]]:
    yield "Written by SpecScope from its own recording, not by Nsight Systems.", INFO
    if n_kernels:
        yield (
            "Kernel launches were not recorded: each is placed in the span that launched it. Grid "
            "and block sizes, registers and copied bytes were not recorded and read 0.",
            INFO,
        )
    elif not options.per_step:
        yield "No kernels were recorded: the CUDA tables are empty.", INFO
    if kernels.n_operators:
        yield f"{kernels.n_operators} CPU operators are no kernels and are left out.", INFO
    if kernels.largest_shift_ns:
        yield (
            f"Kernels were moved later by up to {kernels.largest_shift_ns} ns, so that none begins "
            "before its launch: the device's clock is not the host's.",
            WARNING,
        )
    if kernels.n_outside:
        yield f"{kernels.n_outside} kernels were launched outside all spans.", INFO
    if kernels.n_crowded:
        yield (
            f"{kernels.n_crowded} kernels were launched in a span that its inner spans cover "
            "whole: they may be read as launched by an inner one.",
            WARNING,
        )
    if n_incomplete:
        yield (
            f"{n_incomplete} ranges were never finished and are closed at the last known time.",
            WARNING,
        )
    if facts.n_dropped:
        kinds = ", ".join(sorted(facts.dropped_kinds))
        yield (
            f"{facts.n_dropped} measurements were lost ({kinds}): their rows are missing.",
            WARNING,
        )
    if options.part is not None:
        part = options.part
        what = (
            f"steps {part.first} to {part.last}"
            if isinstance(part, StepRange)
            else f"{part.start_ns} ns to {part.end_ns} ns"
        )
        yield f"A part of the session: {what}.", INFO
    if options.per_step:
        yield "Left out by wish: ranges of single draft tokens, rejections and kernels.", INFO
    if facts.n_more_logs:
        yield f"{facts.n_more_logs} more warnings and errors were logged.", WARNING
