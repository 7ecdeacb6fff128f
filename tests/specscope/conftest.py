"""The commands on toy models, in the engine's own process."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from engine.wire.client import EngineClient
from specscope.cli import main

RunCommand = Callable[..., Result]


@pytest.fixture
def run_command(monkeypatch: pytest.MonkeyPatch) -> RunCommand:
    """``run_command("run", "some text", "--json")``: a command on toy models."""
    start = partial(EngineClient.start, program="tests.support.toy_engine")
    monkeypatch.setattr("specscope.headless.EngineClient.start", start)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, list(arguments))

    return invoke


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of the test's own; its library is empty."""
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(tmp_path))
    return tmp_path
