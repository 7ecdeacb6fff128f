"""Write the licence table of the corpus and the manifest that ships beside the models.

python -m resources.train.licences --work DIR --out resources/models
"""

from __future__ import annotations

import argparse
from pathlib import Path

from resources.train.sources import all_sources

HEAD = """# Licences of the training text

Every source that the corpus reads, with its exact version. `code` and `json` sources contribute
whole files, `prose` sources only their paragraphs. Sources marked PSF-2.0 are the Python standard
library and its documentation. The models and the tokenizer themselves are under the project's own
licence; the prompts in `resources/prompts` quote short beginnings of held-out documents, and each
line names its source and licence.

| source | version | kind | licence |
| --- | --- | --- | --- |
"""


def licence_table() -> str:
    """The Markdown page with one row for each source."""
    return HEAD + "".join(
        f"| {s.name} | {s.version} | {s.kind} | {s.licence} |\n" for s in all_sources()
    )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    (arguments.out / "LICENCES.md").write_text(licence_table())
    (arguments.out / "corpus.json").write_text((arguments.work / "manifest.json").read_text())


if __name__ == "__main__":
    main()
