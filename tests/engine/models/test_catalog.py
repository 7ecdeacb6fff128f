"""Names resolve to where the model is, or to a sentence."""

import pytest

from engine.models.catalog import Source, resolve
from engine.wire import catalog as wire_catalog
from engine.wire.config import ConfigError


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def _complete(folder):
    folder.mkdir(parents=True)
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (folder / name).write_text("")
    return folder


def test_a_folder_and_a_file(tmp_path):
    assert resolve(str(tmp_path)).source is Source.FOLDER
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    assert resolve(str(tmp_path / "m.gguf")).source is Source.GGUF
    (tmp_path / "m.txt").write_text("")
    with pytest.raises(ConfigError, match=r"not a \.gguf one"):
        resolve(str(tmp_path / "m.txt"))


def test_hub_ids():
    assert resolve("Qwen/Qwen2.5-0.5B").location == "Qwen/Qwen2.5-0.5B"
    assert resolve("qwen2.5-0.5b").location == "Qwen/Qwen2.5-0.5B-Instruct"
    for name in ("a/b/c", "no spaces here", "-x"):
        with pytest.raises(ConfigError, match="is no model"):
            resolve(name)


def test_models_of_a_wheel_must_be_added_first(data):
    with pytest.raises(ConfigError, match="specscope models add smollm2-135m"):
        resolve("smollm2-135m")
    folder = _complete(data / "models" / "smollm2-135m")
    assert resolve("smollm2-135m").location == str(folder)


def test_any_folder_among_the_added_ones_has_a_name(data):
    folder = _complete(data / "models" / "mine")
    assert resolve("mine").location == str(folder)


def test_bundled_models_that_are_not_there(monkeypatch):
    monkeypatch.setattr(wire_catalog.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="bundled-target is not part of this installation"):
        resolve("bundled-target")
