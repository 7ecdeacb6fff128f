import threading

from engine.telemetry.capture_gate import CaptureGate


def test_no_reading_during_a_capture() -> None:
    gate = CaptureGate()
    with gate.reading() as may_read:
        assert may_read
    with gate.capturing(), gate.reading() as may_read:
        assert not may_read
    with gate.reading() as may_read:
        assert may_read, "a reading that was turned away takes nothing with it"


def test_a_capture_waits_for_a_reading() -> None:
    gate = CaptureGate()
    has_captured = threading.Event()

    def capture() -> None:
        with gate.capturing():
            has_captured.set()

    thread = threading.Thread(target=capture)
    with gate.reading():
        thread.start()
        assert not has_captured.wait(0.05)
    thread.join(10.0)
    assert has_captured.is_set()
