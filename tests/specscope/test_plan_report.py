"""What a plan says to a person."""

import pytest

from specscope.plan_report import make_table, or_dash, print_facts, print_table


def test_a_number_that_does_not_exist_is_a_dash() -> None:
    assert or_dash(None) == "-"
    assert or_dash(None, "never") == "never"
    assert or_dash(0.12345) == "0.123"


def test_facts_and_tables_reach_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    print_facts("A title", {"name": "value"})
    table = make_table("first", "second")
    table.add_row("row", "1")
    print_table(table)
    out = capsys.readouterr().out
    for word in ("A title", "name", "value", "first", "second", "row"):
        assert word in out
