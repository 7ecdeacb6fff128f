"""This machine, in words."""

from pathlib import Path

import psutil
import pytest

from specscope.machine import machine_words


def with_tool(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    tool = folder / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_without_a_gpu_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    words = dict(machine_words())
    assert words["GPU"] == "none found: models run on the processor"
    assert f"{psutil.virtual_memory().total / 2**30:.0f} GiB" in words["Memory"]


def test_gpus_are_named_by_their_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_tool(tmp_path, monkeypatch, "echo 'NVIDIA H100 80GB HBM3, 81559 MiB'")
    assert dict(machine_words())["GPU"] == "NVIDIA H100 80GB HBM3, 81559 MiB"


def test_a_driver_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_tool(tmp_path, monkeypatch, "exit 9")
    assert "does not answer" in dict(machine_words())["GPU"]
