"""`specscope doctor` finds what is there and says what to do about the rest."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from specscope.commands import doctor as module
from specscope.commands.doctor import State, doctor, examine, probe_engine
from specscope.window_libraries import Lack

GOOD = {
    "transformers": "5.24.0",
    "torch": {"version": "2.13.0", "cuda_version": None, "n_threads": 2, "devices": []},
    "nvml": {"error": "NVML Shared Library Not Found", "is_without_driver": True},
    "nvtx": {"version": "0.2.17", "is_enabled": True},
}


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def facts(monkeypatch):
    found = json.loads(json.dumps(GOOD))
    monkeypatch.setattr(module, "probe_engine", lambda: found)
    return found


def findings():
    return {one.part: one for one in examine()}


def run(*arguments):
    return CliRunner().invoke(doctor, arguments)


def test_the_real_probe_says_that_decoding_can_work():
    facts = probe_engine()
    assert "version" in facts["torch"]
    assert facts["transformers"]
    assert set(facts) == {"transformers", "torch", "nvml", "nvtx"}


def test_a_sound_machine_without_gpu(facts):
    result = run()
    assert result.exit_code == 0
    assert "Decoding can work here." in result.output
    found = findings()
    assert found["device"].state is State.MISSING
    assert found["NVML"].state is State.MISSING
    assert found["torch"].state is State.OK
    assert found["data folder"].state is State.OK


def test_every_fault_has_a_remedy(facts):
    for finding in examine():
        assert finding.state is State.OK or finding.remedy


def test_json(facts):
    report = json.loads(run("--json").output)
    assert report["can_decode"] is True
    parts = [one["part"] for one in report["findings"]]
    assert len(parts) == len(set(parts))
    assert {"Python", "torch", "window", "bundled-target", "data folder"} <= set(parts)


def test_a_machine_with_a_gpu(facts):
    facts["torch"]["devices"] = [{"name": "NVIDIA H100", "memory_bytes": 80 * 2**30}]
    facts["nvml"] = {"driver": "570.1", "n_devices": 1}
    found = findings()
    assert found["device"].detail == "NVIDIA H100, 80 GiB"
    assert found["NVML"].state is State.OK


def test_what_can_be_read_of_a_gpu(facts):
    facts["nvml"] = {"driver": "570.1", "n_devices": 1, "missing_readings": [],
                     "missing_counters": []}  # fmt: skip
    found = findings()
    assert found["NVML"].state is State.OK
    assert found["GPU counters"].state is State.OK
    facts["nvml"]["missing_readings"] = ["power_mw: no permission"]
    facts["nvml"]["missing_counters"] = ["sm_active_pct: no permission"]
    found = findings()
    assert found["NVML"].detail == "driver 570.1, 1 device(s); power_mw: no permission"
    assert "performance counters" in found["GPU counters"].remedy
    facts["nvml"]["missing_counters"] = ["sm_active_pct: not supported"]
    assert "Hopper" in findings()["GPU counters"].remedy
    facts["nvml"]["readings_error"] = "GPU is lost"
    assert findings()["NVML"].state is State.BROKEN


@pytest.mark.parametrize(("cuda", "word"), [(None, "CPU build"), ("12.8", "driver")])
def test_a_gpu_that_torch_does_not_see(facts, cuda, word):
    facts["torch"]["cuda_version"] = cuda
    facts["nvml"] = {"driver": "570.1", "n_devices": 1}
    device = findings()["device"]
    assert device.state is State.BROKEN
    assert word in device.remedy


@pytest.mark.parametrize(
    ("error", "state"),
    [
        ("ModuleNotFoundError: No module named 'torch'", State.MISSING),
        ("OSError: libtorch.so: cannot open", State.BROKEN),
    ],
)
def test_no_torch_means_no_decoding(facts, error, state):
    facts["torch"] = {"error": error}
    assert findings()["torch"].state is state
    result = run()
    assert result.exit_code == 1
    assert "cannot work" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("answer", ["", "no json"])
def test_a_probe_that_dies(monkeypatch, answer):
    def die(command, **_keywords):
        return subprocess.CompletedProcess(command, -6, answer, "Fatal\nAborted\n")

    monkeypatch.setattr(subprocess, "run", die)
    assert probe_engine()["torch"]["error"] == "Aborted"


def test_a_probe_that_hangs(monkeypatch):
    def hang(command, **_keywords):
        raise subprocess.TimeoutExpired(command, 1)

    monkeypatch.setattr(subprocess, "run", hang)
    assert "120 s" in probe_engine()["torch"]["error"]


def test_a_data_folder_that_cannot_be_written(facts, data, monkeypatch):
    blocked = data / "file"
    blocked.write_text("")
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(blocked / "below"))
    finding = findings()["data folder"]
    assert finding.state is State.BROKEN
    assert "SPECSCOPE_DATA_DIR" in finding.remedy


def test_tools_on_the_path(facts, data, monkeypatch):
    tool = data / "nsys"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(data))
    found = findings()
    assert found["Nsight Systems"].state is State.OK
    assert found["Nsight Compute"].state is State.MISSING


def test_the_window_needs_a_display(facts, monkeypatch):
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    assert findings()["window"].detail == "the window is not installed"
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: name == "PySide6")


def test_asking_needs_no_torch_here():
    code = "import sys, specscope.commands.doctor; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_the_window_lacks_is_named(facts, monkeypatch):
    lack = Lack("Qt's xcb platform lacks libxcb-cursor.so.0", "apt install libxcb-cursor0")
    monkeypatch.setattr(module, "window_lack", lambda: lack)
    monkeypatch.setenv("DISPLAY", ":0")
    window = findings()["window"]
    assert window.state is State.BROKEN
    assert (window.detail, window.remedy) == (lack.detail, lack.remedy)
