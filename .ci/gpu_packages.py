"""What `.ci/gpu` needs besides torch: found on the machine, or unpacked from a folder of wheels."""

import importlib
import importlib.util
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BESIDE = Path(__file__).resolve().parent / "wheels"
VARIABLE = "SPECSCOPE_WHEELS"

NEEDED = {  # what is imported: what pip calls it
    "click": "click",
    "huggingface_hub": "huggingface_hub",
    "msgspec": "msgspec",
    "numpy": "numpy",
    "nvtx": "nvtx",
    "platformdirs": "platformdirs",
    "psutil": "psutil",
    "pynvml": "nvidia-ml-py",
    "pytest": "pytest",
    "rich": "rich",
    "safetensors": "safetensors",
    "sqlite_utils": "sqlite-utils",
    "tokenizers": "tokenizers",
    "torch": "torch",
    "transformers": "transformers",
    # What some of them need in turn.
    "click_default_group": "click-default-group",
    "dateutil": "python-dateutil",
    "iniconfig": "iniconfig",
    "markdown_it": "markdown-it-py",
    "mdurl": "mdurl",
    "packaging": "packaging",
    "pluggy": "pluggy",
    "pygments": "pygments",
    "sqlite_fts4": "sqlite-fts4",
    "tabulate": "tabulate",
}
NOT_NEEDED = ("PySide6-Essentials", "pyqtgraph", "gguf")
"""Of the project's dependencies: the window's, and the reader of a format that is not used here."""

_PLATFORMS = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014", "manylinux1")


class PackagesMissing(Exception):
    """One sentence: which, and how to bring them along."""


def environment_with(packages: Path) -> dict[str, str]:
    """The environment for the parts of the check, what the machine lacks unpacked into the new
    folder ``packages``. The machine's own environment stays as it is.

    Raises:
        PackagesMissing: the machine has not all of it, and neither has the folder of wheels.
    """
    wheels = wheels_folder()
    reason = _unpack(missing(), wheels, packages) if wheels is not None else ""
    sys.path.insert(0, str(packages))
    importlib.invalidate_caches()
    try:
        still_missing = missing()
    finally:
        sys.path.remove(str(packages))
    if still_missing:
        raise PackagesMissing(_sentence(still_missing, wheels, reason))
    paths = (str(packages), str(ROOT), os.environ.get("PYTHONPATH", ""))
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        # Whatever plugins of pytest a machine has, the tests run with none of them.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


def missing() -> list[str]:
    """What pip calls the packages that cannot be imported."""
    return [name for module, name in NEEDED.items() if not _is_there(module)]


def wheels_folder() -> Path | None:
    """The folder that was named, or the one beside this file; None where there is none."""
    named = os.environ.get(VARIABLE)
    folder = Path(named) if named else BESIDE
    return folder if folder.is_dir() else None


def download_command(names: Iterable[str]) -> str:
    """A command that fetches wheels for this machine's Python and platform, on any machine."""
    version, machine = ".".join(platform.python_version_tuple()[:2]), platform.machine()
    platforms = " ".join(f"--platform {each}_{machine}" for each in _PLATFORMS)
    return (
        "python3 -m pip download --no-deps --only-binary=:all: --implementation cp "
        f"--python-version {version} {platforms} --dest .ci/wheels {' '.join(names)}"
    )


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _unpack(names: list[str], wheels: Path, packages: Path) -> str:
    """Unpack those of ``names`` that the folder has; what pip says to it, where it refuses."""
    held = {_plain(wheel.name.split("-")[0]) for wheel in wheels.glob("*.whl")}
    names = [name for name in names if _plain(name) in held]
    if not names:
        return ""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--no-index"]
    command += ["--disable-pip-version-check", "--no-deps", "--no-compile", "--no-cache-dir"]
    command += ["--find-links", str(wheels), "--target", str(packages), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    words = (done.stderr.strip() or "pip said nothing").splitlines()[-1]
    return words if done.returncode else ""


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _sentence(names: list[str], wheels: Path | None, reason: str) -> str:
    where = f"and {wheels} has no wheel for them" if wheels else f"and {VARIABLE} names no folder"
    if reason:
        where = f"and {wheels} did not help ({reason})"
    return (
        f"This Python has no {', '.join(names)} {where}: make one where there is a network by "
        f"`{download_command(names)}`, bring it along as .ci/wheels or name it in {VARIABLE}."
    )
