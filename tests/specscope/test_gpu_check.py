"""`.ci/gpu` on machines that lack something: a GPU, packages, all that belongs to the window."""

import importlib.util
import os
import subprocess
import sys
import zipfile
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / ".ci" / "gpu"
WINDOW = ("PySide6", "pyqtgraph")
NOT_THERE = (*WINDOW, "pytestqt", "hypothesis", "scipy", "xdist", "pytest_timeout", "gguf")

BLOCKER = """
import sys
from importlib.machinery import PathFinder

def is_hidden(name):
    return name.partition(".")[0].replace("-", "_") in {names!r}

class Blinkered(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if is_hidden(name) else super().find_spec(name, path, target)

    @classmethod
    def find_distributions(cls, context):
        return () if is_hidden(context.name or "") else super().find_distributions(context)

sys.meta_path[sys.meta_path.index(PathFinder)] = Blinkered
"""
"""Run when Python starts: what it names is nowhere to be found."""

WITH_GPU = "class cuda:\n    is_available = staticmethod(lambda: True)\n"


def without(folder: Path, *names: str) -> dict[str, str]:
    """An environment of programs that cannot import ``names``; what ``folder`` holds they can."""
    (folder / "sitecustomize.py").write_text(BLOCKER.format(names=set(names)), encoding="utf-8")
    paths = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": paths, "CUDA_VISIBLE_DEVICES": ""}


def start(command: list[str], environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=200, check=False
    )


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script as a module, its neighbour to be found."""
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    return _module("gpu_check", SCRIPT)


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> Any:
    return _module("gpu_packages", SCRIPT.parent / "gpu_packages.py")


def _module(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_loader(name, SourceFileLoader(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("names", [(), ("msgspec", "nvtx", "pytest")])
def test_without_a_device_it_says_so_and_runs_nothing(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    done = start([sys.executable, str(SCRIPT)], without(tmp_path, *names))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "No CUDA device: nothing of this was run.\n"


def test_without_torch_nothing_is_said_of_a_device(tmp_path: Path) -> None:
    done = start([sys.executable, str(SCRIPT)], without(tmp_path, "torch"))
    assert (done.returncode, done.stderr) == (2, "")
    (sentence,) = done.stdout.splitlines()
    assert sentence == (
        "torch cannot be imported, and nothing of this was run: "
        "ModuleNotFoundError: No module named 'torch'"
    )


def test_a_torch_that_is_broken_says_what_is(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libcudart.so: no such file')\n")
    done = start([sys.executable, str(SCRIPT)], without(tmp_path))
    assert done.returncode == 2
    assert done.stdout.endswith(
        "nothing of this was run: ImportError: libcudart.so: no such file\n"
    )


def test_wheels_brought_along_are_no_part_of_the_sources() -> None:
    assert ".ci/wheels/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_what_is_missing_is_said_with_the_way_to_fetch_it(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text(WITH_GPU, encoding="utf-8")
    environment = without(tmp_path, "msgspec", "sqlite_utils")
    done = start([sys.executable, str(SCRIPT)], {**environment, "SPECSCOPE_WHEELS": ""})
    assert (done.returncode, done.stderr) == (2, "")
    (sentence,) = done.stdout.splitlines()
    assert sentence.startswith("This Python lacks msgspec<1,>=0.19, sqlite-utils<5,>=3.37 and ")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert "`python3 -m pip download --only-binary=:all: --implementation cp " in sentence
    assert f" --python-version {version} --platform manylinux" in sentence
    assert " --dest .ci/wheels 'msgspec<1,>=0.19' 'sqlite-utils<5,>=3.37'`" in sentence


def test_what_is_missing_is_unpacked_beside_the_machines_own(
    tmp_path: Path, packages: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what it needs in turn."""
    pytest.importorskip("pip")
    write_wheel(tmp_path, "specscope_probe", needs=("specscope-inner>=2", 'absent; extra == "x"'))
    write_wheel(tmp_path, "specscope_inner")
    monkeypatch.setenv("SPECSCOPE_WHEELS", str(tmp_path))
    monkeypatch.setattr(packages, "needed", lambda: [Requirement("specscope-probe>=1")])
    environment = packages.environment_with(tmp_path / "packages")
    done = start([sys.executable, "-c", "import specscope_probe, specscope_inner"], environment)
    assert done.returncode == 0, done.stderr
    assert importlib.util.find_spec("specscope_probe") is None, "not in this environment"


@pytest.mark.parametrize(
    ("wanted", "words"),
    [("specscope-other", "has no wheel for that"), ("specscope-probe>=3", "did not help")],
)
def test_a_folder_without_the_right_wheel_is_no_help(
    tmp_path: Path, packages: Any, monkeypatch: pytest.MonkeyPatch, wanted: str, words: str
) -> None:
    pytest.importorskip("pip")
    write_wheel(tmp_path, "specscope_probe")
    monkeypatch.setenv("SPECSCOPE_WHEELS", str(tmp_path))
    monkeypatch.setattr(packages, "needed", lambda: [Requirement(wanted)])
    with pytest.raises(packages.PackagesMissing, match=words):
        packages.environment_with(tmp_path / "packages")


def test_an_old_release_is_a_missing_one(packages: Any, tmp_path: Path) -> None:
    assert packages._is_there(Requirement("pytest>=8.2"), tmp_path)
    assert not packages._is_there(Requirement("pytest>=8000"), tmp_path)


def test_the_windows_packages_are_not_asked_for(packages: Any) -> None:
    names = {each.name.lower() for each in packages.needed()}
    assert {"msgspec", "nvtx", "torch", "transformers", "pytest"} <= names
    assert names.isdisjoint({"pyside6-essentials", "pyqtgraph", "pytest-qt", "hypothesis", "scipy"})


def test_its_tests_need_no_plugin_and_no_window(tmp_path: Path, script: Any, packages: Any) -> None:
    """By its own command line, where another package is called ``tests`` too."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "__init__.py").write_text("", encoding="utf-8")
    environment = packages.environment_with(tmp_path / "packages")
    blocked = without(tmp_path, *NOT_THERE)
    paths = os.pathsep.join([environment["PYTHONPATH"], blocked["PYTHONPATH"]])
    environment = {**environment, **blocked, "PYTHONPATH": paths}
    done = start([*script.TESTS, "--collect-only", "-q"], environment)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    files = {path.stem for path in (ROOT / "tests" / "gpu").glob("test_*.py")}
    assert files == {line.rpartition("/")[2].partition(".py")[0] for line in
                     done.stdout.splitlines() if ".py" in line}  # fmt: skip


@pytest.mark.parametrize(
    "arguments", [("--version",), ("bench", "--help"), ("models", "inflate", "--help")]
)
def test_the_command_line_needs_no_window(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    environment = without(tmp_path, *WINDOW, "gguf")
    done = start([sys.executable, "-m", "specscope", *arguments], environment)
    assert done.returncode == 0, done.stderr
    assert "specscope" in done.stdout


def write_wheel(folder: Path, name: str, *, needs: tuple[str, ...] = ()) -> None:
    """Release 2.0 of a module with nothing in it."""
    about = f"{name}-2.0.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 2.0"]
    lines += [f"Requires-Dist: {each}" for each in needs]
    kind = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(folder / f"{name}-2.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", "")
        wheel.writestr(f"{about}/METADATA", "\n".join([*lines, ""]))
        wheel.writestr(f"{about}/WHEEL", kind)
        wheel.writestr(f"{about}/RECORD", "")
