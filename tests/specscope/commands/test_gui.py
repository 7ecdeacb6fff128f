"""``specscope gui``: what it says where no window can be shown."""

import pytest
from click.testing import CliRunner

from specscope.cli import main


@pytest.mark.parametrize("arguments", [["gui"], []])
def test_without_a_display_it_names_the_terminals_command(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2
    assert "specscope run" in done.output
    assert "no display" in done.output


def test_a_session_that_is_not_there_is_told() -> None:
    done = CliRunner().invoke(main, ["gui", "no-such-session"])
    assert done.exit_code == 2
    assert "no session 'no-such-session'" in done.output


def test_a_size_that_is_none_is_told(tmp_path: object) -> None:
    done = CliRunner().invoke(main, ["gui", "--screenshots", str(tmp_path), "--size", "large"])
    assert done.exit_code == 2
    assert "WxH" in done.output
