from engine.telemetry.sync_counter import SyncCounter


def test_counts_since_it_was_last_read() -> None:
    counter = SyncCounter()
    assert counter.take() == 0
    counter.count()
    counter.count()
    assert counter.take() == 2
    assert counter.take() == 0
