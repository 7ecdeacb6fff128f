"""The line that is copied runs what the dialog says."""

import shlex
from pathlib import Path

import pytest

from engine.wire.config import RunConfig
from specscope.commands.run import run
from specscope.engine_options import make_config
from ui.command_line import ncu_line, report_problem, run_line
from ui.run_order import OrderedPrompt, RunOrder

CONFIGS = (
    RunConfig(),
    RunConfig(
        target="a model", draft="ngram", gamma="auto", max_gamma=5, max_new_tokens=7,
        temperature=0.5, top_k=3, top_p=0.9, seed=11, batch=2, block_size=32,
        allocation="contiguous", n_blocks=99, chat=True, ignore_eos=True, device="cpu",
        dtype="bfloat16", packed=False, graphs=False, n_threads=1, calibrate=False,
        telemetry=False, kernels_every=4,
    ),
)  # fmt: skip


def order_of(*configs: RunConfig, **more: object) -> RunOrder:
    prompts = (OrderedPrompt('say "it\'s"\n  so'), OrderedPrompt("no"))
    return RunOrder(configs=configs, prompts=prompts, is_recorded=False, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("config", CONFIGS, ids=["defaults", "everything"])
def test_the_command_line_reads_it_back_to_the_same_settings(config: RunConfig) -> None:
    words = shlex.split(run_line(order_of(config)))
    assert words[:2] == ["specscope", "run"]
    parsed = run.make_context("run", words[2:]).params
    assert parsed["prompt"] == 'say "it\'s"\n  so'
    options = {
        name: value
        for name, value in parsed.items()
        if name in RunConfig.__struct_fields__ and name != "draft"
    }
    assert make_config(draft=parsed["drafts"][0], **options) == config


def test_every_draft_is_on_the_line() -> None:
    line = run_line(order_of(RunConfig(draft="a"), RunConfig(draft="none")))
    assert "--draft a --draft none" in line


def test_nsight_compute_looks_at_one_phase_without_nsight_systems() -> None:
    order = order_of(RunConfig(), nsys_report=Path("/tmp/a.nsys-rep"))
    assert "--nsys /tmp/a.nsys-rep" in run_line(order)
    line = ncu_line(order, "verify")
    assert line.startswith("ncu ")
    assert "specscope@verify/" in line
    assert "--nsys" not in line


def test_a_report_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    assert report_problem(tmp_path / "a.nsys-rep", ["x"]) == ""
    assert "one draft" in report_problem(tmp_path / "a.nsys-rep", ["x", "y"])
    assert "no folder" in report_problem(tmp_path / "no" / "a.nsys-rep", ["x"])
    (tmp_path / "b.nsys-rep").write_text("")
    assert "exists" in report_problem(tmp_path / "b.nsys-rep", ["x"])
