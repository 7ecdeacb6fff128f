"""NVTXT, held to its documented grammar by a small parser."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from engine.wire.events import DraftVerified, Fate, SpansMeasured
from sessions.export.nvtxt import write_nvtxt
from sessions.export.options import ExportOptions, StepRange
from tests.support.event_script import EventScript
from tests.support.export_streams import cancelled_inside_verify, gpu_session, two_sequences

FIELDS = {"RangeStartEnd": ("Start", "End", "ThreadId", "Message"),
          "Marker": ("Time", "ThreadId", "Message")}  # fmt: skip
CONSTANTS = {"ProcessId": r"\d+", "CategoryId": r"\d+", "Color": "Blue|Red", "TimeBase": "Manual"}


@dataclass
class Parsed:
    name: str = ""
    templates: dict[str, dict[str, str]] = field(default_factory=dict)
    records: list[tuple[str, list[object]]] = field(default_factory=list)

    def ranges(self) -> list[tuple[int, int, str]]:
        kept = (values for kind, values in self.records if kind == "RangeStartEnd")
        return sorted((start, end, text) for start, end, _, text in kept)


def parse(path: Path) -> Parsed:
    """A line is a command, a template (``@``), a constant of the newest template, or a record of a
    template that was given: integers and one quoted string."""
    parsed = Parsed()
    newest: dict[str, str] | None = None
    for line in path.read_text(encoding="utf-8").splitlines():
        if match := re.fullmatch(r"SetFileDisplayName, ([^,\"]+)", line):
            parsed.name = match[1]
        elif match := re.fullmatch(r"@(\w+)((?:, \w+)+)", line):
            assert tuple(match[2].removeprefix(", ").split(", ")) == FIELDS[match[1]]
            newest = parsed.templates[match[1]] = {}
        elif match := re.fullmatch(r"(\w+) = (\w+)", line):
            assert newest is not None
            assert re.fullmatch(CONSTANTS[match[1]], match[2])
            newest[match[1]] = match[2]
        else:
            match = re.fullmatch(r"(\w+)((?:, \d+)+), \"([^\"\n]*)\"", line)
            assert match, f"no line of the format: {line}"
            numbers = [int(number) for number in match[2].removeprefix(", ").split(", ")]
            assert len(numbers) + 1 == len(FIELDS[match[1]])
            assert match[1] in parsed.templates
            parsed.records.append((match[1], [*numbers, match[3]]))
    assert all(set(template) == set(CONSTANTS) for template in parsed.templates.values())
    return parsed


def test_every_span_is_a_line(tmp_path: Path) -> None:
    path = tmp_path / "out.nvtxt"
    events = two_sequences()
    write_nvtxt(events, path)
    parsed = parse(path)
    assert parsed.name == "SpecScope"
    expected = sorted(
        (start, start + host, name)
        for event in events
        if isinstance(event, SpansMeasured)
        for name, start, host in zip(event.names, event.start_ns, event.host_ns, strict=True)
    )
    assert [one for one in parsed.ranges() if "prefill" not in one[2]] == expected
    assert {one[2] for one in parsed.ranges()} >= {"prefill draft", "prefill target"}
    marks = [values[0] for kind, values in parsed.records if kind == "Marker"]
    verdicts = [e for e in events if isinstance(e, DraftVerified) and Fate.REJECTED in e.fates]
    assert marks == [event.t_ns for event in verdicts]


def test_an_interrupted_step_says_so(tmp_path: Path) -> None:
    path = tmp_path / "out.nvtxt"
    write_nvtxt(cancelled_inside_verify(), path)
    messages = [message for _, _, message in parse(path).ranges()]
    assert messages.count("step (incomplete)") == messages.count("verify (incomplete)") == 1


def test_no_steps_is_a_header(tmp_path: Path) -> None:
    path = tmp_path / "out.nvtxt"
    script = EventScript()
    script.finish()
    write_nvtxt(script.events, path)
    parsed = parse(path)
    assert parsed.records == []
    assert set(parsed.templates) == set(FIELDS)


def test_a_part_without_single_tokens(tmp_path: Path) -> None:
    path = tmp_path / "out.nvtxt"
    write_nvtxt(gpu_session(5), path, options=ExportOptions(StepRange(1, 2), per_step=True))
    messages = [message for _, _, message in parse(path).ranges()]
    assert messages.count("step") == 2
    assert "draft_forward" not in messages
