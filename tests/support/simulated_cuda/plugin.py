"""A pytest plugin: ``-p tests.support.simulated_cuda.plugin`` gives all tests the device."""

from contextlib import ExitStack
from typing import Any

from tests.support.simulated_cuda.device import simulated_cuda

_OPENED = ExitStack()
_OPENED.enter_context(simulated_cuda())  # now: files of tests look for a device when imported


def pytest_unconfigure(config: Any) -> None:
    _OPENED.close()
