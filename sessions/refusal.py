"""Which sessions are nothing but an engine's refusal."""

from engine.wire.events import EndReason


def is_refusal(reason: EndReason, detail: str, *, has_sequence: bool) -> bool:
    """Whether the engine refused its settings, with a sentence, before any sequence: such a session
    holds nothing. A fault of the engine's own tells a traceback instead."""
    return reason is EndReason.FAILED and "\n" not in detail and not has_sequence
