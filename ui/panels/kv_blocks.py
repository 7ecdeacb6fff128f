"""KvBlocksPanel: both caches, block by block, at the playhead."""

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from sessions.kv_map import NO_OWNER, BlockState, KvMap, block_table, kv_map
from sessions.tables import DRAFT, TARGET
from ui.look import Look
from ui.moment import Moment, View
from ui.panels.base import Panel
from ui.plots.block_cells import Cell
from ui.plots.block_grid import BlockGrid, Blocks
from ui.plots.block_row import BlockRow
from ui.sequence_hues import N_HUES, SEQUENCE_HUES, sequence_hue
from ui.theme import CAPTION, Theme, interface_font

ROLE_NAMES = {TARGET: "target", DRAFT: "draft"}
STATE_WORDS = {
    BlockState.FREE: "free",
    BlockState.COMMITTED: "committed",
    BlockState.SPECULATIVE: "speculative: allocated for the draft that is being verified",
    BlockState.ROLLED_BACK: "just rolled back: it held refused tokens only",
    BlockState.RESERVED: "reserved: owned, nothing written yet",
}
_CELLS = {
    BlockState.FREE: Cell.FREE,
    BlockState.COMMITTED: Cell.FILLED,
    BlockState.SPECULATIVE: Cell.HATCHED,
    BlockState.ROLLED_BACK: Cell.CROSSED,
    BlockState.RESERVED: Cell.OUTLINED,
}
_LOW_PX = 170
"""Below this height there is room for the grids alone."""
_LEAST_PX = 60


@dataclass(frozen=True, slots=True, eq=False)
class CacheGrid:
    """One role's cache. ``table`` [n_logical] is the looked-at sequence's physical blocks."""

    role: int
    kv: KvMap
    cells: np.ndarray  # int8, Cell, [n_blocks]
    filled: np.ndarray  # share of each block's slots, [n_blocks]
    rolled_back: np.ndarray
    table: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class KvBlocks:
    grids: tuple[CacheGrid, ...]
    sequence_id: int | None  # the sequence looked at
    block: tuple[int, int] | None  # role, physical block
    owners: tuple[int, ...]  # sequences that own any block, ascending
    states: frozenset[int]  # that occur
    has_rolled_back: bool  # any slot of any block, just now

    def grid(self, role: int) -> CacheGrid | None:
        return next((grid for grid in self.grids if grid.role == role), None)


class KvBlocksPanel(Panel):
    key = "kv-blocks"
    title = "KV blocks"
    reads = ("caches", "kv_changes", "drafts", "sequences")
    hint = "Every block of both KV caches, by owner and fill. Start a run, or open a session."
    explanation = (
        "A block holds the keys and values of a fixed number of positions. Each square is one "
        "physical block: its colour and number are its owner's, its bar is as high as its slots "
        "are filled with committed positions.\n"
        "Speculative: allocated for the draft that is being verified. Just rolled back: it held "
        "nothing but refused positions of the newest draft. Reserved: owned, nothing in it.\n"
        "Occupancy: owned blocks / all blocks. Unfilled: 1 - committed slots / owned slots.\n"
        "Beneath: the block table of the sequence looked at, logical block over physical block.\n"
        "A click selects a block and its sequence; arrow keys walk; the wheel zooms."
    )

    def build(self) -> None:
        self.caches = {role: _Cache(self.look) for role in (TARGET, DRAFT)}
        line = QHBoxLayout()
        line.setSpacing(12)
        for role, cache in self.caches.items():
            line.addWidget(cache, 1)
            cache.grid.chosen.connect(lambda block, role=role: self._choose(role, block))
            cache.row.chosen.connect(lambda block, role=role: self._choose(role, block))
            cache.grid.hovered.connect(lambda block, role=role: self._tell(role, block))
        self.body.addLayout(line, 1)

    @staticmethod
    def digest(moment: Moment, view: View) -> KvBlocks | None:
        maps = {role: kv_map(moment.snapshot, role) for role in (TARGET, DRAFT)}
        found = {role: kv for role, kv in maps.items() if kv is not None}
        if not found:
            return None
        owners = np.unique(np.concatenate([kv.owners for kv in found.values()]))
        owners = owners[owners != NO_OWNER]
        sequence_id = view.sequence_id
        if sequence_id is None:
            sequence_id = _owner_of(found, view.block)
        if sequence_id is None and len(owners):
            sequence_id = int(owners[-1])
        return KvBlocks(
            grids=tuple(_grid(role, kv, sequence_id) for role, kv in found.items()),
            sequence_id=sequence_id,
            block=view.block,
            owners=tuple(owners.tolist()),
            states=frozenset(
                state for kv in found.values() for state in np.unique(kv.states).tolist()
            ),
            has_rolled_back=any(bool(kv.n_rolled_back.any()) for kv in found.values())
            or any(bool((kv.states == int(BlockState.ROLLED_BACK)).any()) for kv in found.values()),
        )

    def draw(self, digest: KvBlocks) -> None:
        for role, cache in self.caches.items():
            grid = digest.grid(role)
            cache.setVisible(grid is not None)
            if grid is not None:
                cache.show_grid(grid, digest)
        self.noted.emit(legend(digest, self.theme))

    def restyle(self) -> None:
        for cache in self.caches.values():
            cache.restyle()

    def _choose(self, role: int, block: int) -> None:
        grid = self._drawn_grid(role)
        if grid is None:
            return
        owner = int(grid.kv.owners[block])
        if owner != NO_OWNER:
            self.state.select_sequence(owner)
        self.state.select_block(role, block)

    def _tell(self, role: int, block: int) -> None:
        grid = self._drawn_grid(role)
        if grid is None or not 0 <= block < grid.kv.n_blocks:
            QToolTip.hideText()
            return
        QToolTip.showText(QCursor.pos(), block_words(grid, block), self.caches[role].grid)

    def _drawn_grid(self, role: int) -> CacheGrid | None:
        return self.digested.grid(role) if isinstance(self.digested, KvBlocks) else None


class _Cache(QWidget):
    """One cache: what it is called, its grid, a sequence's table."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.caption = QLabel()
        self.caption.setProperty("dim", True)
        self.caption.setFont(interface_font(CAPTION))
        self.caption.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.caption.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._captions: tuple[str, ...] = ("",)
        self.grid = BlockGrid(look.theme)
        self.row_name = QLabel()
        self.row_name.setProperty("dim", True)
        self.row_name.setFont(interface_font(CAPTION))
        self.row_name.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.row = BlockRow(look.theme)
        self.setMinimumHeight(_LEAST_PX)  # whether or not the table is shown: it may go
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        for widget in (self.caption, self.grid, self.row_name, self.row):
            column.addWidget(widget, 1 if widget is self.grid else 0)

    def show_grid(self, grid: CacheGrid, digest: KvBlocks) -> None:
        kv, theme = grid.kv, self._look.theme
        name, of = ROLE_NAMES[grid.role], f"{kv.n_owned:,} of {kv.n_blocks:,}"
        self._captions = (f"{name} · {of} blocks of {kv.block_size} slots", f"{name} · {of}", name)
        self._fit_caption()
        selected = digest.block[1] if digest.block and digest.block[0] == grid.role else None
        self.grid.set_blocks(
            Blocks(
                cells=grid.cells,
                hues=kv.owners % N_HUES,
                filled=grid.filled,
                rolled_back=grid.rolled_back,
                labels=kv.owners,
                colours=SEQUENCE_HUES[theme.name],
            ),
            outlined=grid.table,
            selected=selected,
        )
        self.grid.set_columns(
            lambda: {
                "block": np.arange(kv.n_blocks),
                "state": [BlockState(state).name.lower() for state in kv.states.tolist()],
                "sequence": kv.owners,
                "logical_block": kv.logical_blocks,
                "slots_filled": kv.n_filled,
                "slots_rolled_back": kv.n_rolled_back,
            }
        )
        sequence_id = digest.sequence_id
        is_known = sequence_id is not None
        self.row_name.setText(f"sequence {sequence_id} · logical → physical" if is_known else "")
        self.row.set_table(
            grid.table,
            colour=sequence_hue(theme, sequence_id) if sequence_id is not None else theme.dim,
            selected=selected,
            words="owns no block here" if is_known else "no sequence owns a block",
        )

    def restyle(self) -> None:
        self.grid.restyle(self._look.theme)
        self.row.restyle(self._look.theme)

    def _fit_caption(self) -> None:
        """The longest that is not cut."""
        width_of = self.caption.fontMetrics().horizontalAdvance
        fitting = [text for text in self._captions if width_of(text) <= self.width()]
        self.caption.setText(fitting[0] if fitting else self._captions[-1])

    def resizeEvent(self, event: object) -> None:
        self._fit_caption()
        has_room = self.height() >= _LOW_PX
        self.row.setVisible(has_room)
        self.row_name.setVisible(has_room)


def _grid(role: int, kv: KvMap, sequence_id: int | None) -> CacheGrid:
    cells = np.array([_CELLS[state] for state in BlockState], np.int8)
    nothing = np.zeros(0, np.int64)
    return CacheGrid(
        role=role,
        kv=kv,
        cells=cells[kv.states],
        filled=kv.n_filled / kv.block_size,
        rolled_back=np.where(kv.n_filled > 0, kv.n_rolled_back / kv.block_size, 0.0),
        table=nothing if sequence_id is None else block_table(kv, sequence_id),
    )


def _owner_of(maps: dict[int, KvMap], block: tuple[int, int] | None) -> int | None:
    if block is None or block[0] not in maps or block[1] >= maps[block[0]].n_blocks:
        return None
    owner = int(maps[block[0]].owners[block[1]])
    return None if owner == NO_OWNER else owner


def block_words(grid: CacheGrid, block: int) -> str:
    """All about one block, a fact to a line."""
    kv = grid.kv
    state = BlockState(int(kv.states[block]))
    lines = [f"{ROLE_NAMES[grid.role]} block {block}", STATE_WORDS[state]]
    owner = int(kv.owners[block])
    if owner != NO_OWNER:
        lines.append(f"sequence {owner}, logical block {int(kv.logical_blocks[block])}")
        lines.append(f"{int(kv.n_filled[block])} of {kv.block_size} slots filled")
    if kv.n_rolled_back[block]:
        lines.append(f"{int(kv.n_rolled_back[block])} slots just rolled back")
    return "\n".join(lines)


def legend(digest: KvBlocks, theme: Theme, *, n_named: int = 4) -> str:
    """Signs and names of what is to be seen, as rich text."""

    def sign(glyph: str, colour: str, name: str) -> str:
        return f'<span style="color:{colour}">{glyph}</span> {name}'

    signs = [
        sign("■", sequence_hue(theme, owner), f"seq {owner}") for owner in digest.owners[:n_named]
    ]
    if len(digest.owners) > n_named:
        signs.append(f"{len(digest.owners) - n_named} more")
    if int(BlockState.SPECULATIVE) in digest.states:
        signs.append(sign("▨", theme.text, "speculative"))
    if digest.has_rolled_back:
        signs.append(sign("☒", theme.rejected, "just rolled back"))
    if int(BlockState.RESERVED) in digest.states:
        signs.append(sign("□", theme.text, "reserved"))
    signs.append(sign("■", theme.line, "free"))
    return "&nbsp;&nbsp; ".join(signs)
