"""Where a folder carries no write-ahead log, the file is written the older, safer way."""

from collections import namedtuple
from pathlib import Path

import pytest

from sessions import session_journal
from sessions.session_file import SessionFile
from sessions.session_journal import network_file_system
from tests.sessions.recorded import lines, script, stored

Mount = namedtuple("Mount", "mountpoint fstype opts")
LOCAL = Mount("/", "ext4", "rw")


def pragma(file: SessionFile, name: str) -> object:
    return file._database.execute(f"PRAGMA {name}").fetchone()[0]


def test_a_local_folder_has_a_log(tmp_path: Path) -> None:
    with SessionFile.create(tmp_path / "x.specscope") as file:
        assert pragma(file, "journal_mode") == "wal"
        assert file.warning == ""


@pytest.mark.parametrize(
    "kind", ["nfs", "nfs4", "cifs", "smb3", "fuse", "fuse.sshfs", "9p", "FUSE.rclone"]
)
def test_a_network_folder_has_none_and_is_named_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    mounts = [LOCAL, Mount(str(tmp_path), kind, "rw")]
    monkeypatch.setattr(session_journal.psutil, "disk_partitions", lambda all: mounts)
    with SessionFile.create(tmp_path / "x.specscope") as file:
        assert pragma(file, "journal_mode") == "delete"
        assert pragma(file, "synchronous") == 2
        assert file.warning.count(str(tmp_path)) == 1
        assert kind.lower() in file.warning
        file.append(lines(script()))
        assert not (tmp_path / "x.specscope-wal").exists()
    assert stored(tmp_path / "x.specscope") == script()


def test_a_folder_that_refuses_a_log_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_journal, "ask_for_log", lambda database: "delete")
    with SessionFile.create(tmp_path / "x.specscope") as file:
        assert pragma(file, "synchronous") == 2
        assert str(tmp_path) in file.warning
        file.append(lines(script()))
    assert stored(tmp_path / "x.specscope") == script()


@pytest.mark.parametrize(
    ("mounts", "folder", "expected"),
    [
        ([LOCAL], "/home/a", ""),
        ([LOCAL, Mount("/net", "nfs4", "rw")], "/net/deep/er", "nfs4"),
        ([LOCAL, Mount("/net", "nfs4", "rw")], "/network", ""),
        ([LOCAL, Mount("/net", "nfs4", "rw"), Mount("/net/disk", "ext4", "rw")], "/net/disk/x", ""),
        ([LOCAL, Mount("/d", "ext4", "rw"), Mount("/d", "cifs", "rw")], "/d", "cifs"),
        ([Mount("/", "9p", "rw")], "/anywhere", "9p"),
        ([Mount("/", "ntfs", "rw,remote")], "/anywhere", "ntfs"),
        ([], "/anywhere", ""),
    ],
)
def test_the_longest_mount_decides(mounts: list[Mount], folder: str, expected: str) -> None:
    assert network_file_system(Path(folder), mounts) == expected


def test_a_link_to_a_network_folder_is_one(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "net")
    mounts = [LOCAL, Mount(str(tmp_path / "net"), "nfs", "rw")]
    assert network_file_system(tmp_path / "link", mounts) == "nfs"


def test_where_it_cannot_be_told_the_safer_way_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(all: bool) -> list[Mount]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(session_journal.psutil, "disk_partitions", refuse)
    with SessionFile.create(tmp_path / "x.specscope") as file:
        assert pragma(file, "journal_mode") == "delete"
