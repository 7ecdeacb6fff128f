"""Everything the engine can say: small frozen structs, flat enough for SQL to read.

An event says what *happened*, in the past participle. Fields are numbers, strings, enums and tuples
of those; a reading that is missing is ``None``, never 0, NaN or infinity. Units are in the names:
``_ns``, ``_bytes``, ``_mw``, ``_c``, ``_mhz``, ``_pct``; ``n_`` is a count; no unit is a ratio or a
plain number.

The order in which they may come is the grammar in ``resources/docs/events.md``;
``tests/support/stream_rules.py`` checks it.
"""

from enum import StrEnum

import msgspec

SCHEMA_VERSION = 1
"""Raised whenever a change is more than a new field with a default."""

PREFILL_STEP = -1
"""The ``step`` of a cache event that belongs to a prompt and not to a decoding step."""


class Role(StrEnum):
    """Which of the two models."""

    DRAFT = "draft"
    TARGET = "target"


class Fate(StrEnum):
    """What became of a draft token that was judged."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"  # tested and failed: at most one per step
    DISCARDED = "discarded"  # stood behind the rejected one and was never tested


class Origin(StrEnum):
    """Where a committed token came from."""

    ACCEPTED = "accepted"
    RECOVERED = "recovered"  # drawn from the residual distribution after a rejection
    BONUS = "bonus"  # drawn from the target after the whole draft was accepted


class EngineState(StrEnum):
    LOADING = "loading"
    READY = "ready"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "stopping"


class EndReason(StrEnum):
    """Why a session is over."""

    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"
    CRASHED = "crashed"


class FinishReason(StrEnum):
    """Why a sequence is over."""

    EOS = "eos"
    STOP_STRING = "stop_string"
    LENGTH = "length"  # max_new_tokens reached
    CONTEXT = "context"  # the target's context is full
    CACHE_FULL = "cache_full"  # the block pool cannot hold even this sequence alone
    STOPPED = "stopped"  # by command
    FAILED = "failed"


class EventBase(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", gc=False):
    """``ordinal`` counts 0, 1, 2, ... in the order said (a hole means loss); ``t_ns`` is the
    engine's monotonic clock since ``SessionStarted`` and never decreases with ``ordinal``. Both are
    stamped by ``engine.telemetry.emitter``; -1 means not yet said. No event can hold another,
    so the collector of cycles need not look at the millions that a reader makes."""

    ordinal: int = -1
    t_ns: int = -1


# --- session --------------------------------------------------------------------------------------


class SessionStarted(EventBase, frozen=True, kw_only=True, tag="SessionStarted"):
    schema_version: int
    started_unix_ns: int
    specscope_version: str
    torch_version: str
    device_name: str
    config_json: str  # the RunConfig in force, as JSON


class ModelLoaded(EventBase, frozen=True, kw_only=True, tag="ModelLoaded"):
    role: Role
    name: str
    n_parameters: int
    vocab_size: int  # width of the logits, padding included
    context_length: int
    dtype: str
    device: str
    weight_bytes: int
    load_ns: int
    shape_json: str = "{}"  # engine.theory.shape.ModelShape as JSON
    notes: tuple[str, ...] = ()  # what the user should know (padded widths, masked ids, packing)


class CacheCreated(EventBase, frozen=True, kw_only=True, tag="CacheCreated"):
    role: Role
    allocation: str  # "paged" or "contiguous"
    n_blocks: int
    block_size: int  # slots per block
    bytes_per_block: int  # keys and values of all layers
    total_bytes: int  # reserved up front, scratch slots included


class CalibrationMeasured(EventBase, frozen=True, kw_only=True, tag="CalibrationMeasured"):
    """Medians of a few timed forwards at ``context_length`` cached tokens, one sequence."""

    context_length: int
    draft_forward_ns: int | None  # width 1; None without a draft model
    target_widths: tuple[int, ...]  # 1 .. gamma + 1
    target_forward_ns: tuple[int, ...]  # one per width
    draft_launch_share: float | None = None  # of a draft's time, in which the device waits
    uncaptured_launch_share: float | None = None  # the same, were its kernels launched one by one
    elapsed_ns: int = 0  # what the calibration itself took


class EngineStateChanged(EventBase, frozen=True, kw_only=True, tag="EngineStateChanged"):
    state: EngineState
    detail: str = ""
    progress: float | None = None  # 0..1 while loading, where known


class SettingsChanged(EventBase, frozen=True, kw_only=True, tag="SettingsChanged"):
    """Gamma or sampling was changed by command; in force from the next step on."""

    gamma: str  # a number or "auto"
    temperature: float
    top_k: int
    top_p: float


class SessionEnded(EventBase, frozen=True, kw_only=True, tag="SessionEnded"):
    reason: EndReason
    detail: str = ""  # a traceback, or the last lines of standard error


# --- sequence -------------------------------------------------------------------------------------


class SequenceStarted(EventBase, frozen=True, kw_only=True, tag="SequenceStarted"):
    """The sequence entered the batch. Said again, with its ``n_resumed``, when a sequence that was
    set back to free blocks re-enters with the tokens it had already committed."""

    sequence_id: int
    prompt_text: str
    prompt_token_ids: tuple[int, ...]
    prompt_token_texts: tuple[str, ...]
    max_new_tokens: int
    seed: int
    n_resumed: int = 0  # tokens committed before the set-back
    label: str = ""  # a kind the user gave the prompt: "json", "code", ...


class SequenceSetBack(EventBase, frozen=True, kw_only=True, tag="SequenceSetBack"):
    """No block was free for any sequence: this one gave its blocks back and waits to be computed
    again."""

    sequence_id: int
    n_output_tokens: int


class PrefillCompleted(EventBase, frozen=True, kw_only=True, tag="PrefillCompleted"):
    sequence_id: int
    role: Role
    n_tokens: int
    start_ns: int  # on the clock of t_ns
    host_ns: int
    gpu_ns: int | None = None
    n_flops: int | None = None
    n_bytes: int | None = None


class SequenceFinished(EventBase, frozen=True, kw_only=True, tag="SequenceFinished"):
    sequence_id: int
    reason: FinishReason
    n_output_tokens: int
    elapsed_ns: int  # from entering the batch to the last commit, prefill included
    text: str  # one decode of all committed ids
    detail: str = ""  # the stop string, or what failed


# --- step -----------------------------------------------------------------------------------------


class DraftProposed(EventBase, frozen=True, kw_only=True, tag="DraftProposed"):
    sequence_id: int
    step: int  # counts the engine's steps; sequences decoded together share it
    position: int  # of the first draft token, prompt included
    gamma: int  # asked for
    token_ids: tuple[int, ...]
    token_texts: tuple[str, ...]
    draft_probs: tuple[float, ...]  # of each token in the distribution it was drawn from
    drafter: str  # "model", "ngram" or "none": who proposed
    reason: str = ""  # why gamma is what it is, and why the draft is shorter where it is
    gamma_alpha: float | None = None  # the acceptance rate an adaptive gamma assumed
    n_non_finite_draft: int = 0  # draft rows that held NaN or +inf; drafting stopped there


class DraftVerified(EventBase, frozen=True, kw_only=True, tag="DraftVerified"):
    """The verdict, self-contained. Tuples are one entry per draft token, as far as the sequence
    goes: tokens behind a stop are left out, as if never drafted."""

    sequence_id: int
    step: int
    position: int
    token_ids: tuple[int, ...]
    token_texts: tuple[str, ...]
    draft_probs: tuple[float, ...]
    target_probs: tuple[float, ...]
    draft_confidences: tuple[float, ...]  # at temperature 1, before top-k and top-p
    target_confidences: tuple[float, ...]
    overlaps: tuple[float, ...]  # sum over the vocabulary of min(draft, target)
    target_entropies: tuple[float, ...]  # nats, of the target at temperature 1 before top-k, top-p
    uniforms: tuple[float, ...]  # the number each token met
    fates: tuple[Fate, ...]
    n_accepted: int
    extra_token_id: int | None  # None when the sequence stopped inside the draft
    extra_token_text: str | None
    extra_origin: Origin | None
    extra_target_prob: float | None = None
    extra_entropy: float | None = None  # nats, like target_entropies
    n_non_finite_draft: int = 0
    n_zero_residual: int = 0  # rejections with an empty residual, drawn from the target instead


class StepCommitted(EventBase, frozen=True, kw_only=True, tag="StepCommitted"):
    sequence_id: int
    step: int
    position: int  # of the first committed token
    gamma: int
    n_drafted: int
    n_accepted: int
    token_ids: tuple[int, ...]
    token_texts: tuple[str, ...]  # a character split over tokens shows with its last one
    origins: tuple[Origin, ...]
    step_ns: int  # wall time of the engine's step up to this commit
    is_profiled: bool = False  # kernels were recorded or a graph captured: its time is no measure


# --- cache ----------------------------------------------------------------------------------------


class BlocksAllocated(EventBase, frozen=True, kw_only=True, tag="BlocksAllocated"):
    sequence_id: int
    role: Role
    first_logical_block: int
    physical_blocks: tuple[int, ...]


class KvAdvanced(EventBase, frozen=True, kw_only=True, tag="KvAdvanced"):
    """Positions written in one phase, and how many of those (or earlier ones) were rolled back. The
    length afterwards is ``position + n_written - n_rolled_back``."""

    sequence_id: int
    role: Role
    step: int  # PREFILL_STEP for a prompt
    position: int  # first written
    n_written: int
    n_rolled_back: int


class BlocksFreed(EventBase, frozen=True, kw_only=True, tag="BlocksFreed"):
    sequence_id: int
    role: Role
    physical_blocks: tuple[int, ...]


# --- telemetry ------------------------------------------------------------------------------------


class SpansMeasured(EventBase, frozen=True, kw_only=True, tag="SpansMeasured"):
    """The spans of one engine step; one entry per span, in the order opened. ``step`` contains the
    others; ``draft_forward`` lies inside ``draft``."""

    step: int
    names: tuple[str, ...]
    roles: tuple[Role | None, ...]
    start_ns: tuple[int, ...]  # on the clock of t_ns
    host_ns: tuple[int, ...]
    gpu_ns: tuple[int | None, ...]
    n_flops: tuple[int | None, ...]  # counted from shapes
    n_bytes: tuple[int | None, ...]
    n_forwards: tuple[int, ...] = ()  # a graph may hold several; empty: one in each that is one
    gpu_start_ns: tuple[int | None, ...] = ()  # of gpu_ns, on the clock of t_ns; empty: unknown
    n_syncs: int | None = None  # times the host waited for the device's numbers; None on a CPU


class KernelsRecorded(EventBase, frozen=True, kw_only=True, tag="KernelsRecorded"):
    """What ran on the device in one step, nodes of a graph included; on a CPU, the outermost
    operators. In the order begun."""

    step: int
    names: tuple[str, ...]
    streams: tuple[int, ...]  # of the device; on a CPU threads, 0 the one that decodes
    start_ns: tuple[int, ...]  # on the clock of t_ns
    duration_ns: tuple[int, ...]
    span_indexes: tuple[int, ...]  # into the step's SpansMeasured; -1: outside all
    recording_ns: int = 0  # what opening, closing and reading the trace took
    clock_error_ns: int | None = None  # start_ns is right give or take this much


class HostSampled(EventBase, frozen=True, kw_only=True, tag="HostSampled"):
    process_cpu_pct: float  # of one core: 200 is two cores busy
    system_cpu_pct: float  # of all cores: 100 is all busy
    process_memory_bytes: int  # resident set
    system_memory_used_bytes: int
    system_memory_total_bytes: int


class GpuSampled(EventBase, frozen=True, kw_only=True, tag="GpuSampled"):
    device_uuid: str
    utilization_pct: float | None
    memory_used_bytes: int | None
    memory_total_bytes: int | None
    power_mw: int | None
    temperature_c: int | None
    sm_clock_mhz: int | None
    sm_active_pct: float | None = None
    tensor_active_pct: float | None = None
    dram_active_pct: float | None = None
    missing: tuple[str, ...] = ()  # "field: reason" for each None


class EventsDropped(EventBase, frozen=True, kw_only=True, tag="EventsDropped"):
    """Only spans and samples may ever be dropped; their ordinals are holes."""

    n_events: int
    kinds: tuple[str, ...]


class LogEmitted(EventBase, frozen=True, kw_only=True, tag="LogEmitted"):
    level: str  # "info", "warning" or "error"
    message: str
    sequence_id: int | None = None


Event = (
    SessionStarted
    | ModelLoaded
    | CacheCreated
    | CalibrationMeasured
    | EngineStateChanged
    | SettingsChanged
    | SessionEnded
    | SequenceStarted
    | SequenceSetBack
    | PrefillCompleted
    | SequenceFinished
    | DraftProposed
    | DraftVerified
    | StepCommitted
    | BlocksAllocated
    | KvAdvanced
    | BlocksFreed
    | SpansMeasured
    | KernelsRecorded
    | HostSampled
    | GpuSampled
    | EventsDropped
    | LogEmitted
)
