"""The tables a session is folded into: their names, their columns, what a row stands for.

Every table has ``ordinal`` and ``t_ns`` of the event a row came from besides the columns named
here. A row stands for something that happened and is never changed: what became of a proposed
token is another row, in another table. Missing values are those of ``sessions.columns``.
"""

from enum import IntEnum, StrEnum

from engine.wire.events import EndReason, EngineState, Fate, FinishReason, Origin, Role
from sessions.columns import MISSING_CODE, Kind

INT, COUNT, FLOAT, CODE, TEXT = Kind.INT, Kind.COUNT, Kind.FLOAT, Kind.CODE, Kind.TEXT


class SequenceChange(IntEnum):
    """What a row of ``sequences`` says."""

    STARTED = 0
    SET_BACK = 1
    FINISHED = 2


class KvChange(IntEnum):
    """What a row of ``kv_changes`` says: a block (the first two), or a range of positions."""

    ALLOCATED = 0
    FREED = 1
    ADVANCED = 2


def codes_of(enum: type[StrEnum]) -> dict[StrEnum | None, int]:
    """Each member's place in its class, the code of a ``CODE`` column; None is missing."""
    return {None: MISSING_CODE, **{member: code for code, member in enumerate(enum)}}


ROLE_CODES = codes_of(Role)
FATE_CODES = codes_of(Fate)
ORIGIN_CODES = codes_of(Origin)
STATE_CODES = codes_of(EngineState)
END_CODES = codes_of(EndReason)
FINISH_CODES = codes_of(FinishReason)

TARGET = ROLE_CODES[Role.TARGET]
DRAFT = ROLE_CODES[Role.DRAFT]
ACCEPTED = FATE_CODES[Fate.ACCEPTED]
REJECTED = FATE_CODES[Fate.REJECTED]
DISCARDED = FATE_CODES[Fate.DISCARDED]

_STEP = {"sequence_id": COUNT, "step": COUNT}

TABLE_COLUMNS: dict[str, dict[str, Kind]] = {
    # --- one row per event of the session ---
    "starts": {  # SessionStarted
        "schema_version": COUNT,
        "started_unix_ns": INT,
        "specscope_version": TEXT,
        "torch_version": TEXT,
        "device_name": TEXT,
        "config_json": TEXT,
    },
    "models": {
        "role": CODE,
        "name": TEXT,
        "n_parameters": INT,
        "vocab_size": COUNT,
        "context_length": COUNT,
        "dtype": TEXT,
        "device": TEXT,
        "weight_bytes": INT,
        "load_ns": INT,
        "shape_json": TEXT,
        "notes": TEXT,  # one to a line
    },
    "caches": {
        "role": CODE,
        "allocation": TEXT,
        "n_blocks": COUNT,
        "block_size": COUNT,
        "bytes_per_block": INT,
        "total_bytes": INT,
    },
    "states": {"state": CODE, "detail": TEXT, "progress": FLOAT},
    "settings": {"gamma": TEXT, "temperature": FLOAT, "top_k": COUNT, "top_p": FLOAT},
    "ends": {"reason": CODE, "detail": TEXT},  # SessionEnded
    "calibrations": {  # one row per forward timed; the rows of one calibration share the ordinal
        "role": CODE,
        "width": COUNT,
        "forward_ns": INT,
        "context_length": COUNT,
        "draft_launch_share": FLOAT,
        "uncaptured_launch_share": FLOAT,
        "elapsed_ns": INT,  # of the whole calibration
    },
    # --- sequences ---
    "sequences": {  # one row per start, set-back and finish; what does not apply is missing
        "sequence_id": COUNT,
        "change": CODE,  # SequenceChange
        "n_prompt_tokens": COUNT,
        "max_new_tokens": COUNT,
        "seed": INT,
        "n_resumed": COUNT,
        "reason": CODE,
        "n_output_tokens": COUNT,
        "elapsed_ns": INT,
        "text": TEXT,  # the prompt of a start, the output of a finish
        "label": TEXT,
        "detail": TEXT,
    },
    "prompt_tokens": {"sequence_id": COUNT, "position": COUNT, "token_id": COUNT, "text": TEXT},
    "prefills": {
        "sequence_id": COUNT,
        "role": CODE,
        "n_tokens": COUNT,
        "start_ns": INT,
        "host_ns": INT,
        "gpu_ns": INT,
        "n_flops": INT,
        "n_bytes": INT,
    },
    # --- steps ---
    "drafts": {  # DraftProposed, also where nothing was drafted
        **_STEP,
        "position": COUNT,
        "gamma": COUNT,
        "n_drafted": COUNT,
        "gamma_alpha": FLOAT,
        "n_non_finite_draft": COUNT,
        "drafter": TEXT,
        "reason": TEXT,
    },
    "proposals": {  # drafted token, when proposed
        **_STEP,
        "draft_index": COUNT,
        "token_id": COUNT,
        "draft_prob": FLOAT,
        "text": TEXT,
    },
    "verdicts": {  # DraftVerified
        **_STEP,
        "position": COUNT,
        "n_drafted": COUNT,
        "n_accepted": COUNT,
        "extra_token_id": COUNT,
        "extra_text": TEXT,
        "extra_origin": CODE,
        "extra_target_prob": FLOAT,
        "extra_entropy": FLOAT,
        "n_non_finite_draft": COUNT,
        "n_zero_residual": COUNT,
    },
    "draft_tokens": {  # drafted token, when judged
        **_STEP,
        "draft_index": COUNT,
        "position": COUNT,
        "token_id": COUNT,
        "draft_prob": FLOAT,
        "target_prob": FLOAT,
        "draft_confidence": FLOAT,
        "target_confidence": FLOAT,
        "overlap": FLOAT,
        "target_entropy": FLOAT,
        "uniform": FLOAT,
        "fate": CODE,
        "text": TEXT,
    },
    "steps": {  # StepCommitted
        **_STEP,
        "position": COUNT,
        "gamma": COUNT,
        "n_drafted": COUNT,
        "n_accepted": COUNT,
        "n_committed": COUNT,
        "extra_origin": CODE,  # missing where the step was cut before its extra token
        "step_ns": INT,
        "is_profiled": COUNT,  # 1: its kernels were recorded, or it captured a graph: no measure
    },
    "output_tokens": {
        **_STEP,
        "position": COUNT,
        "token_id": COUNT,
        "origin": CODE,
        "text": TEXT,
    },
    # --- caches ---
    "kv_changes": {  # one row per block allocated or freed, or per range advanced
        **_STEP,  # step is missing for blocks, PREFILL_STEP (-1) for a prompt
        "role": CODE,
        "change": CODE,  # KvChange
        "logical_block": COUNT,
        "physical_block": COUNT,
        "position": COUNT,
        "n_written": COUNT,
        "n_rolled_back": COUNT,
    },
    # --- measurements ---
    "spans": {
        "step": COUNT,
        "role": CODE,
        "start_ns": INT,
        "host_ns": INT,
        "gpu_ns": INT,
        "n_flops": INT,
        "n_bytes": INT,
        "n_forwards": COUNT,  # in a graph there may be several
        "n_syncs": COUNT,  # of the whole step, missing on a CPU
        "name": TEXT,
    },
    "kernels": {
        "step": COUNT,
        "stream": INT,
        "start_ns": INT,
        "duration_ns": INT,
        "span_index": COUNT,
        "name": TEXT,
    },
    "recordings": {  # KernelsRecorded, also where nothing ran
        "step": COUNT,
        "n_kernels": COUNT,
        "recording_ns": INT,
        "clock_error_ns": INT,
    },
    "host_samples": {
        "process_cpu_pct": FLOAT,
        "system_cpu_pct": FLOAT,
        "process_memory_bytes": INT,
        "system_memory_used_bytes": INT,
        "system_memory_total_bytes": INT,
    },
    "gpu_samples": {
        "device_uuid": TEXT,
        "utilization_pct": FLOAT,
        "memory_used_bytes": INT,
        "memory_total_bytes": INT,
        "power_mw": INT,
        "temperature_c": INT,
        "sm_clock_mhz": INT,
        "sm_active_pct": FLOAT,
        "tensor_active_pct": FLOAT,
        "dram_active_pct": FLOAT,
        "missing": TEXT,  # one to a line
    },
    "logs": {"level": TEXT, "message": TEXT, "sequence_id": COUNT},
    # --- loss ---
    "drops": {"n_events": COUNT, "kinds": TEXT},  # EventsDropped
    "gaps": {"n_missing": INT},  # a hole in the ordinals, found at the event behind it
}
