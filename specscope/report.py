"""What a person reads: the text as it comes, then the figures."""

from typing import NamedTuple

from rich.color import ColorSystem
from rich.console import COLOR_SYSTEMS, Console, Group
from rich.style import Style
from rich.table import Table
from rich.text import Text

from engine.wire.events import (
    EngineState,
    EngineStateChanged,
    Event,
    FinishReason,
    LogEmitted,
    ModelLoaded,
    Origin,
    Role,
    SequenceFinished,
    SequenceStarted,
    StepCommitted,
)
from sessions.metrics.breakdown import acceptance_by_position
from sessions.metrics.kernels import recording_cost
from sessions.metrics.phase_utilization import PhaseUtilization, phase_utilization
from sessions.metrics.summary import summarise
from sessions.snapshot import Snapshot
from sessions.what_if import GammaWhatIf

STYLES = {Origin.ACCEPTED: "", Origin.RECOVERED: "underline yellow", Origin.BONUS: "bold blue"}
MARKS = {Origin.ACCEPTED: "{}", Origin.RECOVERED: "[~{}]", Origin.BONUS: "[+{}]"}
WHAT_IF_NOTE = "by whole steps, as they took; gamma 0 is a bare forward, without sampling"
LEGEND = "accepted plain, recovered {recovered}, bonus {bonus}"


class _Piece(NamedTuple):
    """Text that is to be printed, and how it looks where there are colours."""

    text: str
    style: str = ""

    def rendered(self, system: ColorSystem | None) -> str:
        """With the style's codes around it, itself unchanged."""
        return Style.parse(self.style).render(self.text, color_system=system)


class TextReport:
    """Prints events as they come. One sequence at a time is printed live; sequences decoded
    together are printed whole, each when it has finished.

    ``output`` takes the text, ``notes`` everything else (progress, warnings).
    """

    def __init__(
        self, output: Console, notes: Console, *, is_live: bool, has_origins: bool
    ) -> None:
        self._output = output
        self._notes = notes
        self._is_live = is_live
        self._has_origins = has_origins  # plain decoding has nothing to tell apart
        self._pieces: dict[int, list[_Piece]] = {}
        self._noted: set[str] = set()  # models whose notes were printed
        self._context_length: int | None = None  # the target's
        self._status = notes.status("starting the engine")

    def __enter__(self) -> "TextReport":
        self._status.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._status.stop()

    def show(self, event: Event) -> None:
        match event:
            case EngineStateChanged(state=EngineState.LOADING):
                self._status.update(event.detail or "loading")
            case EngineStateChanged(state=EngineState.READY):
                self._status.update("decoding")
            case ModelLoaded():
                self._show_model(event)
            case LogEmitted(level="warning" | "error"):
                self._notes.print(f"{event.level}: {event.message}", markup=False)
            case SequenceStarted() if not event.n_resumed:
                self._begin(event)
            case StepCommitted():
                self._add(event)
            case SequenceFinished():
                self._finish(event)

    def _show_model(self, event: ModelLoaded) -> None:
        if event.role is Role.TARGET:
            self._context_length = event.context_length
        role = "target" if event.role is Role.TARGET else "draft "
        self._notes.print(
            f"{role} {event.name}: {event.n_parameters / 1e6:.1f} M parameters, {event.dtype} on "
            f"{event.device}, loaded in {event.load_ns / 1e9:.1f} s",
            markup=False,
            highlight=False,
        )
        if event.notes and event.name not in self._noted:
            self._noted.add(event.name)
            self._notes.print(f"       {'; '.join(event.notes)}", markup=False, highlight=False)

    def _begin(self, event: SequenceStarted) -> None:
        self._pieces[event.sequence_id] = [_Piece(event.prompt_text, "dim")]
        if self._is_live:
            self._status.stop()
            self._flush(event.sequence_id)

    def _add(self, event: StepCommitted) -> None:
        pieces = self._pieces.setdefault(event.sequence_id, [])
        # A step that drafted nothing is plain decoding: its token is no bonus to speak of.
        has_origins = self._has_origins and event.n_drafted > 0
        for text, origin in zip(event.token_texts, event.origins, strict=True):
            if not has_origins:
                pieces.append(_Piece(text))
            elif self._output.color_system is None:
                pieces.append(_Piece(MARKS[origin].format(text)))
            else:
                pieces.append(_Piece(text, STYLES[origin]))
        if self._is_live:
            self._flush(event.sequence_id)

    def _finish(self, event: SequenceFinished) -> None:
        if not self._is_live:
            self._status.stop()
            self._output.rule(f"sequence {event.sequence_id}", style="dim", align="left")
        self._flush(event.sequence_id)
        self._output.print()
        note = ending_note(event.reason, event.detail, context_length=self._context_length)
        if note:
            self._notes.print(note, markup=False, highlight=False)

    def _flush(self, sequence_id: int) -> None:
        """Written past the console, which would spread tabs and leave out carriage returns: the
        text is the models' own, character by character."""
        system = COLOR_SYSTEMS.get(self._output.color_system or "")
        pieces = self._pieces.pop(sequence_id, [])
        if not self._output.quiet:
            self._output.file.write("".join(piece.rendered(system) for piece in pieces))
            self._output.file.flush()

    def legend(self) -> Text:
        """How the tokens are told apart here."""
        if self._output.color_system is None:
            return Text(LEGEND.format(recovered="[~so]", bonus="[+so]"))
        text = Text("accepted plain, ")
        text.append("recovered", style=STYLES[Origin.RECOVERED])
        text.append(", ")
        return text.append("bonus", style=STYLES[Origin.BONUS])


def ending_note(reason: str, detail: str, *, context_length: int | None) -> str:
    """Why a sequence ended, where its reason alone does not say it; else ""."""
    if reason == FinishReason.CONTEXT and not detail:
        size = "" if context_length is None else f" of {context_length:,} tokens"
        detail = f"the context{size} is full"
    return f"({reason}: {detail})" if detail else ""


def figures_table(snapshot: Snapshot) -> Table:
    """The run's figures, each with what it means."""
    value = summarise(snapshot)
    table = Table(show_header=False, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(justify="right")
    table.add_column(style="dim")
    rows = [
        (
            "tokens",
            str(value["n_output_tokens"]),
            f"in {value['n_steps']} steps, {number(value['elapsed_s'], 2)} s",
        ),
        (
            "tokens per second",
            number(value["tokens_per_second"], 1),
            "prefill and calibration apart",
        ),
        ("tokens per step", number(value["tokens_per_step"], 2), "recovered and bonus included"),
    ]
    if value["n_drafted"]:
        rows += [
            (
                "acceptance rate",
                number(value["acceptance_rate"], 3),
                f"{value['n_accepted']} accepted of {value['n_tested']} tested; "
                f"{number(value['expected_acceptance_rate'], 3)} expected",
            ),
            (
                "draft efficiency",
                number(value["draft_efficiency"], 3),
                f"of {value['n_drafted']} drafted, {value['n_discarded']} discarded untested",
            ),
            ("by draft position", _positions(snapshot), "accepted of those tested there"),
        ]
    if value["predicted_speedup"] is not None:
        rows += [
            ("c", number(value["c"], 3), "draft forward / target forward"),
            (
                "verify-width cost",
                number(value["verify_width_cost"], 2),
                "target forward at the mean width / at width 1",
            ),
            (
                "speed-up, predicted",
                number(value["predicted_speedup"], 2),
                "E[N] / (gamma c + v); a baseline measures it",
            ),
        ]
    rows.append(
        ("overhead", percent(value["overhead_share"]), "of the steps' time, outside the forwards")
    )
    rows += [_utilization(each) for each in phase_utilization(snapshot) if each.is_known]
    if value["draft_launch_share"] is not None:
        without = percent(value["uncaptured_launch_share"])
        rows.append(
            (
                "launch overhead",
                percent(value["draft_launch_share"]),
                f"of a draft's time the device waits; without graphs {without}",
            )
        )
    if value["syncs_per_step"] is not None:
        rows.append(
            ("waits per step", number(value["syncs_per_step"], 2), "of the host for the device")
        )
    if (cost := recording_cost(snapshot)) is not None:
        slowdown = "" if cost.slowdown is None else f", steps {cost.slowdown:.1f} times as long"
        rows.append(
            (
                "kernels recorded",
                str(cost.n_kernels),
                f"in {cost.n_steps} steps, which count for no speed; recording took "
                f"{cost.ns_per_step / 1e6:.1f} ms a step{slowdown}",
            )
        )
    if value["n_non_finite_draft"]:
        rows.append(
            (
                "non-finite drafts",
                str(value["n_non_finite_draft"]),
                "drafting stopped at such a row",
            )
        )
    for row in rows:
        table.add_row(*row)
    return table


def what_if_table(what_if: GammaWhatIf, *, is_doubtful: bool = False) -> Group:
    """Every gamma up to a little past the recorded and the best seen, and what its speeds count;
    said to be in doubt where the session's timing contradicts itself."""
    doubt = " (in doubt: the timing was disturbed)" if is_doubtful else ""
    table = Table(title=f"What another gamma would have done{doubt}", title_justify="left")
    for heading in ("gamma", "tokens/step", "tokens/s", "speed-up", ""):
        table.add_column(heading, justify="right")
    last = max(what_if.recorded_gamma, what_if.best_seen.gamma) + 2
    for option in what_if.options[: last + 1]:
        marks = ["best seen"] if option is what_if.best_seen else []
        marks += ["extrapolated"] if option.is_extrapolated else []
        table.add_row(
            str(option.gamma),
            number(option.tokens_per_step, 2),
            number(option.tokens_per_second, 1),
            number(option.speedup, 2),
            ", ".join(marks),
        )
    return Group(table, Text(WHAT_IF_NOTE, style="dim"))


def _utilization(phase: PhaseUtilization) -> tuple[str, str, str]:
    how = (
        f"the hardware's counters, {phase.n} samples"
        if phase.source == "counters"
        else "counted FLOPs and bytes over time / the device's peaks"
    )
    return f"{phase.phase} uses", phase.words, how


def _positions(snapshot: Snapshot) -> str:
    places = acceptance_by_position(snapshot)
    return " ".join(number(place.conditional.value, 2) for place in places)


def number(value: float | None, digits: int) -> str:
    """A figure for a person; a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def percent(value: float | None) -> str:
    """A share for a person; a dash where there is none."""
    return "-" if value is None else f"{100 * value:.1f} %"
