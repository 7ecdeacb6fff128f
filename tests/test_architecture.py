"""The rules of the tree that no single file can see."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("engine", "sessions", "specscope", "resources")
MIRRORED = ("engine", "sessions", "specscope")

WITHOUT_OWN_TEST = {
    "base.py": "a protocol: nothing to run",
    "__init__.py": "empty, or a table that is used everywhere",
    "__main__.py": "one call",
}

WIRE = ("engine.wire.client", "engine.wire.codec", "engine.wire.config")
HEAVY = ("torch", "transformers", "numpy", "nvtx", "pynvml")


def sources() -> list[Path]:
    """All source files, relative to the root."""
    found = (path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
    return sorted(path.relative_to(ROOT) for path in found)


def modules(package: str) -> list[str]:
    """The dotted names of a package's modules."""
    folder = ROOT.joinpath(*package.split("."))
    return [f"{package}.{path.stem}" for path in sorted(folder.glob("*.py"))]


def loaded_by(*names: str) -> set[str]:
    """What a fresh interpreter has loaded after importing ``names``."""
    program = f"import sys, {', '.join(names)}; print(*sys.modules, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return set(done.stdout.split())


def test_import_contracts_hold() -> None:
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", program, "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def test_tests_mirror_sources() -> None:
    missing = []
    for source in sources():
        if source.name in WITHOUT_OWN_TEST or source.parts[0] not in MIRRORED:
            continue
        test = Path("tests") / source.parent / f"test_{source.name}"
        if not (ROOT / test).exists():
            missing.append(f"{source} has no {test}")
    assert not missing, "\n".join(["", *missing])


def test_no_test_folder_is_a_package() -> None:
    markers = [str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("__init__.py")]
    assert markers == [], "a test folder named like a package would hide it"


@pytest.mark.parametrize("name", WIRE)
def test_the_wire_is_light(name: str) -> None:
    assert loaded_by(name).isdisjoint(HEAVY)


def test_the_theory_knows_no_torch() -> None:
    names = [name for name in modules("engine.theory") if not name.endswith("__init__")]
    assert loaded_by(*names).isdisjoint({"torch", "transformers", "nvtx"})


@pytest.mark.parametrize("source", sources(), ids=str)
def test_a_file_says_what_it_is_for(source: Path) -> None:
    text = (ROOT / source).read_text(encoding="utf-8")
    if text.strip():
        assert ast.get_docstring(ast.parse(text)), f"{source} does not open with a sentence"


def test_packages_are_named_after_what_they_hold() -> None:
    vague = {"utils", "helpers", "common", "misc", "manager"}
    named = [str(source) for source in sources() if vague & {*source.parts, source.stem}]
    assert named == []
