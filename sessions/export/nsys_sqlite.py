"""A session as an Nsight Systems SQLite export: ``nsys stats`` and other readers can open it."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from engine.wire.events import DraftVerified, Event, GpuSampled, SpansMeasured
from sessions.export.atomic import written_beside
from sessions.export.facts import ExportFacts
from sessions.export.kernels import KernelReader
from sessions.export.nsys_sqlite_activity import KernelRows, MetricRows
from sessions.export.nsys_sqlite_file import NsysFile
from sessions.export.nsys_sqlite_notes import write_notes
from sessions.export.nsys_sqlite_ranges import RangeRows
from sessions.export.options import WHOLE, ExportOptions, reaches_into, select
from sessions.export.progress import OnProgress, ShouldStop, watched
from sessions.export.ranges import RangeReader, cut


def write_nsys_sqlite(
    events: Iterable[Event],
    path: Path,
    *,
    options: ExportOptions = WHOLE,
    on_progress: OnProgress | None = None,
    should_stop: ShouldStop | None = None,
) -> None:
    """Write the ranges, kernels and samples of a session; the file appears when it is whole.

    Raises:
        ExportError: there is nothing to write, or the file cannot be written.
        ExportCancelled: ``should_stop`` said so.
    """
    with written_beside(path) as beside, closing(NsysFile(beside)) as file:
        _write(file, watched(events, on_progress, should_stop), options)


def _write(file: NsysFile, events: Iterable[Event], options: ExportOptions) -> None:
    part, per_step = options.part, options.per_step
    facts = ExportFacts()
    ranges, kernels = RangeReader(), KernelReader()
    range_rows, kernel_rows, metric_rows = RangeRows(file), KernelRows(file), MetricRows(file)
    kernel_kinds = frozenset() if per_step else KernelReader.KINDS
    for event, is_kept in select(events, part):
        facts.note(event)
        if facts.n_events == 1:
            file.identify(facts.process_id)
        kind = event.__class__
        told_kernels = kernels.read(event) if kind in kernel_kinds else ()
        is_whole_step = (
            isinstance(event, SpansMeasured)
            and is_kept
            and not per_step
            and range_rows.add_step(event, ranges.read_plain(event))
        )
        told_ranges = [] if is_whole_step else ranges.read(event)
        if not is_kept:
            continue
        if told_ranges:
            range_rows.add_all(cut(told_ranges, per_step=per_step))
        for kernel in told_kernels:
            kernel_rows.add(kernel)
        if isinstance(event, DraftVerified):
            if not per_step:
                range_rows.mark(event)
        elif isinstance(event, GpuSampled):
            metric_rows.add(event)
    left = ranges.close()
    range_rows.add_all(r for r in left if reaches_into(part, r.step, r.start_ns, r.end_ns))
    for kernel in kernels.close():
        if reaches_into(part, kernel.step, kernel.start_ns, kernel.end_ns):
            kernel_rows.add(kernel)
    range_rows.describe()
    kernel_rows.describe(facts)
    metric_rows.describe()
    write_notes(
        file,
        facts,
        kernels.notes,
        n_kernels=kernel_rows.n_written,
        n_incomplete=range_rows.n_incomplete,
        end_ns=max(ranges.last_ns, kernel_rows.last_ns),
        options=options,
    )
    file.finish()
