"""What stored sessions are called side by side."""

from pathlib import Path

from sessions.library import Library
from tests.sessions.recorded import record, script
from tests.sessions.scripted import with_settings
from ui.session_title import session_title


def test_what_drafted_is_told_where_the_name_does_not(tmp_path: Path) -> None:
    library = Library(tmp_path)
    for name in ("run", "small"):
        record(tmp_path / f"{name}.specscope", with_settings(script(), draft="small", gamma=4))
    record(tmp_path / "unknown.specscope", script())
    titles = {
        entry.path.stem: session_title(entry.summary)
        for entry in library.entries()
        if entry.summary is not None
    }
    assert titles["run"] == "run: small"
    assert titles["small"] == "small"
    assert titles["unknown"].startswith("unknown")
