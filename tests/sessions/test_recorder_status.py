"""A recorder's figures always add up to what it was given."""

from pathlib import Path

from sessions.recorder_status import RecorderProgress, RecorderState


def test_saved_waiting_and_lost_add_up() -> None:
    progress = RecorderProgress(Path("x.specscope"))
    progress.n_waiting = 100
    progress.waiting_bytes = 1000
    progress.save(40, 400, 39)
    progress.refuse(5)
    status = progress.status()
    assert (status.n_saved, status.n_waiting, status.n_lost) == (40, 60, 5)
    assert status.saved_ordinal == 39
    progress.give_up("The disk is full.")
    status = progress.status()
    assert (status.n_saved, status.n_waiting, status.n_lost) == (40, 0, 65)
    assert status.message == status.error
    assert status.error.startswith("The disk is full. 40 events were saved")


def test_a_status_says_its_state_in_words() -> None:
    progress = RecorderProgress(Path("x.specscope"))
    assert progress.status().state is RecorderState.OK
    assert progress.status().message == "Recording: 0 events in x.specscope."
    progress.is_busy = True
    progress.n_waiting = 1234
    assert progress.status().state is RecorderState.WAITING
    assert "1,234 events are waiting" in progress.status().message
    progress.save(1234, 0, 1233)
    progress.is_ended = True
    assert progress.status().message == "Saved: 1,234 events in x.specscope."
    progress.stop_taking(1234)
    assert progress.status().state is RecorderState.FAILED
