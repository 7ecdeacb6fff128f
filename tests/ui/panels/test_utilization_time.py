"""Utilization over time: from a device's counters, from shapes, and what is not told."""

import pytest

from engine.wire.events import Event, GpuSampled, HostSampled, Role, SequenceStarted, SpansMeasured
from tests.sessions.played import snapshot_of
from ui.look import Look
from ui.moment import Moment, View
from ui.panels.utilization_digest import Utilization
from ui.panels.utilization_time import UtilizationTimePanel
from ui.view_state import ViewState

SECOND = 10**9


def started() -> Event:
    return SequenceStarted(
        ordinal=0, t_ns=SECOND, sequence_id=0, prompt_text="a", prompt_token_ids=(1,),
        prompt_token_texts=("a",), max_new_tokens=5, seed=0,
    )  # fmt: skip


def gpu(number: int, **told: object) -> Event:
    values: dict[str, object] = {
        "device_uuid": "g", "utilization_pct": 90.0, "memory_used_bytes": 2**32,
        "memory_total_bytes": 2**34, "power_mw": 300_000, "temperature_c": None,
        "sm_clock_mhz": 1980, "sm_active_pct": 50.0 + number, "dram_active_pct": 70.0,
        "missing": ("temperature_c: not supported", "tensor_active_pct: no counters"),
    }  # fmt: skip
    return GpuSampled(ordinal=number, t_ns=(1 + number) * SECOND, **values | told)


def host(number: int) -> Event:
    return HostSampled(
        ordinal=number, t_ns=(1 + number) * SECOND, process_cpu_pct=150.0, system_cpu_pct=40.0,
        process_memory_bytes=2**30, system_memory_used_bytes=2**31, system_memory_total_bytes=2**33,
    )  # fmt: skip


def spans(number: int) -> Event:
    return SpansMeasured(
        ordinal=number, t_ns=(1 + number) * SECOND, step=0, names=("draft_forward", "verify"),
        roles=(Role.DRAFT, Role.TARGET), start_ns=(SECOND, SECOND + 10), host_ns=(10, 10),
        gpu_ns=(None, None), n_flops=(10**9, 3 * 10**9), n_bytes=(10**6, 10**6),
    )  # fmt: skip


def digested(*told: Event) -> Utilization:
    snapshot = snapshot_of([started(), *told])
    found = UtilizationTimePanel.digest(Moment(snapshot=snapshot, newest=snapshot), View())
    assert isinstance(found, Utilization)
    return found


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


def test_nothing_sampled_nothing_counted() -> None:
    nothing = snapshot_of([])
    assert UtilizationTimePanel.digest(Moment(snapshot=nothing, newest=nothing), View()) is None


def test_what_is_drawn_and_what_a_low_panel_leaves_out(qtbot) -> None:
    panel = UtilizationTimePanel(ViewState(), Look("dark"))
    qtbot.addWidget(panel)
    panel.resize(600, 400)
    panel.show()
    panel.show_digest(digested(host(1), spans(2), host(12)))
    assert [chart.isVisible() for chart in panel.charts] == [True, True, True]
    assert panel.charts[0].curves[0].getData()[1][0] == pytest.approx(4.0)
    assert panel.charts[0].getPlotItem().getAxis("left").labelText == "GFLOP/s"
    assert panel.charts[0].csv().splitlines()[0] == "line,t_s,GFLOP/s"
    assert "n/a" in panel.strip.text()
    assert "no GPU" in panel.strip.toolTip()
    assert "compute 4 GFLOP/s" in panel._read(0, 1.2, 0.0)
    panel.resize(260, 150)
    assert [chart.isVisible() for chart in panel.charts] == [True, False, False]
    panel.look.choose("light")
    assert panel.charts[0].curves[0].opts["pen"].color().name() == panel.theme.text.lower()
    panel.resize(600, 400)
    panel.show_digest(digested(gpu(1), gpu(2)))
    assert [chart.isVisible() for chart in panel.charts] == [True, True, False]
