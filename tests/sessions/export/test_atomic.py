"""A file appears whole or not at all."""

from pathlib import Path

import pytest

from sessions.export.atomic import written_beside
from sessions.export.options import ExportError
from tests.support.export_streams import left_in


def test_it_appears_when_the_block_is_left(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    with written_beside(path) as beside:
        beside.write_text("whole")
        assert not path.exists()
        assert beside.parent == path.parent
    assert left_in(tmp_path) == ["out.json"]
    assert path.read_text() == "whole"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_exception_leaves_what_was_there(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "out.json"
    path.write_text("before")

    def write() -> None:
        with written_beside(path) as beside:
            beside.write_text("half")
            raise error

    with pytest.raises(error):
        write()
    assert left_in(tmp_path) == ["out.json"]
    assert path.read_text() == "before"


def test_a_disk_that_refuses_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    with pytest.raises(ExportError, match="cannot be written: No space"), written_beside(path):
        raise OSError(28, "No space left on device")
    with pytest.raises(ExportError, match="is no folder"), written_beside(tmp_path / "no" / "out"):
        pass
    with pytest.raises(ExportError, match="is a folder"), written_beside(tmp_path):
        pass
    assert left_in(tmp_path) == []
