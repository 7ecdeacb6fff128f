"""The block panel: its digest on scripted caches, what it draws, what a click selects."""

import pytest

from sessions.kv_map import BlockState
from sessions.snapshot import Snapshot
from sessions.tables import DRAFT, TARGET
from tests.sessions.played import model_of, snapshot_of
from tests.support.event_script import EventScript
from ui.look import Look
from ui.moment import Moment, View
from ui.panels.kv_blocks import KvBlocks, KvBlocksPanel, block_words, legend
from ui.plots.block_cells import Cell
from ui.theme import DARK
from ui.view_state import ViewState


def script() -> EventScript:
    told = EventScript(n_blocks=12, block_size=4)
    told.sequence("abcdef", max_new_tokens=30)  # five positions: blocks 0 and 1
    told.sequence("abc", max_new_tokens=30)  # two: block 2
    told.step(0, drafted=8, accepted=0)  # written to 14, kept 6: nothing stays in blocks 3 and 4
    return told


def digested(snapshot: Snapshot, view: View | None = None) -> KvBlocks:
    found = KvBlocksPanel.digest(Moment(snapshot=snapshot, newest=snapshot), view or View())
    assert isinstance(found, KvBlocks)
    return found


def test_cells_fills_and_the_table_of_the_sequence_looked_at() -> None:
    found = digested(snapshot_of(script().events), View(sequence_id=0))
    target = found.grid(TARGET)
    assert target is not None
    assert target.cells[:4].tolist() == [Cell.FILLED, Cell.FILLED, Cell.FILLED, Cell.CROSSED]
    assert target.filled[:3].tolist() == [1.0, 0.5, 0.5]
    assert target.rolled_back.tolist()[:3] == [0.0, 0.5, 0.0]
    assert found.owners == (0, 1)
    assert found.has_rolled_back
    assert target.table.tolist()[:2] == [0, 1]


def test_while_a_draft_is_verified_its_blocks_are_hatched() -> None:
    told = script()
    model = model_of(told.events)
    drafts = model.snapshot().drafts
    proposed = model.snapshot(int(drafts["t_ns"][-1]))
    target = digested(proposed).grid(TARGET)
    assert target is not None
    assert target.cells[3] == Cell.HATCHED
    assert not digested(proposed).has_rolled_back


def test_the_sequence_looked_at_is_the_view_s_or_the_block_s_or_the_newest() -> None:
    snapshot = snapshot_of(script().events)
    assert digested(snapshot).sequence_id == 1
    assert digested(snapshot, View(block=(TARGET, 0))).sequence_id == 0
    assert digested(snapshot, View(block=(TARGET, 0), sequence_id=1)).sequence_id == 1
    assert digested(snapshot, View(block=(TARGET, 99))).sequence_id == 1


def test_words_for_a_block() -> None:
    target = digested(snapshot_of(script().events)).grid(TARGET)
    assert target is not None
    words = block_words(target, 1).split("\n")
    assert words[:2] == ["target block 1", "committed"]
    assert "sequence 0, logical block 1" in words
    assert "2 of 4 slots filled" in words
    assert "2 slots just rolled back" in words
    assert block_words(target, 11).split("\n")[1] == "free"


def test_the_legend_names_what_is_to_be_seen() -> None:
    words = legend(digested(snapshot_of(script().events)), DARK)
    assert "seq 0" in words
    assert "just rolled back" in words
    assert "speculative" not in words


def test_no_caches_no_digest() -> None:
    nothing = snapshot_of([])
    assert KvBlocksPanel.digest(Moment(snapshot=nothing, newest=nothing), View()) is None


@pytest.fixture
def panel(qtbot) -> KvBlocksPanel:
    made = KvBlocksPanel(ViewState(), Look("dark"))
    qtbot.addWidget(made)
    made.resize(700, 380)
    made.show()
    made.show_digest(digested(snapshot_of(script().events)))
    return made


def test_what_is_drawn(panel: KvBlocksPanel) -> None:
    target, draft = panel.caches[TARGET], panel.caches[DRAFT]
    assert target.caption.text().startswith("target · 5 of 12 blocks")
    assert target.grid.blocks is not None
    assert target.grid.blocks.labels.tolist()[:3] == [0, 0, 1]
    assert target.row.physical.tolist() == [2]
    assert draft.isVisible()
    states = target.grid.csv().splitlines()
    assert states[0].startswith("block,state,sequence")
    assert states[1].startswith(f"0,{BlockState.COMMITTED.name.lower()},0")


def test_a_click_selects_the_block_and_its_sequence(panel: KvBlocksPanel) -> None:
    panel.caches[TARGET].grid.chosen.emit(1)
    assert panel.state.now.block == (TARGET, 1)
    assert panel.state.now.sequence_id == 0
    panel.caches[DRAFT].grid.chosen.emit(11)  # free: nobody's
    assert panel.state.now.block == (DRAFT, 11)
    assert panel.state.now.sequence_id == 0


def test_a_small_panel_shows_the_grids_alone(panel: KvBlocksPanel) -> None:
    smallest = panel.caches[TARGET].minimumSize()
    panel.resize(260, 150)
    assert not panel.caches[TARGET].row.isVisible()
    assert panel.caches[TARGET].minimumSize() == smallest  # the table does not keep the card tall
    assert panel.caches[TARGET].grid.isVisible()


def test_both_themes(panel: KvBlocksPanel) -> None:
    dark = panel.grab().toImage()
    panel.look.choose("light")
    assert panel.grab().toImage() != dark
