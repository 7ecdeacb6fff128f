"""What a session's row repeats of its events, counted while they are written."""

from collections.abc import Callable, Sequence
from copy import copy
from typing import Annotated, Any

import msgspec

from engine.wire.events import (
    Event,
    ModelLoaded,
    Role,
    SequenceStarted,
    SessionEnded,
    SessionStarted,
    SettingsChanged,
    StepCommitted,
)
from sessions.environment import Environment, with_model, with_start

Count = Annotated[int, msgspec.Meta(ge=0, lt=2**62)]


class SessionCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Cheap figures of a session; exact for what is in the file, crashed or not."""

    n_events: Count = 0
    n_sequences: Count = 0
    n_output_tokens: Count = 0
    duration_ns: Count = 0  # t_ns of the newest event
    device: str = ""
    target: str = ""
    draft: str = ""
    gammas: tuple[str, ...] = ()
    """That were set by command while it ran, each once."""
    temperatures: tuple[float, ...] = ()


class SessionFacts:
    """Folds events into ``SessionCounts`` and what else the session's row holds of them."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.started_unix_ns = 0
        self.config_json = "{}"
        self.end: SessionEnded | None = None  # while it is the newest event
        self._n_events = 0
        self._n_output_tokens = 0
        self._duration_ns = 0
        self._sequence_ids: set[int] = set()
        self._gammas: tuple[str, ...] = ()
        self._temperatures: tuple[float, ...] = ()

    def add(self, events: Sequence[Event]) -> None:
        """Count the next events."""
        if not events:
            return
        self._n_events += len(events)
        self._duration_ns = events[-1].t_ns
        for event in events:
            read = _READERS.get(event.__class__)
            if read is not None:
                read(self, event)
        if events[-1].__class__ is not SessionEnded:
            self.end = None

    def snapshot(self) -> "SessionFacts":
        """A copy that later events do not change."""
        facts = copy(self)
        facts._sequence_ids = set(self._sequence_ids)
        return facts

    def counts(self) -> SessionCounts:
        environment = self.environment
        return SessionCounts(
            n_events=self._n_events,
            n_sequences=len(self._sequence_ids),
            n_output_tokens=self._n_output_tokens,
            duration_ns=max(self._duration_ns, 0),
            device=environment.device_name,
            target=environment.model_name(Role.TARGET),
            draft=environment.model_name(Role.DRAFT),
            gammas=self._gammas,
            temperatures=self._temperatures,
        )

    def columns(self) -> dict[str, int | str]:
        """The columns of the table ``session`` that follow from the events."""
        return {
            "started_unix_ns": self.started_unix_ns,
            "config_json": self.config_json,
            "environment_json": msgspec.json.encode(self.environment).decode(),
            "counts_json": msgspec.json.encode(self.counts()).decode(),
        }

    # --- what is read of single events -----------------------------------------------------------

    def _start(self, event: SessionStarted) -> None:
        self.started_unix_ns = event.started_unix_ns
        self.config_json = event.config_json
        self.environment = with_start(self.environment, event)

    def _load(self, event: ModelLoaded) -> None:
        self.environment = with_model(self.environment, event)

    def _change_settings(self, event: SettingsChanged) -> None:
        if event.gamma not in self._gammas:
            self._gammas = (*self._gammas, event.gamma)
        if event.temperature not in self._temperatures:
            self._temperatures = (*self._temperatures, event.temperature)

    def _start_sequence(self, event: SequenceStarted) -> None:
        self._sequence_ids.add(event.sequence_id)

    def _commit(self, event: StepCommitted) -> None:
        self._n_output_tokens += len(event.token_ids)

    def _end(self, event: SessionEnded) -> None:
        self.end = event


_READERS: dict[type[Any], Callable[[SessionFacts, Any], None]] = {
    SessionStarted: SessionFacts._start,
    ModelLoaded: SessionFacts._load,
    SettingsChanged: SessionFacts._change_settings,
    SequenceStarted: SessionFacts._start_sequence,
    StepCommitted: SessionFacts._commit,
    SessionEnded: SessionFacts._end,
}
