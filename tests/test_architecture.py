"""The rules of the tree that no single file can see."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ui.panels.moments import moment_of, two_kinds
from ui.moment import View
from ui.panel_table import PANELS as LISTED
from ui.panels.base import Panel

PANELS = tuple(listed.kind() for listed in LISTED)
ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("engine", "sessions", "ui", "specscope", "resources")
MIRRORED = ("engine", "sessions", "ui", "specscope")

WITHOUT_OWN_TEST = {
    "base.py": "a protocol: nothing to run",
    "__init__.py": "empty, or a table that is used everywhere",
    "__main__.py": "one call",
    "ui/moment.py": "names and types alone",
    "ui/models_offered.py": "names and types alone",
    "ui/run_order.py": "names and types alone",
    "ui/workshop.py": "a protocol: what stands behind it is tested in specscope/test_wiring.py",
    "ui/panel_table.py": "a table: what must hold of its panels is tested here",
}
"""By name, or by path."""

WIRE = ("engine.wire.client", "engine.wire.codec", "engine.wire.config")
HEAVY = ("torch", "transformers", "numpy", "nvtx", "pynvml")
NOT_TO_START = ("torch", "transformers", "tokenizers", "pyqtgraph", "scipy", "ui.stage")
"""What the start page is painted without."""


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


def _name(node: ast.AST) -> str:
    """The name that a piece of source is, or ends with."""
    return getattr(node, "attr", getattr(node, "id", ""))


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
        if {source.name, source.as_posix()} & {*WITHOUT_OWN_TEST}:
            continue
        if source.parts[0] not in MIRRORED:
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


@pytest.mark.parametrize("name", ["ui.main_window", "specscope.app"])
def test_the_start_page_comes_without_what_is_slow_to_load(name: str) -> None:
    loaded = loaded_by(name)
    assert loaded.isdisjoint(NOT_TO_START)
    panels = {each for each in loaded if each.startswith("ui.panels.")}
    assert panels == {"ui.panels.base"}


def test_the_window_has_one_timer_and_prints_nothing() -> None:
    """The one heartbeat is the frame clock's; the window tells in its banner."""
    timers, prints = set(), set()
    for source in sources():
        if source.parts[0] != "ui":
            continue
        tree = ast.parse((ROOT / source).read_text(encoding="utf-8"))
        names = {_name(node) for node in ast.walk(tree)}
        if names & {"QTimer", "QBasicTimer", "startTimer", "singleShot"}:
            timers.add(source.as_posix())
        if any(isinstance(n, ast.Call) and _name(n.func) == "print" for n in ast.walk(tree)):
            prints.add(source.as_posix())
    assert timers == {"ui/frame_clock.py"}
    assert prints == set()


def test_what_qt_calls_to_paint_is_guarded() -> None:
    """An error that reaches Qt from there ends the window."""
    found, bare = 0, []
    for source in (path for path in sources() if path.parts[0] == "ui"):
        for node in ast.walk(ast.parse((ROOT / source).read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            takes_painter = "painter" in [each.arg for each in node.args.args]
            if node.name == "paintEvent" or (node.name == "paint" and takes_painter):
                found += 1
                names = [each.id for each in node.decorator_list if isinstance(each, ast.Name)]
                bare += [] if "guarded" in names else [f"{source}:{node.lineno}"]
    assert found >= 7
    assert not bare


def test_panels_have_a_key_of_their_own_and_say_what_they_are() -> None:
    keys = [panel.key for panel in PANELS]
    assert keys == [listed.key for listed in LISTED]
    assert [panel.title for panel in PANELS] == [listed.title for listed in LISTED]
    assert len(keys) == len(set(keys))
    for panel in PANELS:
        assert panel.title, panel.key
        assert panel.hint.strip(), panel.key
        assert panel.explanation.strip(), panel.key


class _WatchedView:
    """A view that tells which of its fields were read."""

    def __init__(self) -> None:
        self.read: set[str] = set()

    def __getattr__(self, name: str) -> object:
        self.read.add(name)
        return getattr(View(), name)


@pytest.mark.parametrize(
    "panel", [each for each in PANELS if each.reads], ids=lambda each: each.key
)
def test_a_panel_that_looks_at_the_window_follows_it(panel: type[Panel]) -> None:
    view = _WatchedView()
    panel.digest(moment_of(two_kinds().events), view)  # type: ignore[arg-type]
    assert panel.follows_window or "window_ns" not in view.read


def test_a_panel_is_in_the_table() -> None:
    """A panel's module is one that defines a ``Panel``; any other there belongs to one panel."""
    tabled = {panel.__module__ for panel in PANELS}
    defining = set()
    for name in modules("ui.panels"):
        tree = ast.parse((ROOT / (name.replace(".", "/") + ".py")).read_text(encoding="utf-8"))
        classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        if any(_name(base) == "Panel" for each in classes for base in each.bases):
            defining.add(name)
    assert defining == tabled


@pytest.mark.parametrize("source", sources(), ids=str)
def test_a_file_says_what_it_is_for(source: Path) -> None:
    text = (ROOT / source).read_text(encoding="utf-8")
    if text.strip():
        assert ast.get_docstring(ast.parse(text)), f"{source} does not open with a sentence"


def test_packages_are_named_after_what_they_hold() -> None:
    vague = {"utils", "helpers", "common", "misc", "manager"}
    named = [str(source) for source in sources() if vague & {*source.parts, source.stem}]
    assert named == []
