"""PositionPanel: how often the first, second, ... token of a draft is accepted."""

from dataclasses import dataclass

import numpy as np

from sessions.metrics.breakdown import PositionAcceptance, acceptance_by_position
from sessions.metrics.interval import ratio
from sessions.metrics.kinds import selections
from sessions.metrics.selection import Selection
from ui.moment import Moment, View
from ui.panels.base import Empty, Panel
from ui.plots.bars import BarPlot, Bars
from ui.plots.labelled_lines import LabelledLines, NamedLine

NAN = float("nan")


@dataclass(frozen=True, slots=True, eq=False)
class KindByPosition:
    """Acceptance given reached of the sequences of one label; NaN where nothing was tested."""

    label: str
    position: np.ndarray  # [m], from 1
    conditional: np.ndarray  # [m]


@dataclass(frozen=True, slots=True, eq=False)
class ByPosition:
    """Arrays [n], one entry per place in the draft; NaN where nothing was tested."""

    position: np.ndarray  # from 1
    conditional: np.ndarray
    low: np.ndarray
    high: np.ndarray
    reached: np.ndarray  # accepted there, of the drafts that are long enough
    n_long_enough: np.ndarray
    n_accepted: np.ndarray
    n_tested: np.ndarray
    kinds: tuple[KindByPosition, ...]


class PositionPanel(Panel):
    key = "acceptance-position"
    title = "Acceptance · by position"
    reads = ("draft_tokens", "sequences")
    hint = "How often each place of a draft is accepted. Start a run that drafts, or open one."
    explanation = (
        "Bars: accepted / tested at that place, with the 95 % Wilson interval; the number in a bar "
        "is how many were tested.\nDashes: accepted there / drafts long enough to have that place: "
        "shorter ones, as of another gamma before, are left out.\nA place behind "
        "a rejection was never tested: no bar counts it."
    )
    frames_per_draw = 15

    def build(self) -> None:
        self.plot = BarPlot(self.theme, x_label="draft position")
        self.kinds = LabelledLines(self.plot)
        self.plot.set_read_out(self._read)
        self.body.addWidget(self.plot)

    @staticmethod
    def digest(moment: Moment, view: View) -> ByPosition | Empty | None:
        snapshot = moment.snapshot
        places = acceptance_by_position(snapshot, Selection(view.only_sequence_id))
        if not places:
            if not len(snapshot.steps):
                return None
            return Empty("Nothing was drafted: these steps are ordinary decoding.")
        parts = selections(snapshot) if view.only_sequence_id is None else {}
        kinds = []
        for label, part in parts.items():
            of_kind = acceptance_by_position(snapshot, part)
            if of_kind:
                kinds.append(KindByPosition(label, _positions(of_kind), _conditional(of_kind)))
        conditional = [place.conditional for place in places]
        return ByPosition(
            position=_positions(places),
            conditional=_conditional(places),
            low=_floats([rate.low for rate in conditional]),
            high=_floats([rate.high for rate in conditional]),
            reached=_floats([ratio(place.conditional.n, place.n_drafted) for place in places]),
            n_long_enough=np.array([place.n_drafted for place in places]),
            n_accepted=np.array([rate.n for rate in conditional]),
            n_tested=np.array([rate.n_of for rate in conditional]),
            kinds=tuple(kinds),
        )

    def draw(self, digest: ByPosition) -> None:
        theme = self.theme
        captions = tuple(f"{n:,}" if n else "n/a" for n in digest.n_tested.tolist())
        bars = Bars(digest.position, digest.conditional, digest.low, digest.high, captions)
        self.plot.set_bars(bars, theme.accepted, ink=theme.text)
        self.plot.set_line(digest.position, digest.reached, theme.text)
        lines = [NamedLine(kind.label, kind.position, kind.conditional) for kind in digest.kinds]
        end = len(digest.position) + (0.35 if lines else 0.5)
        self.kinds.show(lines, theme.text, label_x=end)
        self.plot.set_home((0.5, end), (0.0, 1.05), right_px=self.kinds.labels.room_px)
        self.plot.set_columns(lambda: _columns(digest))
        self.noted.emit("bars: given reached · dashes: of drafts long enough")

    def restyle(self) -> None:
        self.plot.restyle(self.theme)

    def _read(self, x: float, y: float) -> str:
        digest = self.digested
        place = round(x) - 1
        if not isinstance(digest, ByPosition) or not 0 <= place < len(digest.position):
            return ""
        n, n_of = int(digest.n_accepted[place]), int(digest.n_tested[place])
        lines = [f"position {place + 1}"]
        if n_of:
            low, high = digest.low[place], digest.high[place]
            lines.append(
                f"given reached {n / n_of:.3f} ({low:.3f} - {high:.3f}), {n:,} of {n_of:,}"
            )
        else:
            lines.append("given reached n/a: never reached")
        lines.append(
            f"of drafts long enough {digest.reached[place]:.3f}, of {digest.n_long_enough[place]:,}"
        )
        for kind in digest.kinds:
            if place < len(kind.conditional) and np.isfinite(kind.conditional[place]):
                lines.append(f"{kind.label} {kind.conditional[place]:.3f}")
        return "\n".join(lines)


def _floats(values: list[float | None]) -> np.ndarray:
    return np.array([NAN if value is None else value for value in values], np.float64)


def _positions(places: tuple[PositionAcceptance, ...]) -> np.ndarray:
    return np.array([place.draft_index + 1.0 for place in places])


def _conditional(places: tuple[PositionAcceptance, ...]) -> np.ndarray:
    return _floats([place.conditional.value for place in places])


def _columns(digest: ByPosition) -> dict[str, np.ndarray]:
    n = len(digest.position)
    kinds = {
        f"given_reached_{kind.label}": np.concatenate(
            (kind.conditional, np.full(n - len(kind.conditional), NAN))
        )
        for kind in digest.kinds
    }
    return {
        "position": digest.position.astype(int),
        "n_tested": digest.n_tested,
        "n_accepted": digest.n_accepted,
        "given_reached": digest.conditional,
        "low": digest.low,
        "high": digest.high,
        "of_drafts_long_enough": digest.reached,
        **kinds,
    }
