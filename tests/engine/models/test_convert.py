"""A GGUF file written here becomes a folder that loads, with the same choices."""

import json

import gguf
import numpy as np
import pytest
import torch

from engine.models.checkpoint import check_safetensors
from engine.models.convert import main
from engine.models.loading import load_pair
from engine.models.probe import ProbeStore, probe_batch
from engine.models.token_bytes import byte_alphabet
from engine.wire.config import RunConfig

N_TOKENS, HIDDEN, HEADS, KV_HEADS, INNER, LAYERS = 270, 32, 4, 2, 64, 2


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(64)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(HIDDEN // HEADS)
    writer.add_vocab_size(N_TOKENS)
    tokens = [
        "<unk>",
        "<s>",
        "</s>",
        *sorted(byte_alphabet()),
        "th",
        "the",
        *(f"w{i}" for i in range(9)),
    ]
    kinds = [gguf.TokenType.CONTROL] * 3 + [gguf.TokenType.NORMAL] * (N_TOKENS - 3)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(["t h", "th e"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    generator = np.random.default_rng(0)

    def add(name, *shape):
        writer.add_tensor(name, generator.standard_normal(shape).astype(np.float32) * 0.3)

    add("token_embd.weight", N_TOKENS, HIDDEN)
    writer.add_tensor("output_norm.weight", np.ones(HIDDEN, np.float32))
    kv = HIDDEN // HEADS * KV_HEADS
    for layer in range(LAYERS):
        for part in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{part}.weight", np.ones(HIDDEN, np.float32))
        add(f"blk.{layer}.attn_q.weight", HIDDEN, HIDDEN)
        add(f"blk.{layer}.attn_k.weight", kv, HIDDEN)
        add(f"blk.{layer}.attn_v.weight", kv, HIDDEN)
        add(f"blk.{layer}.attn_output.weight", HIDDEN, HIDDEN)
        add(f"blk.{layer}.ffn_gate.weight", INNER, HIDDEN)
        add(f"blk.{layer}.ffn_up.weight", INNER, HIDDEN)
        add(f"blk.{layer}.ffn_down.weight", HIDDEN, INNER)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _load(target):
    config = RunConfig(target=str(target), draft="none", device="cpu")
    return load_pair(config, progress=lambda text: None)


def test_a_gguf_file_loads_and_converts_to_the_same_model(file, tmp_path, capsys):
    folder = tmp_path / "made"
    assert main([str(file), str(folder)]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["done"] for line in lines[:-1]] == [0, 1, 2, 3]
    check_safetensors(folder / "model.safetensors")
    settings = json.loads((folder / "config.json").read_text())
    assert settings["architectures"] == ["LlamaForCausalLM"]
    assert not any(key.startswith("_") for key in settings)
    assert str(tmp_path) not in (folder / "config.json").read_text()
    direct, stored = _load(file), _load(folder)
    assert direct.n_tokens == stored.n_tokens == N_TOKENS
    batch = probe_batch(0, 9, n_ids=N_TOKENS, device=torch.device("cpu"))
    ours, theirs = (
        pair.target.forward(batch, ProbeStore(), n_logits=9) for pair in (direct, stored)
    )
    assert torch.equal(ours.argmax(-1), theirs.argmax(-1))
    if lines[-1]["dtype"] == "float32":
        torch.testing.assert_close(ours, theirs)
    assert direct.tokenizer.encode("the", chat=False) == stored.tokenizer.encode("the", chat=False)


def test_a_truncated_file_is_refused(file, tmp_path, capsys):
    broken = tmp_path / "broken.gguf"
    content = file.read_bytes()
    for size in (len(content) // 2, 200):
        broken.write_bytes(content[:size])
        assert main([str(broken), str(tmp_path / "out")]) == 2
        assert "truncated" in json.loads(capsys.readouterr().out.splitlines()[-1])["error"]


def test_a_missing_file_and_wrong_usage(tmp_path, capsys):
    assert main([str(tmp_path / "no.gguf"), str(tmp_path)]) == 2
    assert main([]) == 2
    assert "usage" in capsys.readouterr().out
