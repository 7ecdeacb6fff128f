"""The six figures, by hand-counted scripts."""

from pytestqt.qtbot import QtBot

from sessions.metrics.interval import rate
from sessions.metrics.tiles import Tiles
from tests.support.scripted_sessions import script_of, session_of
from ui.bars.tile_row import TileRow, figures
from ui.look import Look
from ui.moment import Moment, View
from ui.view_state import ViewState


def nothing(**known: object) -> Tiles:
    fields: dict[str, object] = dict.fromkeys(Tiles.__dataclass_fields__)
    return Tiles(**{**fields, "acceptance": rate(0, 0), **known})  # type: ignore[arg-type]


def test_figures_of_a_script(qtbot: QtBot) -> None:
    # Drafts of four with 0, 1, 2, 3, 4, 0 accepted: 10 accepted, 5 rejected, 16 tokens in 6 steps.
    snapshot = session_of(script_of(6)).snapshot()
    row = TileRow(ViewState(), Look("dark"))
    qtbot.addWidget(row)
    row.show_digest(row.digest(Moment(snapshot=snapshot, newest=snapshot), View()))
    shown = [tile.figure.text() for tile in row.tiles]
    assert shown[2] == "0.67"
    assert shown[3] == "2.67"
    assert row.tiles[3].beneath.text() == "of γ+1 = 5"  # noqa: RUF001
    assert "expected 0.70" in row.tiles[2].beneath.text()


def test_nothing_known_is_said_and_not_0(qtbot: QtBot) -> None:
    shown = figures(nothing())
    assert [each.figure for each in shown] == ["n/a"] * 6
    assert all(each.beneath for each in shown)


def test_what_drafts_nothing_has_no_speed_up_to_wait_for() -> None:
    assert figures(nothing(tokens_per_step=1.0))[1].beneath == "nothing was drafted"
    assert figures(nothing())[1].beneath == "needs a baseline or a calibration"


def test_an_estimate_is_never_called_measured_nor_coloured() -> None:
    predicted = figures(nothing(predicted_speedup=1.5))[1]
    reached = figures(nothing(predicted_speedup=1.5, mean_step_speedup=0.94))[1]
    assert (reached.figure, reached.ink) == ("≈ 0.94×", "")  # noqa: RUF001
    assert reached.beneath == "vs bare forward · predicted 1.50×"  # noqa: RUF001
    doubted = figures(nothing(mean_step_speedup=0.94, is_doubtful=True))[1]
    assert (doubted.beneath, doubted.ink) == ("in doubt: timing disturbed", "warning")
    measured = figures(nothing(predicted_speedup=1.5, measured_speedup=0.9))[1]
    assert predicted.figure.startswith("≈")
    assert predicted.ink == ""
    assert predicted.beneath == "predicted from α, c and v"  # noqa: RUF001
    assert (measured.figure, measured.ink) == ("0.90×", "rejected")  # noqa: RUF001
    assert measured.beneath == "measured vs baseline · predicted 1.50×"  # noqa: RUF001


def test_tooltips_define_the_metrics_by_their_formulas(qtbot: QtBot) -> None:
    row = TileRow(ViewState(), Look("light"))
    qtbot.addWidget(row)
    assert "accepted / (accepted + rejected)" in row.tiles[2].toolTip()
    assert "geometric mean over prompts" in row.tiles[1].toolTip()
    assert "other = (step - draft - verify) / step" in row.tiles[4].toolTip()
    assert all("=" in tile.toolTip() for tile in row.tiles)
