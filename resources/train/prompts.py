"""Choose the shipped prompts from the held-out split.

    python -m resources.train.prompts --work DIR --out resources/prompts

Writes ``code.jsonl``, ``json.jsonl`` and ``prose.jsonl``; every line holds the prompt and its
source (package, version, file, licence). A code prompt ends after a line.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from transformers import PreTrainedTokenizerFast

from resources.train.corpus import key_of
from resources.train.sources import all_sources
from resources.train.tokenizer import KINDS, documents

COUNTS = {"code": 30, "json": 20, "prose": 20}
LEAST, MOST = 48, 118
PER_SOURCE = {"code": 2, "json": 20, "prose": 4}


def cut(text: str, kind: str, tokenizer: PreTrainedTokenizerFast) -> str | None:
    """The beginning of a document as a prompt of LEAST to MOST tokens, or None."""
    ids = tokenizer(text[:2000])["input_ids"]
    if kind != "code":
        prompt = str(tokenizer.decode(ids[:88]))
        if len(ids) < 200 or "\ufffd" in prompt or not prompt.isascii():
            return None
        return prompt.rstrip() if kind == "prose" else prompt
    lines = text.split("\n")
    best = None
    for end in range(3, min(40, len(lines))):
        prompt = "\n".join(lines[:end])
        size = len(tokenizer(prompt)["input_ids"])
        if size > MOST:
            break
        ends_well = lines[end - 1].rstrip().endswith((":", '"""'))
        if size >= LEAST and ends_well and "def " in prompt and prompt.count('"""') % 2 == 0:
            best = prompt
    return best


def choose(work: Path, tokenizer: PreTrainedTokenizerFast) -> dict[str, list[dict[str, str]]]:
    """Prompts by kind, in a stable order that spreads them over the sources."""
    sources = {source.name: source for source in all_sources()}
    chosen: dict[str, list[dict[str, str]]] = {kind: [] for kind in KINDS}
    taken: dict[str, int] = {}
    held = sorted(documents(work / "heldout.jsonl"), key=lambda d: key_of("prompt", d["path"]))
    for document in held:
        kind, name = document["kind"], document["source"]
        full = len(chosen[kind]) >= COUNTS[kind] or taken.get(name, 0) >= PER_SOURCE[kind]
        prompt = None if full else cut(document["text"], kind, tokenizer)
        if prompt:
            taken[name] = taken.get(name, 0) + 1
            source = sources[name]
            chosen[kind].append(
                {
                    "prompt": prompt,
                    "source": (f"{name} {source.version}, {document['path']}, {source.licence}"),
                }
            )
    return chosen


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    tokenizer = PreTrainedTokenizerFast.from_pretrained(arguments.work / "tokenizer")
    for kind, lines in choose(arguments.work, tokenizer).items():
        path = arguments.out / f"{kind}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        print(path.name, len(lines))


if __name__ == "__main__":
    main()
