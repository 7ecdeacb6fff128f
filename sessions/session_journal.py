"""How a session file's changes reach the disk: a write-ahead log where the folder carries one."""

import contextlib
import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import psutil
from sqlite_utils import Database

_NETWORK_TYPES = (
    "nfs", "cifs", "smb", "fuse", "9p", "afs", "ncpfs", "ceph", "glusterfs", "lustre", "beegfs",
    "vboxsf", "prl_fs", "drvfs", "webdav", "davfs", "sshfs",
)  # fmt: skip
"""How the names of file systems begin whose locks or shared memory do not hold between machines."""

_CHECKPOINT_PAGES = 8000
"""Pages in the log before it is folded into the file; a fold waits for the disk."""


class Mount(Protocol):
    """A row of ``psutil.disk_partitions``."""

    mountpoint: str
    fstype: str
    opts: str


def choose_journal(database: Database, path: Path) -> str:
    """Set journal and synchronisation for a file that will be written by the minute.

    Returns:
        A warning that names the folder when it carries no write-ahead log; empty when it does.
    """
    folder = path.absolute().parent
    file_system = network_file_system(folder)
    if file_system:
        _roll_back_journal(database)
        return (
            f"{folder} is on a network file system ({file_system}): the session is recorded with "
            "slower, safer writes. A local folder is quicker."
        )
    answer = ask_for_log(database)
    if answer != "wal":
        _roll_back_journal(database)
        return (
            f"{folder} cannot hold a write-ahead log: the session is recorded with slower, safer "
            "writes."
        )
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
    return ""


def ask_for_log(database: Database) -> str:
    """Ask SQLite for a write-ahead log; what it chose."""
    (answer,) = database.execute("PRAGMA journal_mode = WAL").fetchone()
    return str(answer).lower()


def end_journal(database: Database) -> None:
    """Fold a write-ahead log into the file, so that the file alone is the session.

    When another program reads it just now, or the disk is full, the log stays beside the file: the
    session is as complete, only in two files.
    """
    with contextlib.suppress(sqlite3.OperationalError):
        database.execute("PRAGMA journal_mode = DELETE").fetchone()


def network_file_system(folder: Path, mounts: Iterable[Mount] | None = None) -> str:
    """The type of the network file system ``folder`` is on; empty when it is on none."""
    place = os.path.realpath(folder)
    if place.startswith("\\\\"):
        return "a Windows share"
    if mounts is None:
        try:
            mounts = psutil.disk_partitions(all=True)
        except OSError:  # then the way that holds everywhere is taken
            return "unknown"
    holding = [mount for mount in mounts if _holds(mount.mountpoint, place)]
    if not holding:
        return ""
    # Of two mounts on one place the later hides the earlier.
    longest = max(len(mount.mountpoint) for mount in holding)
    mount = [mount for mount in holding if len(mount.mountpoint) == longest][-1]
    kind = mount.fstype.lower()
    is_network = kind.startswith(_NETWORK_TYPES) or "remote" in mount.opts.split(",")
    return kind or "remote" if is_network else ""


def _holds(mountpoint: str, place: str) -> bool:
    inside = os.path.join(mountpoint, "")
    return place == mountpoint or os.path.join(place, "").startswith(inside)


def _roll_back_journal(database: Database) -> None:
    database.execute("PRAGMA journal_mode = DELETE").fetchone()
    database.execute("PRAGMA synchronous = FULL")
