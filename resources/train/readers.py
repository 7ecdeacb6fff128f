"""Readers that turn a downloaded package into plain documents."""

from __future__ import annotations

import ast
import gzip
import re
import zipfile
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

SKIPPED_FOLDERS = (
    "_vendor",
    "_vendored",
    "vendor",
    "vendored",
    "extern",
    "externals",
    "lib2to3",
    "_generated",
    "locale",
    "locales",
    "unicode",
    "encodings",
)
Document = tuple[str, str]  # (path inside the source, text)


def clean_code(text: str) -> str | None:
    """The Python text without its licence header, or None where it is no good example."""
    if not 400 <= len(text) <= 120_000 or "\t" in text or "\x00" in text:
        return None
    if max(map(len, text.split("\n"))) > 160 or sum(ord(c) > 127 for c in text) > len(text) // 100:
        return None
    if sum(c.isdigit() for c in text) > len(text) // 6:
        return None
    lines = text.replace("\r\n", "\n").split("\n")
    head = 0
    while head < len(lines) and (lines[head].startswith("#") or not lines[head].strip()):
        head += 1
    text = "\n".join(lines[head:]).strip("\n") + "\n"
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    return text if len(text) >= 400 else None


def python_wheel(path: Path) -> Iterator[Document]:
    """The usable Python files of a wheel."""
    with zipfile.ZipFile(path) as archive:
        for info in sorted(archive.infolist(), key=lambda item: item.filename):
            name = info.filename
            if not name.endswith(".py") or any(p in SKIPPED_FOLDERS for p in name.split("/")):
                continue
            text = clean_code(archive.read(info).decode("utf-8", "replace"))
            if text:
                yield name, text


def python_tree(root: Path) -> Iterator[Document]:
    """The usable Python files below ``root``."""
    for path in sorted(root.rglob("*.py")):
        if path.is_symlink() or any(p in SKIPPED_FOLDERS for p in path.parts):
            continue
        text = clean_code(path.read_text("utf-8", "replace"))
        if text:
            yield path.relative_to(root).as_posix(), text


def prose_paragraphs(text: str) -> str:
    """The sentences of ``text``: whole paragraphs, each on one line, a blank line between."""
    kept = []
    for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n")):
        if block.startswith((" ", "\t", "..", "#", "-", "=", "+", "|", ">>>", ":")):
            continue
        line = " ".join(block.split())
        line = re.sub(r":[a-z:+-]+:`([^`<]*?)(?:\s*<[^`]*>)?`", r"\1", line)
        line = re.sub(r"`([^`<]*?)\s*<[^`]*>`_*", r"\1", line)
        line = line.replace("``", "").replace("`_", "").replace("`", "").replace("**", "")
        line = re.sub(r"(?<![\w])[~!](?=\w)", "", line)
        letters = sum(c.isalpha() or c == " " for c in line)
        if len(line) >= 60 and letters > 0.9 * len(line) and line[-1] in ".!?:\"'":
            kept.append(line.rstrip(":") + (":" if line.endswith("::") or line[-1] == ":" else ""))
    return "\n\n".join(kept) + "\n" if kept else ""


class _Paragraphs(HTMLParser):
    """Collects the text of every ``<p>`` element."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[str] = []
        self._open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "p":
            self._open = True
            self.blocks.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "p":
            self._open = False

    def handle_data(self, data: str) -> None:
        if self._open:
            self.blocks[-1] += data


def documentation_tree(root: Path) -> Iterator[Document]:
    """Prose of the reST sources below ``root``, or of its HTML pages where it has none."""
    pages = sorted(root.rglob("*.rst.txt")) or sorted(root.rglob("*.html"))
    for path in pages:
        if path.is_symlink() or "generated" in path.parts:
            continue
        text = path.read_text("utf-8", "replace")
        if path.suffix == ".html":
            parser = _Paragraphs()
            parser.feed(text)
            text = "\n\n".join(" ".join(b.replace("¶", "").split()) for b in parser.blocks)
        text = prose_paragraphs(text)
        if len(text) >= 600:
            yield path.relative_to(root).as_posix(), text


def _r_strings(data: bytes) -> list[str]:
    """The character vector in an R serialization (XDR, version 3)."""
    at = 14 + int.from_bytes(data[14:18], "big") + 4
    count = int.from_bytes(data[at + 4 : at + 8], "big")
    at += 8
    strings = []
    for _ in range(count):
        size = int.from_bytes(data[at + 4 : at + 8], "big", signed=True)
        at += 8
        strings.append(data[at : at + max(size, 0)].decode("utf-8", "replace"))
        at += max(size, 0)
    return strings


def novels(root: Path) -> Iterator[Document]:
    """Chapters of the novels in an R data base (zlib streams with a length before each)."""
    data = next(root.rglob("Rdata.rdb")).read_bytes()
    at = 0
    while at < len(data):
        stream = zlib.decompressobj()
        body = stream.decompress(data[at + 4 :])
        at = len(data) - len(stream.unused_data)
        lines = _r_strings(body)
        title = re.sub(r"\W+", "-", lines[0].lower())
        chapters = re.split(r"(?mi)^\s*chapter\s+[ivxlc\d]+\.?.*$", "\n".join(lines))
        for number, chapter in enumerate(chapters):
            text = prose_paragraphs(chapter.replace("_", ""))
            if len(text) >= 600:
                yield f"{title}/chapter-{number:02d}", text


def old_texts(root: Path) -> Iterator[Document]:
    """The two public-domain texts among the Go test data."""
    for path in sorted(root.rglob("*.txt")):
        if path.name in ("Isaac.Newton-Opticks.txt", "gettysburg.txt") and not path.is_symlink():
            text = re.sub(r"(?m)^ {1,4}(?=\S)", "", path.read_text("utf-8", "replace"))
            body = prose_paragraphs(text.replace("_", ""))
            if len(body) >= 600:
                yield path.name, body


def dictionary(root: Path) -> Iterator[Document]:
    """Entries of The Devil's Dictionary, fifty to a document."""
    raw = gzip.decompress(next(root.rglob("devil.dict.dz")).read_bytes()).decode("utf-8", "replace")
    blocks = [" ".join(block.split()) for block in re.split(r"\n\s*\n", raw)]
    blocks = [b for b in blocks if len(b) >= 40]
    for number in range(0, len(blocks), 50):
        yield f"entries-{number // 50:02d}", "\n\n".join(blocks[number : number + 50]) + "\n"


APT_READERS = {
    "libpython3.11-stdlib": python_tree,
    "libpython3.11-minimal": python_tree,
    "libpython3.11-testsuite": python_tree,
    "r-cran-janeaustenr": novels,
    "golang-1.19-src": old_texts,
    "dict-devil": dictionary,
}
