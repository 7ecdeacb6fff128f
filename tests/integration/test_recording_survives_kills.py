"""A recording process may be killed at any moment: its file opens, and misses a moment at most."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.wire.events import EndReason
from sessions.replay import StoredSource
from sessions.session_file import SessionFile
from tests.support.stream_rules import check_stream

ROOT = Path(__file__).resolve().parents[2]

N_PROCESSES = 2
N_KILLS = 100
"""Of each process."""

MAX_MISSING_NS = 250_000_000
STARVED_NS = 3_000_000_000
"""What may be missing when the machine gave the writer's thread no time."""

KILLER = '''
"""Forks one recording process after another and kills each at a random moment.

Forks, because importing takes longer than most of them live. What a child has said, and what it
knows is saved, comes through a pipe, as it was when the child died.
"""
import json, os, random, select, signal, sys, time
from pathlib import Path

from sessions.recorder import Recorder
from tests.support.event_script import EventScript

folder, n_kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])


def record(path, pipe):
    recorder = Recorder(path)
    script = EventScript(n_blocks=100_000)
    script.sequence(max_new_tokens=10**6)
    n_said = 0
    while True:
        script.step()
        recorder.consume(script.events[n_said:])
        n_said = len(script.events)
        line = [n_said - 1, time.monotonic_ns(), recorder.status.saved_ordinal]
        os.write(pipe, json.dumps(line).encode() + b"\\n")
        time.sleep(0.001)


chance = random.Random(seed)
for number in range(n_kills):
    path = folder / f"{seed}-{number}.specscope"
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        record(path, writing)
    os.close(writing)
    until = time.monotonic() + chance.choice([0.02, 0.1, 0.2, 0.4]) * (0.5 + chance.random())
    told = b""
    while (left := until - time.monotonic()) > 0:
        if select.select([reading], [], [], left)[0]:
            told += os.read(reading, 65536)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(reading, 65536):
        told += more
    os.close(reading)
    lines = [json.loads(line) for line in told.split(b"\\n")[:-1]]
    print(json.dumps({"path": str(path), "told": lines}), flush=True)
'''


def missing_ns(told: list[tuple[int, int, int]], last_ordinal: int) -> int:
    """How long before the last word the first event was said that is not in the file."""
    lost = [said_ns for ordinal, said_ns, _ in told if ordinal > last_ordinal]
    return told[-1][1] - lost[0] if lost else 0


def check_file(path: Path, told: list[tuple[int, int, int]]) -> int:
    """See that the file holds what was known to be saved; returns what is missing, in ns."""
    with SessionFile.open(path) as file:
        summary = file.summary()
        assert summary.end_reason is EndReason.CRASHED
        last = file.last_event()
    last_ordinal = -1 if last is None else last.ordinal
    assert summary.counts.n_events == last_ordinal + 1
    source = StoredSource(SessionFile.open(path))
    events = list(source.poll(1_000_000))
    source.close()
    assert len(events) == last_ordinal + 2  # with the farewell that was put in
    if last is not None:
        check_stream(events)
    if not told:
        return 0
    assert last_ordinal >= told[-1][2], "what was said to be saved is not there"
    return missing_ns(told, last_ordinal)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_a_file_survives_two_hundred_kills(tmp_path: Path) -> None:
    killers = [
        subprocess.Popen(
            [sys.executable, "-c", KILLER, str(tmp_path), str(N_KILLS), str(seed)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
        )
        for seed in range(N_PROCESSES)
    ]
    results: list[dict[str, Any]] = []
    for killer in killers:
        output, _ = killer.communicate(timeout=200)
        assert killer.returncode == 0
        results += [json.loads(line) for line in output.splitlines()]
    assert len(results) == N_PROCESSES * N_KILLS
    missing = []
    n_unmade = 0
    for result in results:
        path = Path(result["path"])
        if not path.exists() or path.stat().st_size == 0:
            n_unmade += 1  # killed before there was a file
            assert all(saved == -1 for _, _, saved in result["told"])
            continue
        missing.append(check_file(path, result["told"]))
    assert n_unmade < len(results) / 2
    late = [ns for ns in missing if ns > MAX_MISSING_NS]
    assert len(late) <= len(missing) // 20, f"missing more than 250 ms: {late}"
    assert max(missing) < STARVED_NS
