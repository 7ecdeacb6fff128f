"""Draft tokens as CSV: one row each, with every number unchanged."""

import csv
from pathlib import Path

import msgspec

from engine.wire.events import DraftProposed, DraftVerified
from sessions.export.options import ExportOptions, StepRange
from sessions.export.token_csv import write_token_csv
from sessions.export.token_rows import TokenRow
from tests.support.export_streams import plain_session, two_sequences


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def test_every_judged_token_is_a_row(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    events = two_sequences()
    write_token_csv(events, path)
    rows = rows_of(path)
    verdicts = [event for event in events if isinstance(event, DraftVerified)]
    assert len(rows) == sum(len(event.fates) for event in verdicts)
    told = iter(rows)
    for event in verdicts:
        for index, fate in enumerate(event.fates):
            row = next(told)
            assert row["fate"] == fate
            assert int(row["sequence_id"]) == event.sequence_id
            assert int(row["step"]) == event.step
            assert int(row["draft_index"]) == index
            assert int(row["position"]) == event.position + index
            assert row["token_text"] == event.token_texts[index]
            assert float(row["target_prob"]) == event.target_probs[index]
            assert float(row["uniform"]) == event.uniforms[index]
            assert (row["gamma"], row["drafter"]) == ("4", "model")


def test_awkward_texts_and_numbers_come_back(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    texts = ('"', ",\n", "\r\n", "é \u2028")
    probs = (0.1, 1e-300, 1 / 3, 1.0)
    events = [
        msgspec.structs.replace(event, token_texts=texts, draft_probs=probs)
        if isinstance(event, DraftVerified)
        else event
        for event in plain_session(1)
        if not isinstance(event, DraftProposed)
    ]
    write_token_csv(events, path)
    rows = rows_of(path)
    assert tuple(row["token_text"] for row in rows) == texts
    assert tuple(float(row["draft_prob"]) for row in rows) == probs
    assert {row["gamma"] for row in rows} == {""}  # its proposal was not told


def test_no_tokens_is_a_header(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    write_token_csv(plain_session(0), path)
    assert path.read_text().strip().split(",") == list(TokenRow._fields)


def test_a_part(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    write_token_csv(plain_session(5), path, options=ExportOptions(StepRange(1, 2)))
    assert {row["step"] for row in rows_of(path)} == {"1", "2"}
