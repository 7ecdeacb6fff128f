"""Train the byte-level BPE tokenizer and encode both splits.

    python -m resources.train.tokenizer --work DIR

Writes ``tokenizer/`` (transformers files), and for each split ``SPLIT-KIND.npy``: one uint16 array
of all documents of a kind, each followed by the end-of-text token.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

VOCABULARY = 4096
END = "<|endoftext|>"
KINDS = ("code", "json", "prose")
# A word with one leading mark, a digit or other marks (with a leading blank), a line break with
# its indentation, blanks.
PATTERN = r"[^\r\n\p{L}\p{N}]?\p{L}+| ?\p{N}| ?[^\s\p{L}\p{N}]+|[ \t]*(?:\r?\n)+[ \t]*|\s+"
SAMPLE_BYTES = {"code": 16_000_000, "json": 2_000_000, "prose": 7_000_000}


def documents(path: Path) -> Iterator[dict[str, str]]:
    """The documents of one split, in file order."""
    with open(path) as lines:
        for line in lines:
            yield json.loads(line)


def sample(path: Path) -> Iterator[str]:
    """Training text for the tokenizer: a bounded share of each kind, spread over the sources."""
    left = dict(SAMPLE_BYTES)
    for number, document in enumerate(documents(path)):
        kind = document["kind"]
        if left[kind] > 0 and number % 4 == 0:
            left[kind] -= len(document["text"])
            yield document["text"]


def train_tokenizer(work: Path) -> PreTrainedTokenizerFast:
    """Train and save the tokenizer; any UTF-8 text survives encoding and decoding."""
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[END],
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    core.train_from_iterator(sample(work / "train.jsonl"), trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        bos_token=END,
        eos_token=END,
        pad_token=END,
        model_max_length=1024,
        clean_up_tokenization_spaces=False,
    )
    tokenizer.save_pretrained(work / "tokenizer")
    return tokenizer


def encode(work: Path, tokenizer: PreTrainedTokenizerFast) -> dict[str, int]:
    """Write the token arrays; returns how many tokens each holds."""
    counts = {}
    end = tokenizer.eos_token_id
    for split in ("train", "heldout"):
        found: dict[str, list[np.ndarray]] = {kind: [] for kind in KINDS}
        batch: list[dict[str, str]] = []
        for document in (*documents(work / f"{split}.jsonl"), None):
            if document is not None:
                batch.append(document)
            if batch and (document is None or len(batch) == 500):
                encoded = tokenizer.backend_tokenizer.encode_batch([d["text"] for d in batch])
                for one, item in zip(batch, encoded, strict=True):
                    found[one["kind"]].append(np.array([*item.ids, end], dtype=np.uint16))
                batch = []
        for kind in KINDS:
            tokens = np.concatenate(found[kind])
            np.save(work / f"{split}-{kind}.npy", tokens)
            counts[f"{split}-{kind}"] = int(tokens.size)
    (work / "tokens.json").write_text(json.dumps(counts, indent=1) + "\n")
    return counts


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    work = parser.parse_args().work
    print(json.dumps(encode(work, train_tokenizer(work))))


if __name__ == "__main__":
    main()
