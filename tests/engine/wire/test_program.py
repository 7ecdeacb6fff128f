"""A program of the engine is found from anywhere."""

import subprocess
from pathlib import Path

import pytest

from engine.wire.program import engine_command, engine_environment


def test_a_folder_of_the_same_name_is_not_taken_for_ours(tmp_path: Path) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("raise SystemExit('not this one')")
    done = subprocess.run(
        engine_command("engine.wire.program"),
        env=engine_environment(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_what_is_on_the_path_already_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("SOMETHING", "else")
    environment = engine_environment()
    assert environment["PYTHONPATH"].endswith(":/elsewhere")
    assert environment["SOMETHING"] == "else"
