"""Fetch the sources, read their documents and split them into training and held-out files.

    python -m resources.train.corpus fetch --work DIR
    python -m resources.train.corpus build --work DIR

``build`` writes ``train.jsonl`` and ``heldout.jsonl`` (one document a line: kind, source, path,
text) and ``manifest.json`` (documents and bytes by source). The split is by document: a hash of
source and path decides, so no part of a held-out document is ever trained on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from resources.train.json_records import json_document
from resources.train.readers import APT_READERS, Document, documentation_tree, python_wheel
from resources.train.sources import Source, all_sources

HELD_OUT_ONE_IN = 50


def key_of(source: str, path: str) -> int:
    """A stable 32-bit number for a document."""
    return int.from_bytes(hashlib.sha256(f"{source}/{path}".encode()).digest()[:4], "big")


def is_held_out(source: str, path: str) -> bool:
    """Whether the document belongs to the held-out split."""
    return key_of(source, path) % HELD_OUT_ONE_IN == 0


def fetch(work: Path) -> None:
    """Download every package by name and exact version, and unpack the Debian ones."""
    wheels, debs = work / "dl" / "wheels", work / "dl" / "debs"
    wheels.mkdir(parents=True, exist_ok=True)
    debs.mkdir(parents=True, exist_ok=True)
    sources = all_sources()
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--only-binary",
            ":all:",
            "-d",
            str(wheels),
            *(f"{s.name}=={s.version}" for s in sources if s.channel == "pip"),
        ],
        check=True,
    )
    apt = [s for s in sources if s.channel == "apt"]
    subprocess.run(
        ["apt-get", "download", *(f"{s.name}={s.version}" for s in apt)], cwd=debs, check=True
    )
    for source in apt:
        deb = next(debs.glob(f"{source.name}_*.deb"))
        target = work / "ex" / source.name
        subprocess.run(["dpkg-deb", "-x", str(deb), str(target)], check=True)


def documents_of(source: Source, work: Path) -> Iterator[Document]:
    """The documents of one fetched source."""
    if source.channel == "generated":
        for index in range(20_000):
            yield f"document-{index:05d}", json_document(index)
    elif source.channel == "pip":
        wheel = next((work / "dl" / "wheels").glob(f"{source.name}-{source.version}-*.whl"))
        yield from python_wheel(wheel)
    else:
        yield from APT_READERS.get(source.name, documentation_tree)(work / "ex" / source.name)


def build(work: Path) -> dict[str, dict[str, object]]:
    """Write both splits; returns the manifest, by source name."""
    seen: set[bytes] = set()
    manifest: dict[str, dict[str, object]] = {}
    with open(work / "train.jsonl", "w") as train, open(work / "heldout.jsonl", "w") as held:
        for source in all_sources():
            found = sorted(documents_of(source, work), key=lambda d: key_of(source.name, d[0]))
            used = counted = 0
            for path, text in found:
                digest = hashlib.sha256("".join(text.split())[:2000].encode()).digest()
                if digest in seen or used + len(text) > source.cap_bytes:
                    continue
                seen.add(digest)
                used += len(text)
                counted += 1
                out = held if is_held_out(source.name, path) else train
                out.write(
                    json.dumps(
                        {"kind": source.kind, "source": source.name, "path": path, "text": text}
                    )
                    + "\n"
                )
            manifest[source.name] = {
                "kind": source.kind,
                "version": source.version,
                "licence": source.licence,
                "documents": counted,
                "bytes": used,
            }
            print(source.name, counted, used, flush=True)
    (work / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    return manifest


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("fetch", "build"))
    parser.add_argument("--work", type=Path, required=True)
    arguments = parser.parse_args()
    (fetch if arguments.step == "fetch" else build)(arguments.work)


if __name__ == "__main__":
    main()
