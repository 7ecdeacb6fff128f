"""Prompts from the command line, a file or standard input."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

MAX_PROMPT_FILE_BYTES = 64 * 1024 * 1024


MAX_PROMPT_BYTES = 4 * 1024 * 1024
"""Of one prompt; far above any model's context."""


@dataclass(frozen=True)
class Prompt:
    """Raises click.BadParameter when the text cannot be told: no Unicode text, or too long."""

    text: str
    label: str = ""
    max_new_tokens: int | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        try:
            n_bytes = len(self.text.encode("utf-8"))
        except UnicodeEncodeError as error:
            raise click.BadParameter(
                "The prompt is no Unicode text (it holds half a character): write it as UTF-8."
            ) from error
        if n_bytes > MAX_PROMPT_BYTES:
            raise click.BadParameter("The prompt is longer than 4 MiB: shorten it.")


def read_prompts(path: Path) -> list[Prompt]:
    """One prompt a line, or JSON lines: objects with ``prompt`` and, optionally, ``label``,
    ``max_new_tokens`` and ``seed``. Empty lines are skipped.

    Raises:
        click.BadParameter: the file cannot be read or holds no prompt; says which line is wrong.
    """
    try:
        if path.stat().st_size > MAX_PROMPT_FILE_BYTES:
            raise click.BadParameter(f"{path} is larger than 64 MiB: split it.")
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise click.BadParameter(f"{path} is not UTF-8 text: {error}.") from error
    except OSError as error:
        raise click.BadParameter(f"{path} cannot be read: {error.strerror}.") from error
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        raise click.BadParameter(f"{path} holds no prompt: write one a line.")
    if path.suffix.lower() in (".jsonl", ".ndjson") or lines[0][1].lstrip().startswith('{"'):
        return [_from_json(line, f"{path}, line {number}") for number, line in lines]
    return [Prompt(line) for _, line in lines]


def _from_json(line: str, place: str) -> Prompt:
    try:
        record: Any = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise click.BadParameter(f"{place} is not JSON: {error}.") from error
    if not isinstance(record, dict) or not isinstance(record.get("prompt"), str):
        raise click.BadParameter(f'{place} has no "prompt": write {{"prompt": "..."}}.')
    if not record["prompt"].strip():
        raise click.BadParameter(f'{place} has an empty "prompt".')
    for name in ("max_new_tokens", "seed"):
        value = record.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise click.BadParameter(f'{place}: "{name}" must be a whole number.')
        if value is not None and not -(2**63) <= value < 2**63:
            raise click.BadParameter(f'{place}: "{name}" must fit 64 bits.')
    return Prompt(
        record["prompt"],
        label=str(record.get("label", record.get("kind", ""))),
        max_new_tokens=record.get("max_new_tokens"),
        seed=record.get("seed"),
    )
