"""Models load, pair up, and fail with sentences that name the model and the way out."""

import json

import msgspec
import pytest
import torch
from transformers import MambaConfig, T5Config

from engine.models.loading import choose_dtype, find_device, load_pair
from engine.models.probe import ProbeStore, probe_batch
from engine.wire.config import ConfigError, RunConfig


def load(target, draft="none", **settings):
    said = []
    config = RunConfig(target=str(target), draft=str(draft), device="cpu", **settings)
    return load_pair(config, progress=said.append), said


def refusal(target, draft="none", **settings):
    with pytest.raises(ConfigError) as caught:
        load(target, draft, **settings)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert "Traceback" not in sentence
    return sentence


@pytest.fixture(scope="module")
def target(make_model):
    return make_model(n_logits=320)


@pytest.fixture(scope="module")
def draft(make_model):
    return make_model(n_logits=304, seed=1)


def test_a_pair_with_other_padding_works_with_a_note(target, draft):
    pair, said = load(target, draft)
    assert pair.n_tokens == pair.tokenizer.n_tokens == 300
    assert (pair.target.vocab_size, pair.draft.vocab_size) == (320, 304)
    assert any("tail padding differs" in note for note in pair.notes)
    assert pair.tokenizer.eos_ids == {2}
    assert pair.target_load_ns > 0
    assert pair.draft_load_ns > 0
    assert len(said) == 4


def test_a_hundred_tokens_in_104_and_128_logits(make_model):
    target = make_model(n_tokens=100, n_logits=128)
    draft = make_model(n_tokens=100, n_logits=104, seed=1)
    pair, _ = load(target, draft)
    assert pair.n_tokens == 100
    assert (pair.target.vocab_size, pair.draft.vocab_size) == (128, 104)
    (note,) = [note for note in pair.notes if "tail padding differs" in note]
    assert all(number in note for number in ("128", "104", "100"))


def test_equal_widths_need_no_note(target):
    pair, _ = load(target, target)
    assert not any("padding" in note for note in pair.notes)


def test_what_is_known_of_a_model(target):
    pair, _ = load(target)
    model = pair.target
    assert pair.draft is None
    assert pair.draft_load_ns == 0
    assert model.layer_kv_shapes() == ((2, 8), (2, 8))
    assert model.context_length == 128
    assert model.dtype == torch.float32
    n_parameters = sum(tensor.numel() for tensor in _stored_tensors(target).values())
    assert model.shape.n_parameters == n_parameters
    assert model.weight_bytes == 4 * n_parameters
    assert not model.shape.has_tied_embeddings


def _stored_tensors(folder):
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_narrower_dtype_halves_the_weights(target, dtype):
    wide, _ = load(target)
    narrow, _ = load(target, dtype=dtype)
    assert narrow.target.dtype == getattr(torch, dtype)
    assert 2 * narrow.target.weight_bytes == wide.target.weight_bytes


def test_packing_changes_no_choice(target):
    packed, _ = load(target, packed=True)
    plain, _ = load(target, packed=False)
    assert "straight-line forward" in packed.target.notes
    assert "straight-line forward" not in plain.target.notes
    for width in range(1, 10):
        batch = probe_batch(0, width, n_ids=300, device=torch.device("cpu"))
        ours, theirs = (
            pair.target.forward(batch, ProbeStore(), n_logits=width) for pair in (packed, plain)
        )
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)
        assert torch.equal(ours.argmax(-1), theirs.argmax(-1))


def test_swapped_ids_are_refused_by_name(make_model, target):
    def swap(content):
        vocabulary = content["model"]["vocab"]
        vocabulary["a"], vocabulary["b"] = vocabulary["b"], vocabulary["a"]

    other = make_model(edit=swap)
    sentence = refusal(target, other)
    assert "'a'" in sentence
    assert "'b'" in sentence
    assert str(other) in sentence


def test_extra_special_tokens_at_the_end_are_a_note(make_model, target):
    other = make_model(extra=("<tool>",))
    pair, _ = load(target, other)
    assert pair.n_tokens == 300
    assert any("<tool>" in note for note in pair.notes)


def test_an_unknown_folder_or_file(tmp_path):
    assert "specscope models" in refusal(tmp_path / "nothing")
    assert "specscope models" in refusal("./nothing.gguf")
    assert "hub id" in refusal("one/two/three")


def test_a_folder_without_configuration(tmp_path):
    assert "config.json" in refusal(tmp_path)


def _copy(folder, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in folder.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    return copy


def test_a_missing_tokenizer(target, tmp_path):
    copy = _copy(target, tmp_path)
    (copy / "tokenizer.json").unlink()
    assert "no tokenizer" in refusal(copy)


def test_a_damaged_tokenizer(target, tmp_path):
    copy = _copy(target, tmp_path)
    (copy / "tokenizer.json").write_text("{")
    assert "cannot be read" in refusal(copy)


def test_a_damaged_configuration(target, tmp_path):
    copy = _copy(target, tmp_path)
    (copy / "config.json").write_text("{")
    assert str(copy) in refusal(copy)


@pytest.mark.parametrize("n_kept", [0, 4, 100, -1000])
def test_truncated_weights(target, tmp_path, n_kept):
    copy = _copy(target, tmp_path)
    file = copy / "model.safetensors"
    file.write_bytes(file.read_bytes()[:n_kept])
    assert "truncated" in refusal(copy)


def test_damaged_weights(target, tmp_path):
    copy = _copy(target, tmp_path)
    file = copy / "model.safetensors"
    content = file.read_bytes()
    file.write_bytes(content[:8] + b"[" + content[9:])
    assert "damaged" in refusal(copy)


def test_missing_and_pickled_weights(target, tmp_path):
    copy = _copy(target, tmp_path)
    (copy / "model.safetensors").unlink()
    assert "weights are missing" in refusal(copy)
    (copy / "pytorch_model.bin").write_bytes(b"x")
    assert "safetensors" in refusal(copy)


def test_a_missing_part_of_sharded_weights(target, tmp_path):
    copy = _copy(target, tmp_path)
    (copy / "model.safetensors").unlink()
    index = {"weight_map": {"a": "model-1-of-2.safetensors", "b": "model-2-of-2.safetensors"}}
    (copy / "model.safetensors.index.json").write_text(json.dumps(index))
    assert "2 of 2" in refusal(copy)


def test_weights_that_do_not_fit_the_configuration(target, tmp_path):
    copy = _copy(target, tmp_path)
    settings = json.loads((copy / "config.json").read_text())
    settings["hidden_size"] = 48
    settings["head_dim"] = 12
    (copy / "config.json").write_text(json.dumps(settings))
    assert "cannot be loaded" in refusal(copy)


@pytest.mark.parametrize(
    ("config", "word"),
    [
        (MambaConfig(hidden_size=16, num_hidden_layers=1), "state-space"),
        (T5Config(d_model=16, num_layers=1), "encoder"),
    ],
)
def test_other_architectures_are_refused_before_weights(tmp_path, config, word):
    config.save_pretrained(tmp_path)
    assert word in refusal(tmp_path)


def test_foreign_layers_are_refused(target, tmp_path):
    copy = _copy(target, tmp_path)
    settings = json.loads((copy / "config.json").read_text())
    settings["layer_types"] = ["full_attention", "linear_attention"]
    (copy / "config.json").write_text(json.dumps(settings))
    assert "linear_attention" in refusal(copy)
    settings["layer_types"] = ["full_attention", "chunked_attention"]
    (copy / "config.json").write_text(json.dumps(settings))
    assert "chunked_attention" in refusal(copy)


def test_a_truncated_gguf(tmp_path):
    file = tmp_path / "model.gguf"
    file.write_bytes(b"no")
    assert "no GGUF file" in refusal(file)
    file.write_bytes(b"GGUF" + (3).to_bytes(4, "little") + (5).to_bytes(8, "little"))
    assert "truncated" in refusal(file)
    file.write_bytes(b"GGUF" + (9).to_bytes(4, "little") + bytes(16))
    assert "version 9" in refusal(file)


def test_not_enough_memory_is_foreseen(target, monkeypatch):
    class Memory:
        available = 1000

    monkeypatch.setattr("psutil.virtual_memory", Memory)
    sentence = refusal(target)
    assert "GiB" in sentence
    assert "free" in sentence


@pytest.mark.parametrize("is_reachable", [False, True])
def test_a_hub_model_that_cannot_be_fetched(monkeypatch, is_reachable):
    def fail(*_arguments, local_files_only=False, **_keywords):
        assert local_files_only is not is_reachable
        raise OSError("We couldn't find it.")

    monkeypatch.setattr("transformers.AutoConfig.from_pretrained", fail)
    monkeypatch.setattr("engine.models.pretrained_config.is_hub_reachable", lambda: is_reachable)
    sentence = refusal("qwen2.5-0.5b")
    assert "Qwen/Qwen2.5-0.5B-Instruct" in sentence
    assert "specscope models" in sentence
    assert ("couldn't find it" in sentence) == is_reachable


def test_devices():
    assert find_device("cpu") == torch.device("cpu")
    for name in ("tpu", "cuda:", "cuda:x"):
        with pytest.raises(ConfigError, match="auto, cpu, cuda"):
            find_device(name)
    if not torch.cuda.is_available():
        assert find_device("auto") == torch.device("cpu")
        with pytest.raises(ConfigError, match="no CUDA device"):
            find_device("cuda:1")


def test_dtypes():
    assert choose_dtype("auto", torch.device("cpu")) == torch.float32
    assert choose_dtype("auto", torch.device("cuda", 0)) == torch.bfloat16
    assert choose_dtype("float16", torch.device("cpu")) == torch.float16


def test_threads_are_set_when_given(target):
    before = torch.get_num_threads()
    try:
        pair, _ = load(target, n_threads=1)
        batch = probe_batch(0, 1, n_ids=300, device=torch.device("cpu"))
        pair.target.forward(batch, ProbeStore(), n_logits=1)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


def test_a_config_can_be_replaced_without_loading(target):
    config = msgspec.structs.replace(RunConfig(), target=str(target))
    assert config.draft_model == "bundled-draft"
