"""What the window remembers, and files that cannot be used."""

from pathlib import Path

import pytest

from ui.preferences import Preferences, preferences_path


def test_what_is_saved_is_there_again(tmp_path: Path) -> None:
    preferences = Preferences(tmp_path / "folder" / "window.json")
    preferences.values.theme = "light"
    preferences.values.bookmarks["a"] = [1, 2]
    preferences.save()
    again = Preferences(preferences.path)
    assert again.values == preferences.values
    assert list(preferences.path.parent.iterdir()) == [preferences.path]


def test_one_field_that_is_not_understood_does_not_cost_the_others(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    path.write_text('{"theme": 5, "layout": "why", "bookmarks": {"a": [1], "b": [-2]}}')
    values = Preferences(path).values
    assert (values.theme, values.layout, values.bookmarks) == ("system", "why", {})


def test_a_name_that_is_no_unicode_text_does_no_harm(tmp_path: Path) -> None:
    preferences = Preferences(tmp_path / "window.json")
    preferences.values.bookmarks["\udcff"] = [1]
    preferences.save()
    assert Preferences(preferences.path).values.bookmarks == {}


@pytest.mark.parametrize("text", ["", "{", '{"theme": 3}', "[]", "\x00"])
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "window.json"
    path.write_text(text)
    assert Preferences(path).values.theme == "system"


def test_unknown_fields_of_a_newer_version_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    path.write_text('{"theme": "dark", "new": {"a": 1}}')
    assert Preferences(path).values.theme == "dark"


def test_bookmarks_of_few_sessions_are_kept(tmp_path: Path) -> None:
    preferences = Preferences(tmp_path / "window.json")
    preferences.values.bookmarks = {str(n): [n] for n in range(500)}
    preferences.save()
    assert list(Preferences(preferences.path).values.bookmarks)[-1] == "499"
    assert len(Preferences(preferences.path).values.bookmarks) == 200


def test_a_folder_that_cannot_be_written_is_let_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    Preferences(tmp_path / "file" / "window.json").save()


def test_the_users_own_folder_can_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(tmp_path))
    assert preferences_path() == tmp_path / "window.json"
