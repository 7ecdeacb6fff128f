"""A Chrome trace being written: one JSON object, one event a line, plain or gzipped."""

import gzip
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from sessions.export.ranges import Nesting, do_nest

BUFFER_BYTES = 1 << 16
"""Larger texts take their memory from the system, and give it back, each time anew."""

_SEPARATOR = ",\n"
_COMPLETE, _INSTANT, _COUNTER = '"ph":"X"', '"ph":"i","s":"t"', '"ph":"C"'

_encode = msgspec.json.Encoder().encode  # NaN and infinity would become null


_DECIMALS = [f".{thousandths:03d}" for thousandths in range(1000)]
"""Looking them up is quicker than writing three digits."""


def microseconds(ns: int) -> str:
    """``ns`` as a JSON number of microseconds, exactly: 300 is ``0.300``."""
    return f"{ns // 1000}{_DECIMALS[ns % 1000]}" if ns >= 0 else f"-{microseconds(-ns)}"


def all_microseconds(all_ns: Iterable[int]) -> list[str]:
    """``microseconds`` of many, none of them negative."""
    return [f"{ns // 1000}{_DECIMALS[ns % 1000]}" for ns in all_ns]


class TraceFile:
    """Events of one process, by kind. Times are ns since the session's start.

    Args:
        path: where to write.
        is_gzipped: whether to compress.
    """

    def __init__(self, path: Path, *, is_gzipped: bool) -> None:
        self._raw = path.open("wb")
        self._file = gzip.GzipFile("", "wb", 6, self._raw, mtime=0) if is_gzipped else self._raw
        self._buffer: list[str] = []
        self._n_buffered = 0
        self._before = '{"traceEvents":[\n'  # what comes before the next event
        self.process_id = 1

    def metadata(self, kind: str, tid: int, **args: Any) -> None:
        self._add(f'{{"ph":"M","name":"{kind}",{self._at(tid)},"args":{as_json(args)}}}')

    def complete(
        self, name: str, category: str, tid: int, start_ns: int, end_ns: int, args: str
    ) -> None:
        """``args``, here and below, is an object in JSON."""
        self._add(
            f"{_head(_COMPLETE, name, category, self.process_id, tid)}{microseconds(start_ns)},"
            f'"dur":{microseconds(end_ns - start_ns)},"args":{args}}}'
        )

    def step_template(
        self, ranges: Sequence[tuple[str, str, int]], arrows: Sequence[tuple[str, int, int]]
    ) -> str:
        """What ``complete`` and ``flow`` write of steps of the same ranges, to be filled by ``%``:
        of each range the start, the length and the arguments, their last brace left out, then of
        each arrow its number and the start of its source, its number and the start of its sink.

        Args:
            ranges: name, category and lane of each.
            arrows: name of each, and the lanes of both ends.
        """
        heads = [
            _head(_COMPLETE, name, category, self.process_id, tid) for name, category, tid in ranges
        ]
        events = [f'{head.replace("%", "%%")}%s,"dur":%s,"args":%s}}}}' for head in heads]
        return _SEPARATOR.join([*events, *(self._arrow(*each) for each in arrows)])

    def add(self, events: str) -> None:
        """Events that are written out already, by a template."""
        self._add(events)

    def instant(self, name: str, category: str, tid: int, t_ns: int, args: str) -> None:
        head = _head(_INSTANT, name, category, self.process_id, tid)
        self._add(f'{head}{microseconds(t_ns)},"args":{args}}}')

    def counter(self, name: str, t_ns: int, args: str) -> None:
        head = _head(_COUNTER, name, "", self.process_id, 0)
        self._add(f'{head}{microseconds(t_ns)},"args":{args}}}')

    def flow(self, name: str, number: int, source: tuple[int, int], sink: tuple[int, int]) -> None:
        """An arrow between two ranges, each given as the lane and a time within."""
        (tid, t_ns), (sink_tid, sink_ns) = source, sink
        values = (number, microseconds(t_ns), number, microseconds(sink_ns))
        self._add(self._arrow(name, tid, sink_tid) % values)

    def finish(self, about: dict[str, Any]) -> None:
        """Close the object; ``about`` is what the file says of the session."""
        self._write()
        end = f'\n],"displayTimeUnit":"ns","otherData":{as_json(about)}}}\n'
        self._file.write(end.encode())

    def close(self) -> None:
        """Let go of the file, whole or not."""
        try:
            self._file.close()
        finally:
            self._raw.close()

    def _arrow(self, name: str, source_tid: int, sink_tid: int) -> str:
        """Both ends of an arrow; its number and a time are to be filled in, twice."""
        common = f'"name":{as_json(name).replace("%", "%%")},"cat":"flow","id":%s'
        return _SEPARATOR.join(
            f'{{"ph":{kind},{common},{self._at(tid)},"ts":%s}}'
            for kind, tid in (('"s"', source_tid), ('"f","bp":"e"', sink_tid))
        )

    def _at(self, tid: int) -> str:
        return f'"pid":{self.process_id},"tid":{tid}'

    def _add(self, text: str) -> None:
        self._buffer.append(text)
        self._n_buffered += len(text)
        if self._n_buffered > BUFFER_BYTES:
            self._write()

    def _write(self) -> None:
        if self._buffer:
            self._file.write(f"{self._before}{_SEPARATOR.join(self._buffer)}".encode())
            self._before = _SEPARATOR
        self._buffer.clear()
        self._n_buffered = 0


_Bounds = tuple[Mapping[str, Sequence[int]], Sequence[int], Sequence[int]]
"""Of a step: lane -> its ranges, the starts of all ranges, and their ends."""


class Lanes:
    """The lanes of a trace: named threads on which ranges nest or are apart.

    A range that fits on no lane of its name opens one more.
    """

    def __init__(self, file: TraceFile) -> None:
        self._file = file
        self._lanes: dict[str, list[tuple[int, Nesting]]] = {}
        self._n_lanes = 0
        self._last_end_ns = -1  # of all ranges on all lanes
        self._unplaced: dict[str, _Bounds] = {}  # lane -> the newest step that is on it

    def tid(self, name: str) -> int:
        """The first lane of that name."""
        if name not in self._lanes:
            self._open(name)
        return self._lanes[name][0][0]

    def place(self, name: str, start_ns: int, end_ns: int) -> int:
        """The first lane of that name on which the range fits, which it then takes."""
        self._last_end_ns = max(self._last_end_ns, end_ns)
        for tid, nesting in self._placed(name):
            if nesting.fits(start_ns, end_ns):
                return tid
        tid, nesting = self._open(name)
        nesting.fits(start_ns, end_ns)
        return tid

    def place_all(
        self, places: Mapping[str, Sequence[int]], starts_ns: Sequence[int], ends_ns: Sequence[int]
    ) -> bool:
        """Whether all of a step's ranges fit on the first lanes of their names, which then take
        them; else none is taken.

        Args:
            places: by name of the lane, which of the ranges are for it.
            starts_ns: increasing.
        """
        is_next = starts_ns[0] > self._last_end_ns and places.keys() <= self._lanes.keys()
        if is_next and do_nest(starts_ns, ends_ns):
            # What nests as a whole nests on each lane: what is there is seen when it matters.
            self._unplaced.update(dict.fromkeys(places, (places, starts_ns, ends_ns)))
            self._last_end_ns = max(ends_ns)
            return True
        following = []
        for name, indexes in places.items():
            lanes = self._placed(name)
            bounds = [(starts_ns[index], ends_ns[index]) for index in indexes]
            nesting = lanes[0][1].with_all(bounds) if lanes else None
            if not lanes or nesting is None:
                return False
            following.append((lanes, (lanes[0][0], nesting)))
        for lanes, first in following:
            lanes[0] = first
        self._last_end_ns = max(self._last_end_ns, *ends_ns)
        return True

    def _placed(self, name: str) -> list[tuple[int, Nesting]]:
        """The lanes of that name, if any, as they are by now."""
        lanes = self._lanes.get(name, [])
        if name in self._unplaced:
            places, starts_ns, ends_ns = self._unplaced.pop(name)
            bounds = [(starts_ns[index], ends_ns[index]) for index in places[name]]
            nesting = Nesting().with_all(bounds)  # all others on that lane ended before
            assert nesting is not None
            lanes[0] = (lanes[0][0], nesting)
        return lanes

    def _open(self, name: str) -> tuple[int, Nesting]:
        lanes = self._lanes.setdefault(name, [])
        self._n_lanes += 1
        lane = (self._n_lanes, Nesting())
        lanes.append(lane)
        label = name if len(lanes) == 1 else f"{name} ({len(lanes)})"
        self._file.metadata("thread_name", self._n_lanes, name=label)
        self._file.metadata("thread_sort_index", self._n_lanes, sort_index=self._n_lanes)
        return lane


def as_json(value: Any) -> str:
    return _encode(value).decode()


@lru_cache(1024)
def _head(phase: str, name: str, category: str, process_id: int, tid: int) -> str:
    """An event's text up to its time: the same for thousands."""
    about = f',"cat":"{category}"' if category else ""
    return f'{{{phase},"name":{as_json(name)}{about},"pid":{process_id},"tid":{tid},"ts":'
