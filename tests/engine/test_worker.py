import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import msgspec
import psutil
import pytest

from engine.wire.codec import decode_event, encode
from engine.wire.commands import CloseQueue, Shutdown, SubmitPrompt
from engine.wire.config import RunConfig
from engine.wire.doorway import Doorway, Greeting
from engine.wire.events import EndReason, Event, LogEmitted, SessionEnded
from tests.support.stream_rules import check_stream

ROOT = Path(__file__).resolve().parents[2]

CALLER = """
import sys, threading
from engine.wire.client import EngineClient
from engine.wire.commands import SubmitPrompt
from engine.wire.config import RunConfig

client = EngineClient.start(
    RunConfig(target=sys.argv[2], telemetry=False), program="tests.support.fake_engine"
)
client.send(SubmitPrompt(text=sys.argv[1]))
print(client.process_id, flush=True)
threading.Event().wait()
"""


class Worker:
    """A worker process, and the other end of its connection."""

    def __init__(self, *, target: str = "fake") -> None:
        doorway = Doorway()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.fake_engine"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
        )
        greeting = Greeting(
            address=doorway.address,
            authkey=doorway.authkey.hex(),
            configs=(RunConfig(target=target, telemetry=False),),
        )
        assert self.process.stdin is not None
        self.process.stdin.write(msgspec.json.encode(greeting) + b"\n")
        self.process.stdin.flush()
        connection = doorway.accept()
        assert connection is not None
        self.connection: Connection = connection

    def read(self) -> list[Event]:
        """All events, up to the end."""
        events: list[Event] = []
        try:
            while True:
                events += map(decode_event, self.connection.recv_bytes().split(b"\n"))
        except EOFError:
            return events

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.connection.close()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.close()


def test_a_whole_session(worker: Worker) -> None:
    for command in (SubmitPrompt(text="steps 2"), CloseQueue()):
        worker.connection.send_bytes(encode(command))
    events = worker.read()
    check_stream(events)
    ended = events[-1]
    assert isinstance(ended, SessionEnded)
    assert ended.reason is EndReason.FINISHED
    assert worker.process.wait(10.0) == 0
    assert worker.process.stdout is not None
    assert worker.process.stdout.read() == b"", "standard output is for libraries that print"


def test_what_is_no_command_is_answered(worker: Worker) -> None:
    worker.connection.send_bytes(b"nonsense")
    worker.connection.send_bytes(b'{"kind":"SetGamma"}')
    worker.connection.send_bytes(encode(Shutdown()))
    events = worker.read()
    messages = [event.message for event in events if isinstance(event, LogEmitted)]
    assert len(messages) == 2
    assert all(message.startswith("A command could not be read") for message in messages)
    check_stream(events)


def test_standard_input_is_closed_to_libraries(worker: Worker) -> None:
    fd = Path(f"/proc/{worker.process.pid}/fd/0")
    if not fd.exists():
        pytest.skip("no /proc")
    worker.connection.send_bytes(encode(SubmitPrompt(text="forever")))
    first = decode_event(worker.connection.recv_bytes().split(b"\n")[0])
    assert first.ordinal == 0
    assert str(fd.readlink()) == "/dev/null"


@pytest.mark.parametrize(
    ("text", "target"), [("forever", "fake"), ("hang", "fake"), ("forever", "slow")]
)
def test_ends_within_two_seconds_of_a_caller_that_was_killed(text: str, target: str) -> None:
    caller = subprocess.Popen(
        [sys.executable, "-c", CALLER, text, target], stdout=subprocess.PIPE, cwd=ROOT
    )
    with caller:
        assert caller.stdout is not None
        engine = psutil.Process(int(caller.stdout.readline()))
        caller.kill()
        caller.wait()
        start_s = time.monotonic()
        psutil.wait_procs([engine], timeout=10.0)
        assert time.monotonic() - start_s < 5.0  # two where a core is to spare
        assert not engine.is_running() or engine.status() == psutil.STATUS_ZOMBIE


def test_a_worker_without_a_greeting_says_what_is_wrong() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "engine.worker"],
        input=json.dumps({"address": "x"}).encode() + b"\n",
        capture_output=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert b"authkey" in done.stderr


def test_torch_is_not_loaded_before_the_connection() -> None:
    program = (
        "import engine.worker, sys; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT, timeout=60)


@pytest.mark.skipif(not hasattr(signal, "SIGTERM"), reason="no such signal")
def test_terminated_while_idle(worker: Worker) -> None:
    reading: list[Event] = []
    thread = threading.Thread(target=lambda: reading.extend(worker.read()))
    first = worker.connection.recv_bytes()
    thread.start()
    worker.process.terminate()
    thread.join(10.0)
    events = [*map(decode_event, first.split(b"\n")), *reading]
    check_stream(events)
    ended = events[-1]
    assert isinstance(ended, SessionEnded)
    assert ended.detail == "terminated"
    assert worker.process.wait(10.0) == 0
