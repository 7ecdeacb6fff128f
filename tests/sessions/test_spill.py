import os
import sys
from pathlib import Path

import numpy as np
import psutil
import pytest

from sessions.columns import Kind, Table, TextPool
from sessions.spill import Spill

pytestmark = pytest.mark.skipif(
    not hasattr(os, "posix_fallocate"), reason="no file can be reserved here"
)

KINDS = {"size": Kind.INT, "place": Kind.COUNT, "share": Kind.FLOAT, "late": Kind.INT}


def table(spill: Spill | None) -> Table:
    return Table("rows", KINDS, TextPool(), spill=spill)


def fill(rows: Table, n_rows: int, *, at_once: int = 5000) -> None:
    for first in range(0, n_rows, at_once):
        numbers = np.arange(first, min(first + at_once, n_rows))
        rows.append(
            len(numbers),
            ordinal=numbers,
            t_ns=numbers * 3,
            size=numbers * 7 - 1,
            place=numbers % 1000,
            share=numbers / 3,
            # The same in every row at first, so that it becomes a column late.
            late=np.where(numbers < n_rows // 2, 5, numbers),
        )


def resident_mb() -> float:
    return psutil.Process().memory_info().rss / 1e6


def test_spilled_columns_hold_what_others_hold(tmp_path: Path) -> None:
    plain, spilled = table(None), table(Spill(tmp_path))
    early = None
    for rows in (plain, spilled):
        fill(rows, 30_000)
    early = spilled.prefix(25_000)["size"].copy(), spilled.prefix(25_000)["size"]
    for rows in (plain, spilled):
        fill(rows, 200_000)  # t_ns of the first of these are raised to the last of the others
    assert len(spilled) == len(plain) == 230_000
    for column in plain.kinds:
        np.testing.assert_array_equal(spilled.view(column, 230_000), plain.view(column, 230_000))
    np.testing.assert_array_equal(*early)  # a view from before the table grew


@pytest.mark.skipif(sys.platform != "linux", reason="counts the pages a process holds")
def test_rows_that_are_there_to_stay_take_no_memory(tmp_path: Path) -> None:
    n_rows = 1_500_000
    spilled = table(Spill(tmp_path))
    fill(spilled, 200_000)
    before = resident_mb()
    fill(spilled, n_rows)
    grown = resident_mb() - before
    assert spilled.n_bytes > 55e6
    assert grown < 20
    spilled._grow(2 * n_rows)  # the rows are copied, and let go of at once
    assert resident_mb() - before < 25
    assert int(spilled.view("size", len(spilled))[-1]) == (n_rows - 1) * 7 - 1


def test_nothing_is_left_in_the_folder(tmp_path: Path) -> None:
    spilled = table(Spill(tmp_path / "made" / "on the way"))
    fill(spilled, 100_000)
    assert list((tmp_path / "made" / "on the way").iterdir()) == []


def test_little_is_kept_in_memory(tmp_path: Path) -> None:
    fill(table(Spill(tmp_path / "spill")), 1000)
    assert not (tmp_path / "spill").exists()


@pytest.mark.parametrize("fault", ["full", "no folder"])
def test_where_a_file_cannot_be_had_memory_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    asked = []

    def refuse(file: int, first: int, n_bytes: int) -> None:
        asked.append(n_bytes)
        raise OSError(28, "No space left on device")

    folder = tmp_path / "spill"
    if fault == "full":
        monkeypatch.setattr(os, "posix_fallocate", refuse)
    else:
        folder.write_text("a file in its place")
    plain, spilled = table(None), table(Spill(folder))
    for rows in (plain, spilled):
        fill(rows, 100_000)
    for column in plain.kinds:
        np.testing.assert_array_equal(spilled.view(column, 100_000), plain.view(column, 100_000))
    assert len(asked) == (fault == "full")  # asked once, not with every growth
