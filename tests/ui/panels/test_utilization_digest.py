"""Utilization worked out: from a device's counters, from shapes, and what is not told."""

import pytest

from tests.sessions.played import snapshot_of
from tests.support.event_script import EventScript
from tests.ui.panels.sampled import digested, gpu, host, spans, started
from ui.moment import Moment
from ui.panels.base import Empty
from ui.panels.utilization_digest import Utilization, utilization


def test_a_device_s_counters_come_first() -> None:
    found = digested(gpu(1), gpu(2), gpu(3))
    percent, power = found.rows
    assert [line.name for line in percent.lines] == ["memory active", "SM active"]
    assert percent.lines[1].values.tolist() == [51.0, 52.0, 53.0]
    assert percent.lines[1].t_s.tolist() == [2.0, 3.0, 4.0]
    assert percent.top == 100.0
    assert power.lines[0].values.tolist() == [300.0] * 3
    assert (found.first_s, found.last_s) == (1.0, 4.0)
    texts = {reading.name: reading.text for reading in found.readings}
    assert texts == {
        "power": "300 W", "clock": "1,980 MHz", "memory": "4.0 of 16.0 GiB", "temperature": "",
    }  # fmt: skip
    assert found.readings[-1].reason == "not supported"


def test_without_counters_how_busy_the_driver_says_it_is() -> None:
    found = digested(gpu(1, sm_active_pct=None, dram_active_pct=None, power_mw=None))
    assert [line.name for line in found.rows[0].lines] == ["GPU busy"]
    assert all(line.name != "power" for row in found.rows for line in row.lines)
    assert found.readings[0].text == ""
    assert found.readings[0].reason


def test_without_a_gpu_the_shapes_are_counted() -> None:
    found = digested(host(1), spans(2), host(12))
    compute, memory, cpu = found.rows
    assert found.source == "counted from shapes"
    # Twelve stretches of one second: the whole work lies in the first.
    assert compute.unit == "GFLOP/s"
    assert compute.lines[0].values[0] == pytest.approx(4.0)
    assert compute.lines[0].values[1:].tolist() == [0.0] * 11
    assert (memory.unit, memory.lines[0].values[0]) == ("MB/s", pytest.approx(2.0))
    assert [line.name for line in cpu.lines] == ["process", "system"]
    assert found.readings[-1].text == ""
    assert "no GPU" in found.readings[-1].reason


def test_a_live_session_leaves_room_to_grow_into() -> None:
    snapshot = snapshot_of([started(), host(1), spans(2), host(11)])
    ended, live = (
        utilization(Moment(snapshot=snapshot, newest=snapshot, is_live=is_live))
        for is_live in (False, True)
    )
    assert isinstance(ended, Utilization)
    assert isinstance(live, Utilization)
    assert live.last_s > ended.last_s == 12.0


def test_steps_without_samples_say_what_was_not_recorded() -> None:
    script = EventScript()
    script.sequence("p")
    script.step()
    snapshot = snapshot_of(script.events)
    found = utilization(Moment(snapshot=snapshot, newest=snapshot))
    assert isinstance(found, Empty)
    assert "no samples" in found.reason
