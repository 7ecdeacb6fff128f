"""The roofline panel: points by hand, roofs known and unknown, and peaks that are asked for."""

import time

import pytest

from engine.theory.devices import DevicePeaks, Precision, find_device
from engine.wire.events import Event, ModelLoaded, Role, SessionStarted, SpansMeasured
from sessions.metrics.phase_utilization import PhaseUtilization
from tests.sessions.played import snapshot_of
from tests.support.event_script import EventScript
from ui.look import Look
from ui.moment import Moment, View
from ui.panels import roofline as module
from ui.panels.base import Empty
from ui.panels.roofline import Roofline, RooflinePanel, note
from ui.plots.roofline_chart import Roof
from ui.view_state import ViewState

H100 = "NVIDIA H100 80GB HBM3"


def events(device_name: str = "some processor", dtype: str = "bfloat16") -> list[Event]:
    return [
        SessionStarted(
            ordinal=0, t_ns=0, schema_version=1, started_unix_ns=1, specscope_version="0",
            torch_version="0", device_name=device_name, config_json="{}",
        ),
        ModelLoaded(
            ordinal=1, t_ns=1, role=Role.TARGET, name="t", n_parameters=1, vocab_size=1,
            context_length=1, dtype=dtype, device="cuda:0", weight_bytes=1, load_ns=1,
        ),
        SpansMeasured(
            ordinal=2, t_ns=900, step=0, names=("draft_forward", "draft_forward", "verify"),
            roles=(Role.DRAFT, Role.DRAFT, Role.TARGET), start_ns=(0, 10, 20),
            host_ns=(10, 10, 100), gpu_ns=(None,) * 3, n_flops=(1000, 1000, 50_000),
            n_bytes=(1000, 1000, 10_000),
        ),
    ]  # fmt: skip


def digested(told: list[Event], *, is_live: bool = False) -> Roofline:
    snapshot = snapshot_of(told)
    moment = Moment(snapshot=snapshot, newest=snapshot, is_live=is_live)
    found = RooflinePanel.digest(moment, View())
    assert isinstance(found, Roofline)
    return found


@pytest.fixture
def panel(qtbot) -> RooflinePanel:
    made = RooflinePanel(ViewState(), Look("dark"))
    qtbot.addWidget(made)
    made.resize(420, 320)
    made.show()
    return made


def test_points_and_the_peaks_of_the_device_it_ran_on() -> None:
    found = digested(events(H100))
    draft, verify = found.points
    assert (draft.forward, draft.n, draft.intensity) == ("draft", 2, 1.0)
    assert draft.bytes_per_s == pytest.approx(1e11)
    assert (verify.intensity, verify.flops_per_s) == (5.0, pytest.approx(5e11))
    assert found.precision is Precision.BF16
    assert found.peaks is find_device(H100)
    words = note(found.points, Roof(1e15, 2e11, "", is_known=True))
    assert words == "draft 50 % · verify 50 % of bandwidth, counted"
    busy = PhaseUtilization(
        phase="prefill", source="counters", n=2, compute_pct=61.4, bandwidth_pct=None
    )
    assert note(found.points, Roof(1e15, 2e11, "", is_known=True), (busy,)) == (
        f"{words} · prefill by counters: tensor cores 61 %"
    )


def test_an_unknown_device_has_the_roof_that_was_reached(panel: RooflinePanel) -> None:
    found = digested(events())
    assert found.peaks is None
    panel.show_digest(found)
    roof = panel.chart.roof
    assert roof is not None
    assert not roof.is_known
    assert (roof.flops_per_s, roof.bytes_per_s) == pytest.approx((5e11, 1e11))
    assert not panel.measure.isVisible()  # not this machine's processor
    assert "peaks unknown" in note(found.points, roof)


def test_a_known_device_has_its_roof(panel: RooflinePanel) -> None:
    panel.show_digest(digested(events(H100)))
    roof = panel.chart.roof
    assert roof is not None
    assert roof.is_known
    assert roof.bytes_per_s == 3350e9
    assert panel.chart.csv().splitlines()[1].startswith("draft,2,host,1.0,")
    assert panel.chart.csv().splitlines()[1].endswith(",counted")
    panel.look.choose("light")
    assert panel.chart.marks[0].colour == panel.theme.draft


def test_peaks_are_measured_only_when_asked_for(
    panel: RooflinePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    peaks = DevicePeaks(name="measured", bytes_per_s=1e12, fp32=1e13, is_measured=True)
    monkeypatch.setattr(module, "measure_host_peaks", lambda: peaks)
    monkeypatch.setattr(module, "processor_name", lambda: "this processor")
    panel.show_digest(digested(events("this processor", "float32"), is_live=True))
    assert not panel.measure.isVisible()  # an engine is at work
    panel.show_digest(digested(events("this processor", "float32")))
    assert panel.measure.isVisible()
    assert not panel.has_moved()
    panel.measure.click()
    until = time.monotonic() + 20
    while not panel.has_moved():
        assert time.monotonic() < until
        time.sleep(0.005)
    panel.show_digest(panel.digested)
    assert panel.chart.roof == Roof(1e13, 1e12, "measured, fp32", is_known=True)
    assert not panel.measure.isVisible()
    panel.show_digest(digested(events("another processor", "float32")))
    assert panel.chart.roof is not None
    assert not panel.chart.roof.is_known


def test_without_counts_it_says_why() -> None:
    snapshot = snapshot_of([])
    assert RooflinePanel.digest(Moment(snapshot=snapshot, newest=snapshot), View()) is None
    script = EventScript()
    script.sequence()
    script.step()
    snapshot = snapshot_of(script.events)
    found = RooflinePanel.digest(Moment(snapshot=snapshot, newest=snapshot), View())
    assert isinstance(found, Empty)
    assert "structure" in found.reason
