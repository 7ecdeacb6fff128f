"""What `.ci/gpu` needs besides torch: found on the machine, or unpacked from a folder of wheels."""

import importlib
import os
import platform
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.requirements import Requirement  # transformers brings it along

ROOT = Path(__file__).resolve().parent.parent
BESIDE = Path(__file__).resolve().parent / "wheels"
VARIABLE = "SPECSCOPE_WHEELS"

NOT_NEEDED = frozenset({"pyside6-essentials", "pyqtgraph", "gguf"})
"""Of the project's dependencies: the window's, and the reader of a format that is not used here."""
OF_THE_TESTS = frozenset({"pytest"})

_PLATFORMS = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014", "manylinux1")


class PackagesMissing(Exception):
    """One sentence: which, and how to bring them along."""


def environment_with(packages: Path) -> dict[str, str]:
    """The environment for the parts of the check, what the machine lacks unpacked into the new
    folder ``packages``. The machine's own environment stays as it is, and what is on it is taken to
    work: only what is unpacked is asked for what it needs in turn.

    Raises:
        PackagesMissing: the machine has not all of it, and neither has the folder of wheels.
    """
    wheels, wanted, reason = wheels_folder(), needed(), ""
    lacking = [each for each in wanted if not _is_there(each, packages)]
    while lacking and wheels is not None and not reason:
        before = lacking
        unpacked, reason = _unpack(lacking, wheels, packages)
        for each in unpacked:
            wanted += _needs_of(each, packages)
        lacking = [each for each in wanted if not _is_there(each, packages)]
        if lacking == before:
            break
    if lacking:
        raise PackagesMissing(_sentence(lacking, wheels, reason))
    paths = (str(packages), str(ROOT), os.environ.get("PYTHONPATH", ""))
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        # Whatever plugins of pytest a machine has, the tests run with none of them.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


def needed() -> "list[Requirement]":
    """What the project depends on, but for the window's part, and what runs its tests."""
    from packaging.requirements import Requirement

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = [Requirement(line) for line in project["dependencies"]]
    tests = [Requirement(line) for line in project["optional-dependencies"]["test"]]
    return [each for each in own if _plain(each.name) not in NOT_NEEDED] + [
        each for each in tests if _plain(each.name) in OF_THE_TESTS
    ]


def wheels_folder() -> Path | None:
    """The folder that was named, or the one beside this file; None where there is none."""
    named = os.environ.get(VARIABLE)
    folder = Path(named) if named else BESIDE
    return folder if folder.is_dir() else None


def download_command(requirements: Iterable[str]) -> str:
    """A command that fetches wheels for this machine's Python and platform, on any machine."""
    version, machine = ".".join(platform.python_version_tuple()[:2]), platform.machine()
    platforms = " ".join(f"--platform {each}_{machine}" for each in _PLATFORMS)
    return (
        "python3 -m pip download --only-binary=:all: --implementation cp "
        f"--python-version {version} {platforms} --dest .ci/wheels {shlex.join(requirements)}"
    )


def _is_there(requirement: "Requirement", packages: Path) -> bool:
    found = _find(requirement.name, packages)
    return found is not None and requirement.specifier.contains(found.version, prereleases=True)


def _find(name: str, packages: Path) -> Distribution | None:
    """The distribution that Python would import, the unpacked ones first."""
    found = Distribution.discover(name=name, path=[str(packages), *sys.path])
    return next(iter(found), None)


def _needs_of(requirement: "Requirement", packages: Path) -> "list[Requirement]":
    from packaging.requirements import Requirement

    found = _find(requirement.name, packages)
    needs = [Requirement(line) for line in (found.requires or [])] if found is not None else []
    return [each for each in needs if each.marker is None or each.marker.evaluate({"extra": ""})]


def _unpack(
    requirements: "list[Requirement]", wheels: Path, packages: Path
) -> "tuple[list[Requirement], str]":
    """Unpack those that the folder has: which, and what pip says where it refuses."""
    held = {_plain(wheel.name.split("-")[0]) for wheel in wheels.glob("*.whl")}
    chosen = [each for each in requirements if _plain(each.name) in held]
    if not chosen:
        return [], ""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--no-index"]
    command += ["--disable-pip-version-check", "--no-deps", "--no-compile", "--no-cache-dir"]
    command += ["--find-links", str(wheels), "--target", str(packages)]
    command += [f"{each.name}{each.specifier}" for each in chosen]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    importlib.invalidate_caches()
    words = (done.stderr.strip() or "pip said nothing").splitlines()[-1]
    return chosen, words if done.returncode else ""


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _sentence(requirements: "list[Requirement]", wheels: Path | None, reason: str) -> str:
    names = sorted(f"{each.name}{each.specifier}" for each in requirements)
    where = f"and {wheels} has no wheel for that" if wheels else f"and {VARIABLE} names no folder"
    if reason:
        where = f"and {wheels} did not help ({reason})"
    return (
        f"This Python lacks {', '.join(names)} {where}: make one where there is a network by "
        f"`{download_command(names)}`, bring it along as .ci/wheels or name it in {VARIABLE}."
    )
