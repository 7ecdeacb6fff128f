"""What two independent readers of Nsight Systems exports make of a file of ours.

They write into the file and beside it, so each gets a copy, in a process and a folder of its own.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

READERS = ("nsys_tui", "nsys_ai")

_OFFLINE = """
import duckdb  # of nsys-ai: would fetch an extension from the network and wait for it
connect = duckdb.connect
duckdb.connect = lambda *args, **options: connect(
    *args,
    **{**options, "config": {
        **options.get("config", {}),
        "autoinstall_known_extensions": "false",
        "custom_extension_repository": "/nowhere",
    }},
)
"""

_COMMAND = """
import runpy, sys
sys.argv[0] = sys.argv.pop(1)
runpy.run_module(sys.argv[0], run_name="__main__")
"""

_PROGRAM = """
import importlib, json, sqlite3, sys
reader, path = sys.argv[1:]
found = {}
connection = sqlite3.connect(path)
tids = {row[0] for row in connection.execute("SELECT globalTid FROM NVTX_EVENTS")}
connection.close()
profile = importlib.import_module(reader + ".profile").Profile(path)
rows = profile.nvtx_events(tids, (0, 2**62))
found["ranges"] = sorted([row["start"], row["end"], row["text"]] for row in rows)
found["n_kernels"] = profile.meta.kernel_count
found["n_nvtx"] = profile.meta.nvtx_count
found["devices"] = profile.meta.devices
if reader == "nsys_ai":
    totals = profile.aggregate_nvtx_ranges()
    found["totals"] = {row["text"]: [row["count"], int(row["total_ns"])] for row in totals}
if profile.meta.devices:
    flat = importlib.import_module(reader + ".export_flat")
    window = (0, profile.meta.time_range[1] + 1)
    found["kernels"] = [
        [row["name"], row["start_ns"], row["end_ns"], row["nvtx_path"]]
        for row in flat._kernel_rows(profile, 0, window)
    ]
profile.close()
print(json.dumps(found))
"""


def read_with(reader: str, path: Path, folder: Path) -> dict[str, Any]:
    """Ranges, counts and, where there are kernels, the path of ranges each was launched in."""
    done = _run(_PROGRAM, [reader], path, folder)
    found: dict[str, Any] = json.loads(done.splitlines()[-1])
    return found


def run_command(reader: str, command: str, path: Path, folder: Path) -> str:
    """What a command of the reader (``info``, ``doctor``) prints about the file."""
    return _run(_COMMAND, [reader, command], path, folder)


def _run(program: str, arguments: list[str], path: Path, folder: Path) -> str:
    place = folder / f"copy-{len(list(folder.glob('copy-*')))}"
    place.mkdir()
    copy = Path(shutil.copy(path, place))
    text = f"{_OFFLINE}{program}" if arguments[0] == "nsys_ai" else program
    done = subprocess.run(
        [sys.executable, "-c", text, *arguments, str(copy)],
        cwd=place,
        env={**os.environ, "HOME": str(place), "PYTHONUTF8": "1", "TERM": "dumb"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{arguments} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout
