import os
from pathlib import Path

import pytest

from engine.telemetry.spans import DOMAIN as SPANS_DOMAIN
from engine.telemetry.spans import SPAN_NAMES
from engine.wire.nsight import (
    DOMAIN,
    PHASES,
    NsightMissing,
    NsysProgram,
    as_typed,
    find_nsys,
    ncu_command,
    nsys_wrapper,
)


def test_names_are_those_of_the_ranges() -> None:
    assert PHASES == SPAN_NAMES
    assert DOMAIN == SPANS_DOMAIN
    assert not set("".join(PHASES) + DOMAIN) & set("@/,[]*+: "), "they would need escaping"


def test_the_line_of_nsight_systems() -> None:
    line = nsys_wrapper(Path("/tmp/a run.nsys-rep"), NsysProgram("/opt/nsys"))
    assert as_typed(line) == (
        "/opt/nsys profile --trace=cuda,nvtx --sample=none --cpuctxsw=none --cuda-graph-trace=node "
        "--capture-range=nvtx --nvtx-capture=capture@specscope --capture-range-end=stop "
        "--wait=primary '--output=/tmp/a run'"
    )


def test_the_environment_stays_out_of_the_report_where_that_can_be() -> None:
    line = nsys_wrapper(Path("x.nsys-rep"), NsysProgram("nsys", can_discard_environment=True))
    assert "--discard-environment=true" in line


def test_the_line_of_nsight_compute() -> None:
    line = ncu_command("verify", ["specscope", "run", "def f(x):"])
    assert as_typed(line) == (
        "ncu --target-processes=all --nvtx --nvtx-include specscope@verify/ --graph-profiling=node "
        "--launch-count=20 --set=full --export specscope-verify specscope run 'def f(x):'"
    )
    assert "--launch-count=3" in ncu_command("draft", ["x"], n_launches=3)
    assert "mine" in ncu_command("draft", ["x"], report="mine")
    with pytest.raises(ValueError, match="is no phase: give one of step, draft"):
        ncu_command("verfy", [])


def program(folder: Path, text: str) -> None:
    path = folder / "nsys"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands for nsys")
def test_looking_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NsightMissing, match=r"not on PATH: install Nsight Systems"):
        find_nsys()
    program(tmp_path, "echo usage: --discard-environment=")
    assert find_nsys() == NsysProgram(str(tmp_path / "nsys"), can_discard_environment=True)
    program(tmp_path, "echo usage; exit 3")
    assert not find_nsys().can_discard_environment
    (tmp_path / "nsys").write_bytes(b"\x7fELF of another machine")
    with pytest.raises(NsightMissing, match="does not run"):
        find_nsys()
