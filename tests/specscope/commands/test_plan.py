import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from engine.wire.catalog import KNOWN_MODELS, find_known_model, model_folder
from specscope.commands.plan import plan

PAIR = ["--target", "llama-3-70b", "--draft", "llama-3-8b"]
SMALL_PAIR = ["--target", "qwen2.5-7b", "--draft", "qwen2.5-0.5b"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(plan, arguments, env={"COLUMNS": "100"})


def run_json(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    record = json.loads(result.stdout)  # the whole of stdout is one object
    assert isinstance(record, dict)
    return record


def test_speedup_as_json() -> None:
    record = run_json("speedup", "--alpha", "0.8", "--gamma", "5", "--c", "0.05")
    assert record["tokens_per_step"] == pytest.approx(3.68928)
    assert record["speedup"] == pytest.approx(3.68928 / 1.25)
    assert record["best_gamma"]["gamma"] == 8
    assert record["break_even_alpha"] == pytest.approx(0.20005, abs=1e-5)
    assert [row["gamma"] for row in record["table"]] == [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16]


def test_speedup_for_a_person() -> None:
    result = run("speedup", "--alpha", "0.8", "--gamma", "5", "--c", "0.05")
    assert result.exit_code == 0
    for text in ("3.689", "2.951x", "best gamma", "3.092x", "pays above alpha 0.200"):
        assert text in result.stdout


def test_speedup_with_a_measured_verify_cost() -> None:
    at_gamma_5 = run_json("speedup", "--alpha", "0.8", "--c", "0.05", "--v", "1.3")
    assert at_gamma_5["speedup"] == pytest.approx(3.68928 / 1.55)
    widths = ["--v", "1,1,1,1,1.6,1.8"]
    by_width = run_json("speedup", "--alpha", "0.8", "--c", "0.05", *widths)
    assert by_width["best_gamma"] == {
        "gamma": 3,
        "speedup": pytest.approx(2.952 / 1.15),
        "is_at_limit": False,
    }
    assert [row["v"] for row in by_width["table"]] == [1, 1, 1, 1, 1.6, 1.8]


def test_speedup_that_cannot_pay_says_so() -> None:
    result = run("speedup", "--alpha", "0.8", "--gamma", "5", "--c", "1.5")
    assert "gamma 5 cannot pay" in result.stdout
    assert "never" in result.stdout
    assert run_json("speedup", "--alpha", "0.8", "--c", "1.5")["break_even_alpha"] is None
    assert "nothing is drafted" in run(
        "speedup", "--alpha", "0.8", "--c", "0.1", "--gamma", "0"
    ).stdout  # fmt: skip


def test_bundled_models_are_planned_by_their_configuration() -> None:
    pair = ("--target", "bundled-target", "--draft", "bundled-draft")
    record = run_json("memory", *pair, "--context", "512")
    assert (record["target"], record["draft"]) == ("bundled-target", "bundled-draft")
    for role, name in (("target", "bundled-target"), ("draft", "bundled-draft")):
        known = find_known_model(name)
        assert known is not None
        assert record["components_bytes"][f"{role}_weights"] == 2 * known.n_parameters
    assert run_json("roofline", *pair, "--device", "h200")["target"] == "bundled-target"


def test_an_added_model_is_planned_by_its_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(tmp_path))
    folder = tmp_path / "models" / "mine"
    folder.mkdir(parents=True)
    bundled = model_folder(KNOWN_MODELS[0], tmp_path)
    assert bundled is not None
    (folder / "config.json").write_bytes((bundled / "config.json").read_bytes())
    assert run_json("memory", "--target", "mine")["target"] == "mine"


def test_a_known_model_that_is_not_here_says_what_to_give() -> None:
    result = run("memory", "--target", "qwen3-8b")
    assert result.exit_code == 2
    assert "The files of qwen3-8b are not kept here" in result.output


def test_memory_in_document_mode() -> None:
    record = run_json("memory", *PAIR, "--batch", "4", "--gamma", "5", "--mode", "document")
    assert record["total_bytes"] == 176_608_812_810
    assert round(record["total_gib"], 2) == 164.48
    assert record["budget"] == {"gib": 80.0, "fits": False}
    assert record["fits_on"] == ["NVIDIA B200"]


@pytest.mark.parametrize(("budget_gib", "fits"), [("16", False), ("24", True)])
def test_memory_against_a_budget(budget_gib: str, fits: bool) -> None:
    options = ["--context", "32768", "--budget-gib", budget_gib]
    record = run_json("memory", *SMALL_PAIR, *options)
    assert record["budget"]["fits"] is fits
    assert record["budget"]["bytes_per_token"] == 69_632
    assert record["components_bytes"]["target_kv"] == 1.75 * 1024**3
    alone = run_json("memory", "--target", "qwen2.5-7b", *options)
    assert alone["draft"] is None
    assert alone["budget"]["bytes_per_token"] == 57_344


def test_memory_for_a_person() -> None:
    options = ["--context", "32768", "--budget-gib", "24"]
    result = run("memory", *SMALL_PAIR, *options)
    assert result.exit_code == 0
    for text in ("14.185", "target KV cache", "fits; room for", "69,632 B", "L40S"):
        assert text in result.stdout
    assert "does not fit" in run("memory", *PAIR, "--budget-gib", "80").stdout
    assert "no known GPU" in run("memory", *PAIR, "--batch", "512").stdout


def test_memory_shared_among_gpus_in_fewer_bits() -> None:
    record = run_json(
        "memory", *PAIR, "--tensor-parallel", "4", "--target-bits", "4", "--draft-bits", "8"
    )
    n_embedding = 2 * 128256 * 8192
    stored = (70_553_706_496 - n_embedding) * (4 + 16 / 128) / 8 + n_embedding * 2
    assert record["components_bytes"]["target_weights"] == pytest.approx(stored / 4, abs=1)
    assert record["n_gpus"] == 4


def test_only_quantised_weights_carry_scales() -> None:
    formats = run_json("memory", *PAIR, "--target-bits", "8", "--group-size", "64")["workload"]
    assert formats["target_weights"]["group_size"] == 64
    assert formats["draft_weights"]["group_size"] is None


def test_memory_of_a_folder_and_of_plain_numbers(tmp_path: Path) -> None:
    config = {
        "model_type": "llama",
        "num_hidden_layers": 32,
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 14336,
        "vocab_size": 128256,
    }
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    folder = run_json("memory", "--target", str(tmp_path))
    preset = run_json("memory", "--target", "llama-3-8b")
    assert folder["components_bytes"] == preset["components_bytes"]
    numbers = "layers=32,hidden=4096,heads=32,kv_heads=8,intermediate=14336,vocab=128256"
    assert run_json("memory", "--target", numbers)["total_bytes"] == preset["total_bytes"]


def test_roofline_as_json() -> None:
    record = run_json("roofline", *PAIR, "--device", "NVIDIA H100 80GB HBM3", "--context", "1024")
    assert round(record["ridge_flops_per_byte"]) == 295
    verify = next(phase for phase in record["phases"] if phase["name"] == "verify")
    assert (verify["width"], verify["bound"]) == (6, "memory")
    assert round(verify["intensity"], 2) == 6.09
    assert [phase["name"] for phase in record["phases"]] == [
        "draft",
        "verify",
        "decode",
        "prefill",
    ]
    assert record["c"] == pytest.approx(0.1087, abs=1e-4)


def test_roofline_for_a_person() -> None:
    result = run("roofline", *PAIR, "--device", "h100-sxm", "--context", "1024")
    assert result.exit_code == 0
    for text in ("295 FLOP/byte", "verify", "prefill", "compute", "41.7 ms", "cannot hold them"):
        assert text in result.stdout
    assert "cannot hold them" not in run("roofline", *SMALL_PAIR, "--device", "h200").stdout


def test_roofline_of_this_machine() -> None:
    record = run_json("roofline", "--target", "smollm2-135m", "--measure-host")
    assert record["is_measured"] is True
    assert record["precision"] == "fp32"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["speedup", "--alpha", "80", "--c", "0.1"], "alpha must lie between 0 and 1"),
        (["speedup", "--alpha", "nan", "--c", "0.1"], "alpha must lie between 0 and 1"),
        (["speedup", "--alpha", "0.8", "--c", "-1"], "must be a finite number of at least 0"),
        (["speedup", "--alpha", "0.8", "--c", "0.1", "--v", "x"], "--v must be a number"),
        (["speedup", "--alpha", "0.8", "--c", "0.1", "--v", "1,1.1"], "cover 2 widths"),
        (["speedup", "--alpha", "0.8", "--c", "0.1", "--gamma", "-1"], "--gamma"),
        (["memory", "--target", "nonsense"], "No model 'nonsense'"),
        (["memory", *PAIR, "--tensor-parallel", "3"], "cannot be shared evenly among 3 GPUs"),
        (["memory", *PAIR, "--budget-gib", "nan"], "--budget-gib must be a finite number"),
        (["memory", *PAIR, "--mode", "document", "--draft-bits", "4"], "one number format"),
        (["roofline", *PAIR], "Give a GPU with --device"),
        (["roofline", *PAIR, "--device", "h100-sxm", "--measure-host"], "Give a GPU"),
        (["roofline", *PAIR, "--device", "abacus"], "No peaks are known for 'abacus'"),
        (["roofline", *PAIR, "--device", "l40s", "--precision", "int3"], "--precision"),
        (["roofline", *PAIR, "--device", "a100-80-sxm", "--precision", "fp8"], "no known fp8"),
    ],
)
def test_mistakes_are_told_in_a_sentence(arguments: list[str], sentence: str) -> None:
    for extra in ([], ["--json"]):
        result = run(*arguments, *extra)
        assert result.exit_code == 2
        assert sentence in result.stderr
        assert result.stdout == ""
