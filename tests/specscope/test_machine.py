"""This machine, in words."""

from importlib.machinery import ModuleSpec
from pathlib import Path

import psutil
import pytest

from specscope import machine
from specscope.machine import has_gpu, machine_words


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


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("__version__ = '2.13.0+cu128'\ncuda: Optional[str] = '12.8'\nhip = None\n", True),
        ("__version__ = '2.13.0+cpu'\ncuda: Optional[str] = None\nhip = None\n", False),
        ("__version__ = '2.13.0'\ncuda: Optional[str] = None\nhip = None\n", False),  # Windows'
        ("__version__ = '2.13.0'\ncuda = '13.0'\n", True),
        ("", False),
    ],
)
def test_a_gpu_needs_its_driver_and_a_torch_that_was_built_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str, found: bool
) -> None:
    torch = ModuleSpec("torch", None, is_package=True)
    torch.submodule_search_locations = [str(tmp_path)]
    (tmp_path / "version.py").write_text(told)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: torch)
    monkeypatch.setattr(machine, "_DRIVER", tmp_path / "none")
    monkeypatch.setenv("PATH", "")
    assert not has_gpu()
    with_tool(tmp_path, monkeypatch, "exit 0")
    assert has_gpu() is found


def test_this_torch_is_known_without_loading_it() -> None:
    import torch

    assert machine._torch_has_cuda() is (torch.version.cuda is not None)
