"""A session as a Chrome trace (JSON) for Perfetto, chrome://tracing and tools like them."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from engine.wire.events import Event, SpansMeasured
from sessions.export.atomic import written_beside
from sessions.export.chrome_trace_lanes import LANES, TraceRanges
from sessions.export.chrome_trace_tokens import TraceReadings, TraceTokens
from sessions.export.facts import ExportFacts, own_version
from sessions.export.kernels import KernelReader
from sessions.export.options import WHOLE, ExportOptions, reaches_into, select
from sessions.export.progress import OnProgress, ShouldStop, watched
from sessions.export.ranges import RangeReader, cut
from sessions.export.trace_file import Lanes, TraceFile


def write_chrome_trace(
    events: Iterable[Event],
    path: Path,
    *,
    options: ExportOptions = WHOLE,
    on_progress: OnProgress | None = None,
    should_stop: ShouldStop | None = None,
) -> None:
    """Write the timeline of a session, gzipped if the name ends in ``.gz``; the file appears when
    it is whole.

    Raises:
        ExportError: there is nothing to write, or the file cannot be written.
        ExportCancelled: ``should_stop`` said so.
    """
    is_gzipped = path.suffix == ".gz"
    with (
        written_beside(path) as beside,
        closing(TraceFile(beside, is_gzipped=is_gzipped)) as file,
    ):
        _write(file, watched(events, on_progress, should_stop), options)


def _write(file: TraceFile, events: Iterable[Event], options: ExportOptions) -> None:
    part, per_step = options.part, options.per_step
    facts = ExportFacts()
    ranges, kernels = RangeReader(), KernelReader()
    lanes = Lanes(file)
    tokens = TraceTokens(file, lanes, per_step=per_step)
    readings = TraceReadings(file)
    rows = TraceRanges(file, lanes, tokens)
    for event, is_kept in select(events, part):
        facts.note(event)
        if facts.n_events == 1:
            file.process_id = facts.process_id
            file.metadata("process_name", 0, name=f"SpecScope session {facts.started_utc}")
            for lane in LANES.values():  # in this order, whichever range comes first
                lanes.tid(lane)
        kind = event.__class__
        if kind in TraceTokens.KINDS:
            tokens.read(event, is_kept=is_kept)
        elif kind in TraceReadings.KINDS:
            readings.read(event, is_kept=is_kept)
        is_whole_step = (
            isinstance(event, SpansMeasured)
            and is_kept
            and not per_step
            and rows.add_step(event, ranges.read_plain(event))
        )
        told_ranges = [] if is_whole_step else ranges.read(event)
        if told_ranges and is_kept:
            rows.add_ranges(cut(told_ranges, per_step=per_step))
        if isinstance(event, SpansMeasured) and event.gpu_start_ns and is_kept:
            rows.add_gpu(event, per_step=per_step)
        if kind in KernelReader.KINDS and not per_step:
            told_kernels = kernels.read(event)
            if told_kernels and is_kept:
                rows.add_kernels(told_kernels)
    left = ranges.close()
    rows.add_ranges(r for r in left if reaches_into(part, r.step, r.start_ns, r.end_ns))
    late = kernels.close()
    rows.add_kernels([k for k in late if reaches_into(part, k.step, k.start_ns, k.end_ns)])
    tokens.close()
    file.finish(_about(facts, rows, kernels))


def _about(facts: ExportFacts, rows: TraceRanges, kernels: KernelReader) -> dict[str, object]:
    about: dict[str, object] = {
        "written_by": f"SpecScope {own_version()}",
        "session_start_utc": facts.started_utc,
        # As text: no reader of JSON numbers keeps nineteen digits.
        "session_start_unix_ns": str(facts.started_unix_ns),
        "n_incomplete_ranges": rows.n_incomplete,
        "n_measurements_lost": facts.n_dropped,
        "n_cpu_operators_left_out": kernels.notes.n_operators,
        "largest_kernel_shift_ns": kernels.notes.largest_shift_ns,
    }
    if facts.started is not None:
        about["device"] = facts.started.device_name
        about["torch_version"] = facts.started.torch_version
    for model in facts.models:
        about[f"{model.role}_model"] = model.name
    return about
