"""Ranges and kernels of a Chrome trace, each on its lane, and the arrows between them."""

from collections.abc import Iterable

from engine.wire.events import Role
from sessions.export.chrome_trace_tokens import TraceTokens
from sessions.export.kernels import Kernel
from sessions.export.ranges import NO_STEP, HostRange
from sessions.export.trace_file import Lanes, TraceFile, as_json

ENGINE_LANE = "engine"
LANES: dict[Role | None, str] = {None: ENGINE_LANE, Role.DRAFT: "draft", Role.TARGET: "target"}

_NUMBERS = ("gpu_ns", "n_flops", "n_bytes", "sequence_id")
_NO_NUMBERS = (None,) * len(_NUMBERS)
_FIRST_NUMBER = HostRange._fields.index(_NUMBERS[0])
assert HostRange._fields[_FIRST_NUMBER:][: len(_NUMBERS)] == _NUMBERS


class TraceRanges:
    """Writes ranges in the order they come; a step's tokens go with its draft and its verify."""

    def __init__(self, file: TraceFile, lanes: Lanes, tokens: TraceTokens) -> None:
        self._file = file
        self._lanes = lanes
        self._tokens = tokens
        self._n_flows = 0
        self.n_incomplete = 0

    def add_ranges(self, ranges: Iterable[HostRange]) -> None:
        """The ranges of one event, outer ones first. An arrow leads from the step's draft to its
        verify."""
        source: tuple[int, int] | None = None
        for told in ranges:
            tid = self._lanes.place(LANES[told.role], told.start_ns, told.end_ns)
            args = self._arguments(told)
            self._file.complete(told.name, "host", tid, told.start_ns, told.end_ns, args)
            self.n_incomplete += told.is_incomplete
            if told.name == "draft":
                source = (tid, told.start_ns)
            elif told.name == "verify" and source is not None:
                self._n_flows += 1
                sink = (tid, told.start_ns)
                self._file.flow("draft to verify", self._n_flows, source, sink)
                source = None

    def add_kernels(self, kernels: list[Kernel]) -> None:
        for kernel in sorted(kernels, key=lambda kernel: (kernel.start_ns, -kernel.end_ns)):
            lane = f"GPU stream {kernel.stream}"
            tid = self._lanes.place(lane, kernel.start_ns, kernel.end_ns)
            args = {"step": kernel.step, "stream": kernel.stream, "span": kernel.span_name}
            start, end = kernel.start_ns, kernel.end_ns
            self._file.complete(kernel.name, "kernel", tid, start, end, as_json(args))

    def _arguments(self, told: HostRange) -> str:
        """As JSON; numbers need no encoder."""
        args = [] if told.step == NO_STEP else [f'"step":{told.step}']
        numbers = told[_FIRST_NUMBER : _FIRST_NUMBER + len(_NUMBERS)]
        if numbers != _NO_NUMBERS:
            args += [
                f'"{name}":{value}'
                for name, value in zip(_NUMBERS, numbers, strict=True)
                if value is not None
            ]
        if told.is_incomplete:
            args.append('"incomplete":true')
        sequences = self._tokens.take(told)
        if sequences:
            args.append(f'"sequences":{sequences}')
        return f"{{{','.join(args)}}}"
