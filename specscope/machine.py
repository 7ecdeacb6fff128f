"""What this machine has, in words, found without torch: its processor, memory and GPUs."""

import importlib.util
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import psutil

_PATIENCE_S = 5.0
_GIB = 2**30
_DRIVER = Path("/proc/driver/nvidia/version")
_CUDA = re.compile(r"^cuda\b[^=\n]*=\s*(\S+)", re.MULTILINE)


def machine_words() -> Sequence[tuple[str, str]]:
    """Names and words, for the start page. May take a second: a driver is asked."""
    cores = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    memory = psutil.virtual_memory()
    return (
        ("GPU", _gpus() or "none found: models run on the processor"),
        ("Processor", f"{_processor()}, {cores} cores"),
        ("Memory", f"{memory.total / _GIB:.0f} GiB, {memory.available / _GIB:.0f} GiB free"),
        ("System", f"{platform.system()} {platform.release()}, Python {platform.python_version()}"),
    )


def has_gpu() -> bool:
    """Whether torch was built for GPUs and NVIDIA's driver is here; both are quick to see."""
    has_driver = shutil.which("nvidia-smi") is not None or _DRIVER.exists()
    return has_driver and _torch_has_cuda()


def _torch_has_cuda() -> bool:
    """By what torch says of its build, in a file that can be read without loading it. The version's
    ending does not tell: the package index has CPU builds for Windows without any."""
    spec = importlib.util.find_spec("torch")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        try:
            text = (Path(folder) / "version.py").read_text(encoding="utf-8")
        except OSError:
            continue
        told = _CUDA.search(text)
        return told is not None and told[1] != "None"
    return False


def _processor() -> str:
    """The processor's own name where the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    except OSError:  # not Linux
        pass
    return platform.processor() or platform.machine()


def _gpus() -> str:
    """NVIDIA's GPUs by their driver's own tool; "" where there is none, or it does not answer."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ""
    try:
        done = subprocess.run(
            [tool, "--query-gpu=name,memory.total", "--format=csv,noheader"],
            capture_output=True, text=True, timeout=_PATIENCE_S, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return "the NVIDIA driver does not answer: see `specscope doctor`"
    return ", ".join(line.strip() for line in done.stdout.splitlines() if line.strip())
