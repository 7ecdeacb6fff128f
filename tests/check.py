"""Everything that must hold before a change lands, in one run: style, types, contracts, tests.

``python tests/check.py`` from the project's root; arguments are handed on to pytest, which runs on
all cores (``-n 0``: on one, in one process).
"""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARALLEL = ("-n", "logical", "--maxprocesses", "8", "--dist", "worksteal")

CHECKS = (
    ("style", ["ruff", "check", "."]),
    ("format", ["ruff", "format", "--check", "."]),
    ("types", ["mypy"]),
    ("import contracts", ["lint-imports"]),
    ("tests", ["pytest", *PARALLEL, *sys.argv[1:]]),
)


def main() -> int:
    """Run all checks, whatever the earlier ones say; the number of failed ones."""
    failed = []
    for name, command in CHECKS:
        print(f"== {name}: {' '.join(command)}", flush=True)
        start = time.monotonic()
        program = Path(sys.executable).with_name(command[0])  # of this very environment
        code = subprocess.run([program, *command[1:]], cwd=ROOT, check=False).returncode
        print(f"== {name}: {'ok' if code == 0 else 'FAILED'}, {time.monotonic() - start:.0f} s\n")
        if code:
            failed.append(name)
    print("all checks passed" if not failed else f"failed: {', '.join(failed)}", flush=True)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
