"""The tests that need a GPU, on a simulated one: its rules are kept and graphs are recorded, so
what they show of the host's code holds; times, kernels, counters and memory need the real one."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.device import timing
from engine.device.graphs import CudaGraphs
from engine.kv import pool_attention
from engine.kv.pool_attention import PAGED
from engine.models.loading import load_pair
from engine.wire.events import LogEmitted, SpansMeasured
from tests.gpu.runs import PROMPTS, make_engine, of_kind, run, settings, submit, texts
from tests.support.simulated_cuda.device import simulated_cuda
from tests.support.simulated_cuda.flash_attention import KERNELS

ROOT = Path(__file__).resolve().parents[3]
GPU_TESTS = ROOT / "tests" / "gpu"
PARTS = {
    "greedy, captured": ("test_greedy_text.py", "captured", 8),
    "greedy, else": ("test_greedy_text.py", "not captured", 14),
    "sampled": ("test_sampled_text.py", "", 2),
    "waits": ("test_waits.py", "", 10),
}
"""Files of ``tests/gpu``, which of their tests, and how many have all they need here."""


@pytest.mark.slow
@pytest.mark.parametrize("part", list(PARTS))
def test_on_the_simulated_device(part: str) -> None:
    file, names, n_possible = PARTS[part]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-c", str(ROOT / ".ci/gpu.ini")]
    command += ["--rootdir", str(ROOT), "--confcutdir", str(GPU_TESTS)]
    command += ["-p", "tests.support.simulated_cuda.plugin"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [*command, "-k", names, str(GPU_TESTS / file)],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert re.search(rf"\b{n_possible} passed", done.stdout), done.stdout[-2000:]


def test_block_tables_where_newer_kernels_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_attention, "_activate_newer_kernels", KERNELS.activate)
    said_by = {}
    with simulated_cuda():
        pair = load_pair(settings(dtype="bfloat16"), progress=lambda detail: None)
        for graphs in (True, False):
            engine, said = make_engine(pair, graphs=graphs, batch=3, max_new_tokens=12)
            submit(engine, PROMPTS)
            run(engine)
            step = engine._loop.device_step
            assert step is not None
            assert step.verification.modes.choose(are_side_by_side=False) == PAGED
            assert not [event for event in of_kind(said, LogEmitted) if event.level != "info"]
            assert {event.n_syncs for event in of_kind(said, SpansMeasured)} == {1}
            said_by[graphs] = texts(said)
    assert said_by[True] == said_by[False]
    assert sorted(map(len, said_by[True].values())) == [12, 12, 12]


def test_a_capture_that_fails_leaves_its_inputs_free_to_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Calibration comes next and fills the same ones, with nothing waited for in between."""

    def fail(graphs: CudaGraphs, function: Callable[[], Any]) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(CudaGraphs, "_record", fail)
    monkeypatch.setattr(timing.StepTimer.calibrate, "__kwdefaults__", {"budget_ns": 1})
    with simulated_cuda():
        pair = load_pair(settings(draft="none"), progress=lambda detail: None)
        engine, said = make_engine(pair, draft="none", calibrate=True, max_new_tokens=3)
        submit(engine, PROMPTS[:1])
        run(engine)
    assert [len(output) for output in texts(said).values()] == [3]
