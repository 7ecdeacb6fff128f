"""The views of a session file: its events as rows, for whoever asks with SQL.

Only people use them; the program itself replays the events. ``resources/docs/session-file.md``
documents every column.
"""

from sqlite_utils import Database


def _item(name: str) -> str:
    """The entry of a list in the event that belongs to the row's ``entry``."""
    return f"json_extract(event.payload, '$.{name}[' || entry.key || ']')"


def _field(name: str) -> str:
    """A single value of the event."""
    return f"json_extract(event.payload, '$.{name}')"


_WHERE_FROM = "event.ordinal, event.t_ns"

VIEWS = {
    "draft_tokens": f"""
        SELECT {_WHERE_FROM}, event.sequence_id, event.step,
            entry.key AS draft_index,
            {_field("position")} + entry.key AS position,
            entry.value AS token_id,
            {_item("token_texts")} AS text,
            {_item("fates")} AS fate,
            {_item("draft_probs")} AS draft_prob,
            {_item("target_probs")} AS target_prob,
            {_item("draft_confidences")} AS draft_confidence,
            {_item("target_confidences")} AS target_confidence,
            {_item("overlaps")} AS overlap,
            {_item("target_entropies")} AS target_entropy,
            {_item("uniforms")} AS uniform
        FROM events AS event, json_each(event.payload, '$.token_ids') AS entry
        WHERE event.kind = 'DraftVerified'
    """,
    "steps": f"""
        SELECT {_WHERE_FROM}, event.sequence_id, event.step,
            {_field("position")} AS position,
            {_field("gamma")} AS gamma,
            {_field("n_drafted")} AS n_drafted,
            {_field("n_accepted")} AS n_accepted,
            json_array_length(event.payload, '$.token_ids') AS n_committed,
            {_field("step_ns")} AS step_ns
        FROM events AS event
        WHERE event.kind = 'StepCommitted'
    """,
    "output_tokens": f"""
        SELECT {_WHERE_FROM}, event.sequence_id, event.step,
            {_field("position")} + entry.key AS position,
            entry.value AS token_id,
            {_item("token_texts")} AS text,
            {_item("origins")} AS origin
        FROM events AS event, json_each(event.payload, '$.token_ids') AS entry
        WHERE event.kind = 'StepCommitted'
    """,
    "spans": f"""
        SELECT {_WHERE_FROM}, event.step,
            entry.key AS span_index,
            entry.value AS name,
            {_item("roles")} AS role,
            {_item("start_ns")} AS start_ns,
            {_item("host_ns")} AS host_ns,
            {_item("gpu_ns")} AS gpu_ns,
            {_item("n_flops")} AS n_flops,
            {_item("n_bytes")} AS n_bytes
        FROM events AS event, json_each(event.payload, '$.names') AS entry
        WHERE event.kind = 'SpansMeasured'
    """,
    "gpu_samples": f"""
        SELECT {_WHERE_FROM},
            {_field("device_uuid")} AS device_uuid,
            {_field("utilization_pct")} AS utilization_pct,
            {_field("memory_used_bytes")} AS memory_used_bytes,
            {_field("memory_total_bytes")} AS memory_total_bytes,
            {_field("power_mw")} AS power_mw,
            {_field("temperature_c")} AS temperature_c,
            {_field("sm_clock_mhz")} AS sm_clock_mhz,
            {_field("sm_active_pct")} AS sm_active_pct,
            {_field("tensor_active_pct")} AS tensor_active_pct,
            {_field("dram_active_pct")} AS dram_active_pct
        FROM events AS event
        WHERE event.kind = 'GpuSampled'
    """,
    "blocks": f"""
        SELECT {_WHERE_FROM}, event.sequence_id,
            {_field("role")} AS role,
            CASE event.kind WHEN 'BlocksAllocated' THEN 'allocated' ELSE 'freed' END AS change,
            {_field("first_logical_block")} + entry.key AS logical_block,
            entry.value AS physical_block
        FROM events AS event, json_each(event.payload, '$.physical_blocks') AS entry
        WHERE event.kind IN ('BlocksAllocated', 'BlocksFreed')
    """,
}
"""Name and query of every view."""


def create_views(database: Database) -> None:
    """Add all views to a file that has its tables."""
    for name, query in VIEWS.items():
        database.create_view(name, query)
