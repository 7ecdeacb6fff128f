"""What every test must keep to: it leaves no thread and no process behind."""

import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from hypothesis import settings

from tests.support.nvtx_injection import Injection, build_injection, find_c_compiler

# A starved machine makes no example wrong: what may not take long is measured where it matters.
settings.register_profile("specscope", deadline=None)
settings.load_profile("specscope")

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # windows need no display here
if "PYTEST_XDIST_WORKER" in os.environ:  # the cores are shared out already
    os.environ.setdefault("OMP_NUM_THREADS", "1")

GRACE_S = 2.0
"""How long something that is ending may still take."""

SHARED_THREADS = {"tqdm_monitor"}
SHARED_PROCESSES = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")
"""Started once by a library, for the rest of the process."""


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Iterator[None]:
    """Fail a test that leaves a thread or a child process; a left process is also ended."""
    threads, processes = set(threading.enumerate()), set(_children())
    yield
    left = [thread for thread in threading.enumerate() if thread not in threads | _shared()]
    deadline = time.monotonic() + GRACE_S
    for thread in left:
        thread.join(max(0.0, deadline - time.monotonic()))
    names = [f"thread {thread.name!r}" for thread in left if thread.is_alive()]
    children = [child for child in _children() if child not in processes]
    _, alive = psutil.wait_procs(children, timeout=GRACE_S)
    for child in alive:
        names.append(f"process {child.pid} {_command(child)!r}")
        child.kill()
    if names:
        pytest.fail(f"left behind: {', '.join(names)}", pytrace=False)


@pytest.fixture(autouse=True)
def _no_window_left() -> Iterator[None]:
    """Delete the windows a test has closed: outside an event loop Qt keeps them, and every style
    sheet that is set afterwards dresses them, too."""
    yield
    widgets = sys.modules.get("PySide6.QtWidgets")
    application = None if widgets is None else widgets.QApplication.instance()
    if application is not None:
        application.sendPostedEvents(None, sys.modules["PySide6.QtCore"].QEvent.Type.DeferredDelete)
        if application.styleSheet():
            application.setStyleSheet("")


@pytest.fixture
def nvtx_injection(tmp_path: Path) -> Injection:
    """A library that logs the NVTX calls of programs started with its ``environment``."""
    if sys.platform == "win32":
        pytest.skip("the library is built for POSIX")
    if find_c_compiler() is None:
        pytest.skip("no C compiler")
    return build_injection(tmp_path)


def _shared() -> set[threading.Thread]:
    return {
        thread
        for thread in threading.enumerate()
        if thread.name in SHARED_THREADS or type(thread).__name__ == "TMonitor"
    }


def _children() -> list[psutil.Process]:
    lists = list(Path("/proc/self/task").glob("*/children"))  # one a thread; on Linux alone
    if lists and not any(map(_has_content, lists)):
        return []  # quicker than to ask every process of the machine for its parent
    children = psutil.Process().children(recursive=True)
    return [child for child in children if not any(s in _command(child) for s in SHARED_PROCESSES)]


def _has_content(path: Path) -> bool:
    try:
        return bool(path.read_bytes())
    except OSError:  # its thread has just ended
        return False


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # it has just ended
        return ""
