"""The probe prints one object of facts, whatever it finds."""

import json

import pynvml
import pytest

from engine import doctor_probe
from tests.support.simulated_nvml import SimulatedGpu, SimulatedNvml


def test_the_facts_are_one_json_object(capsys):
    assert doctor_probe.main() == 0
    facts = json.loads(capsys.readouterr().out)
    assert set(facts) == {"transformers", "torch", "nvml", "nvtx"}
    assert facts["torch"]["version"]
    assert facts["torch"]["n_threads"] >= 1
    assert isinstance(facts["torch"]["can_pack"], bool)


def test_a_torch_that_does_not_import_is_a_fact(capsys, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    assert doctor_probe.main() == 0
    assert "error" in json.loads(capsys.readouterr().out)["torch"]


def readings_of(gpu, monkeypatch, variable=None):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if variable is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", variable)
    return doctor_probe._reading_facts(SimulatedNvml(gpu))


def test_what_can_be_read_of_a_gpu(monkeypatch):
    refusals = {"power": pynvml.NVML_ERROR_NO_PERMISSION}
    facts = readings_of(SimulatedGpu("GPU-a", refusals=refusals), monkeypatch)
    assert facts["missing_readings"] == ["power_mw: no permission"]
    assert "temperature_c" in facts["readings"]
    assert facts["counters"] == ["sm_active_pct", "tensor_active_pct", "dram_active_pct"]
    assert facts["missing_counters"] == []


@pytest.mark.parametrize(("variable", "word"), [("", "hides every"), ("GPU-b", "GPU-b")])
def test_a_gpu_that_is_hidden_or_not_there(variable, word, monkeypatch):
    facts = readings_of(SimulatedGpu("GPU-a"), monkeypatch, variable)
    assert word in facts["readings_error"]


def test_a_gpu_without_counters(monkeypatch):
    facts = readings_of(SimulatedGpu("GPU-a", has_gpm=False), monkeypatch)
    assert facts["missing_counters"][0] == "sm_active_pct: not supported"
