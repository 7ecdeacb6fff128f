"""What the user points at: one place, one signal."""

from ui.moment import TokenRef
from ui.view_state import ViewState


def test_selecting_a_token_selects_its_step_and_sequence() -> None:
    state = ViewState()
    state.select_token(TokenRef(sequence_id=2, step=7, draft_index=1))
    assert (state.now.sequence_id, state.now.step) == (2, 7)


def test_another_step_lets_the_token_go() -> None:
    state = ViewState()
    state.select_token(TokenRef(sequence_id=0, step=7))
    state.select_step(7)
    assert state.now.token is not None
    state.select_step(8)
    assert state.now.token is None


def test_only_a_change_is_told() -> None:
    state = ViewState()
    told: list[int] = []
    state.changed.connect(lambda: told.append(state.version))
    state.select_step(1)
    state.select_step(1)
    state.look_at((0, 10))
    assert told == [1, 2]


def test_a_reset_points_at_nothing_and_keeps_how_text_is_shown() -> None:
    state = ViewState()
    state.show_refused(False)
    state.select_block(1, 4)
    state.reset()
    assert state.now.block is None
    assert not state.now.shows_refused
