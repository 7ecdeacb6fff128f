"""Folds of the session's own events, sequences, samples and losses."""

import numpy as np

from engine.wire.events import (
    CalibrationMeasured,
    EngineState,
    EventsDropped,
    FinishReason,
    GpuSampled,
    HostSampled,
    KernelsRecorded,
    LogEmitted,
    SettingsChanged,
)
from sessions.columns import MISSING_COUNT, MISSING_INT
from sessions.tables import DRAFT, FINISH_CODES, STATE_CODES, TARGET, SequenceChange
from tests.sessions.played import snapshot_of
from tests.support.event_script import EventScript


def test_a_session_and_what_it_loaded() -> None:
    script = EventScript(n_blocks=8)
    script.say(SettingsChanged(gamma="auto", temperature=0.5, top_k=3, top_p=0.9))
    script.finish()
    snapshot = snapshot_of(script.events)
    assert snapshot.starts.text("device_name", 0) == "script"
    assert snapshot.starts["started_unix_ns"].tolist() == [1_700_000_000_000_000_000]
    assert snapshot.models.texts("name") == ["scripted-draft", "scripted-target"]
    assert snapshot.caches["n_blocks"].tolist() == [8, 8]
    assert snapshot.states["state"].tolist() == [STATE_CODES[EngineState.RUNNING]]
    assert np.isnan(snapshot.states["progress"]).all()
    assert snapshot.settings.texts("gamma") == ["auto"]
    assert len(snapshot.ends) == 1


def test_a_sequence_is_started_set_back_and_finished() -> None:
    script = EventScript()
    script.sequence("ab", label="code")
    script.step(drafted=1, accepted=1)
    script.set_back()
    script.resume()
    script.finish_sequence(reason=FinishReason.EOS)
    snapshot = snapshot_of(script.events)
    sequences = snapshot.sequences
    assert [SequenceChange(code) for code in sequences["change"].tolist()] == [
        SequenceChange.STARTED,
        SequenceChange.SET_BACK,
        SequenceChange.STARTED,
        SequenceChange.FINISHED,
    ]
    assert sequences.texts("text") == ["ab", "", "ab", "a!"]
    assert sequences.text("label", 0) == "code"
    assert sequences["n_resumed"].tolist() == [0, MISSING_COUNT, 2, MISSING_COUNT]
    assert sequences["n_output_tokens"].tolist() == [MISSING_COUNT, 2, MISSING_COUNT, 2]
    assert sequences["reason"].tolist() == [-1, -1, -1, FINISH_CODES[FinishReason.EOS]]
    assert sequences["elapsed_ns"][0] == MISSING_INT < 0 < sequences["elapsed_ns"][3]
    assert snapshot.prompt_tokens.texts("text") == ["a", "b", "a", "b"]
    assert snapshot.prefills["n_tokens"].tolist() == [1, 1, 3, 3]


def test_a_calibration_is_a_row_per_forward() -> None:
    event = CalibrationMeasured(
        ordinal=0, t_ns=4, context_length=64, draft_forward_ns=5,
        target_widths=(1, 2), target_forward_ns=(100, 110), elapsed_ns=900,
    )  # fmt: skip
    calibrations = snapshot_of([event]).calibrations
    assert calibrations["role"].tolist() == [DRAFT, TARGET, TARGET]
    assert calibrations["width"].tolist() == [1, 1, 2]
    assert calibrations["forward_ns"].tolist() == [5, 100, 110]
    assert calibrations["elapsed_ns"].tolist() == [900] * 3


def test_samples_logs_kernels_and_losses() -> None:
    events = [
        HostSampled(
            ordinal=0, t_ns=1, process_cpu_pct=150.5, system_cpu_pct=80.0,
            process_memory_bytes=2**40, system_memory_used_bytes=1, system_memory_total_bytes=2,
        ),
        GpuSampled(
            ordinal=1, t_ns=2, device_uuid="GPU-1", utilization_pct=None, memory_used_bytes=7,
            memory_total_bytes=None, power_mw=None, temperature_c=-1, sm_clock_mhz=1,
            missing=("utilization_pct: no", "power_mw: no"),
        ),
        LogEmitted(ordinal=2, t_ns=3, level="warning", message="hot"),
        LogEmitted(ordinal=3, t_ns=3, level="info", message="ok", sequence_id=4),
        EventsDropped(ordinal=4, t_ns=4, n_events=3, kinds=("GpuSampled", "SpansMeasured")),
        KernelsRecorded(
            ordinal=5, t_ns=5, step=1, names=("gemm", "add"), streams=(7, 7), start_ns=(1, 2),
            duration_ns=(3, 4), span_indexes=(0, -1),
        ),
    ]  # fmt: skip
    snapshot = snapshot_of(events)
    assert snapshot.host_samples["process_memory_bytes"].tolist() == [2**40]
    assert snapshot.gpu_samples["temperature_c"].tolist() == [-1]
    assert snapshot.gpu_samples["power_mw"].tolist() == [MISSING_INT]
    assert np.isnan(snapshot.gpu_samples["utilization_pct"][0])
    assert snapshot.gpu_samples.text("missing", 0) == "utilization_pct: no\npower_mw: no"
    assert snapshot.logs["sequence_id"].tolist() == [MISSING_COUNT, 4]
    assert snapshot.logs.texts("level") == ["warning", "info"]
    assert snapshot.drops.text("kinds", 0) == "GpuSampled\nSpansMeasured"
    assert snapshot.kernels.texts("name") == ["gemm", "add"]
    assert snapshot.kernels["span_index"].tolist() == [0, -1]
    assert snapshot.recordings["n_kernels"].tolist() == [2]
    assert snapshot.recordings["clock_error_ns"].tolist() == [MISSING_INT]
