"""Ranges and kernels of a Chrome trace, each on its lane, and the arrows between them."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from engine.wire.events import Role, SpansMeasured
from sessions.export.chrome_trace_tokens import TraceTokens
from sessions.export.kernels import Kernel
from sessions.export.ranges import NO_STEP, PER_TOKEN, HostRange
from sessions.export.trace_file import Lanes, TraceFile, all_microseconds, as_json

ENGINE_LANE = "engine"
LANES: dict[Role | None, str] = {None: ENGINE_LANE, Role.DRAFT: "draft", Role.TARGET: "target"}

_ARROW = "draft to verify"
_NUMBERS = ("gpu_ns", "n_flops", "n_bytes", "sequence_id")
_MOST_KNOWN = 1000
_NO_NUMBERS = (None,) * len(_NUMBERS)
_FIRST_NUMBER = HostRange._fields.index(_NUMBERS[0])
assert HostRange._fields[_FIRST_NUMBER:][: len(_NUMBERS)] == _NUMBERS


class _Step(NamedTuple):
    """What steps of the same ranges have in common; ranges by their place in the step."""

    roles: tuple[Role | None, ...]
    template: str  # of TraceFile
    places: dict[str, list[int]]  # lane -> the ranges on it
    with_tokens: list[int]
    arrows: list[tuple[int, int]]  # from a draft to a verify


class TraceRanges:
    """Writes ranges in the order they come; a step's tokens go with its draft and its verify."""

    def __init__(self, file: TraceFile, lanes: Lanes, tokens: TraceTokens) -> None:
        self._file = file
        self._lanes = lanes
        self._tokens = tokens
        self._n_flows = 0
        self._steps: dict[tuple[str, ...], _Step] = {}  # by the names of the ranges
        self.n_incomplete = 0

    def add_step(self, event: SpansMeasured, ends: Sequence[int] | None) -> bool:
        """Write a step's ranges together, the quick way. False, and nothing is written, where not
        all of them fit on the first lanes.

        Args:
            ends: what ``RangeReader.read_plain`` said of the step.
        """
        if not ends or event.step == NO_STEP:
            return False
        step = self._steps.get(event.names)
        if step is None or step.roles != event.roles:  # asked thus: enums take long to hash
            step = self._same(event)
        if not self._lanes.place_all(step.places, event.start_ns, ends):
            return False
        args = _step_arguments(event)
        for place in step.with_tokens:
            if sequences := self._tokens.take(event.names[place], event.step):
                args[place] = f'{args[place]},"sequences":{sequences}'
        starts = all_microseconds(event.start_ns)
        values = chain.from_iterable(
            zip(starts, all_microseconds(event.host_ns), args, strict=True)
        )
        arrows: list[object] = []
        for draft, verify in step.arrows:
            self._n_flows += 1
            arrows += (self._n_flows, starts[draft], self._n_flows, starts[verify])
        self._file.add(step.template % (*values, *arrows))
        return True

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
                self._arrow(source, (tid, told.start_ns))
                source = None

    def add_gpu(self, event: SpansMeasured, *, per_step: bool) -> None:
        """A step's spans when the device was at them, beside the host's of the same names."""
        spans = [
            (start_ns, start_ns + gpu_ns, name, role)
            for start_ns, gpu_ns, name, role in zip(
                event.gpu_start_ns, event.gpu_ns, event.names, event.roles, strict=True
            )
            if start_ns is not None and gpu_ns is not None
            if not (per_step and name == PER_TOKEN)
        ]
        args = "{}" if event.step == NO_STEP else f'{{"step":{event.step}}}'
        for start_ns, end_ns, name, role in sorted(spans, key=lambda span: (span[0], -span[1])):
            tid = self._lanes.place(f"GPU {LANES[role]}", start_ns, end_ns)
            self._file.complete(name, "gpu", tid, start_ns, end_ns, args)

    def add_kernels(self, kernels: list[Kernel]) -> None:
        for kernel in sorted(kernels, key=lambda kernel: (kernel.start_ns, -kernel.end_ns)):
            lane = f"GPU stream {kernel.stream}"
            tid = self._lanes.place(lane, kernel.start_ns, kernel.end_ns)
            args = {"step": kernel.step, "stream": kernel.stream, "span": kernel.span_name}
            start, end = kernel.start_ns, kernel.end_ns
            self._file.complete(kernel.name, "kernel", tid, start, end, as_json(args))

    def _arrow(self, source: tuple[int, int], sink: tuple[int, int]) -> None:
        self._n_flows += 1
        self._file.flow(_ARROW, self._n_flows, source, sink)

    def _same(self, event: SpansMeasured) -> _Step:
        names = event.names
        lanes = [LANES[role] for role in event.roles]
        tids = [self._lanes.tid(lane) for lane in lanes]
        places: dict[str, list[int]] = {}
        with_tokens: dict[str, int] = {}
        arrows = []
        draft: int | None = None
        for place, (name, lane) in enumerate(zip(names, lanes, strict=True)):
            places.setdefault(lane, []).append(place)
            if name in ("draft", "verify"):
                with_tokens.setdefault(name, place)
            if name == "draft":
                draft = place
            elif name == "verify" and draft is not None:
                arrows.append((draft, place))
                draft = None
        template = self._file.step_template(
            [(name, "host", tid) for name, tid in zip(names, tids, strict=True)],
            [(_ARROW, tids[source], tids[sink]) for source, sink in arrows],
        )
        if len(self._steps) == _MOST_KNOWN:
            self._steps.clear()
        step = _Step(event.roles, template, places, list(with_tokens.values()), arrows)
        self._steps[names] = step
        return step

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
        sequences = self._tokens.take(told.name, told.step)
        if sequences:
            args.append(f'"sequences":{sequences}')
        return f"{{{','.join(args)}}}"


def _step_arguments(event: SpansMeasured) -> list[str]:
    """Of each range of a step, as JSON."""
    args = [f'{{"step":{event.step}'] * len(event.names)
    for name, values in (
        ("gpu_ns", event.gpu_ns), ("n_flops", event.n_flops), ("n_bytes", event.n_bytes),
    ):  # fmt: skip
        if values.count(None) < len(values):
            args = [
                arg if value is None else f'{arg},"{name}":{value}'
                for arg, value in zip(args, values, strict=True)
            ]
    return args
