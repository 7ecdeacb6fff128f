"""Shapes of the two models, checkpoints, and the export to transformers folders."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import torch
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

from resources.train.tokenizer import VOCABULARY

CONTEXT = 1024


HEADS, KV_HEADS, HEAD_DIM = 4, 2, 64


def _config(hidden: int, layers: int, inner: int) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=hidden,
        num_hidden_layers=layers,
        intermediate_size=inner,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        head_dim=HEAD_DIM,
        tie_word_embeddings=True,
        max_position_embeddings=CONTEXT,
        rms_norm_eps=1e-6,
        bos_token_id=0,
        eos_token_id=0,
        pad_token_id=0,
    )


def target_config() -> LlamaConfig:
    """Twelve narrow layers: slow per token next to the draft, yet quick to train."""
    return _config(hidden=256, layers=12, inner=640)


def wide_draft_config() -> LlamaConfig:
    """One layer as wide as the target's: what the joint training trains."""
    return _config(hidden=256, layers=1, inner=768)


def draft_config() -> LlamaConfig:
    """The draft as it ships: of its forward the output matrix is most, and that has its width."""
    return _config(hidden=160, layers=1, inner=512)


def new_pair(seed: int = 11) -> tuple[LlamaForCausalLM, LlamaForCausalLM]:
    """Freshly initialised target and wide draft in fp32; residual outputs start at zero."""
    torch.manual_seed(seed)
    models = LlamaForCausalLM(target_config()), LlamaForCausalLM(wide_draft_config())
    for model in models:
        for layer in model.model.layers:
            torch.nn.init.zeros_(layer.self_attn.o_proj.weight)
            torch.nn.init.zeros_(layer.mlp.down_proj.weight)
    return models


def save_checkpoint(path: Path, content: dict[str, object]) -> None:
    """Write a checkpoint whole or not at all."""
    partial = path.with_suffix(".partial")
    torch.save(content, partial)
    partial.replace(path)


def export(model: LlamaForCausalLM, tokenizer: Path, folder: Path) -> None:
    """Write one model as a plain transformers folder in bf16, with its tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    copy: Any = LlamaForCausalLM(model.config)
    copy.load_state_dict(model.state_dict())
    copy = copy.to(torch.bfloat16)
    copy.generation_config = GenerationConfig(bos_token_id=0, eos_token_id=0, pad_token_id=0)
    copy.save_pretrained(folder)
    (folder / "model.safetensors").chmod(0o644)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(tokenizer / name, folder / name)


def export_pair(target: LlamaForCausalLM, draft: LlamaForCausalLM, work: Path, out: Path) -> None:
    """Write ``target/`` and ``draft/`` below ``out``."""
    export(target, work / "tokenizer", out / "target")
    export(draft, work / "tokenizer", out / "draft")
