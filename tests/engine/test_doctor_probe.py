"""The probe prints one object of facts, whatever it finds."""

import json

from engine import doctor_probe


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
