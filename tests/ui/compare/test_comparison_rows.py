"""What the cells of a comparison say: figures, and why one is missing."""

# ruff: noqa: RUF001 - alpha's letter, a times sign and a dash are meant

from sessions.compare import compare
from sessions.snapshot import Snapshot
from tests.sessions.scripted import baseline, folded, speculative, with_settings
from tests.support.event_script import EventScript
from ui.compare.comparison_rows import Cell, Row, comparison_rows


def rows_of(*sessions: tuple[str, Snapshot]) -> dict[str, Row]:
    return {row.name: row for row in comparison_rows(compare(list(sessions)))}


def test_the_speed_is_ranked_and_drawn_as_a_share_of_the_fastest() -> None:
    plain, fast = rows_of(("fast", speculative()), ("plain", baseline()))["tokens/s"].cells
    assert plain.bar is not None
    assert 0 < plain.bar < 1
    assert (fast.bar, fast.is_best, fast.text[0]) == (1.0, True, "▲")
    assert not plain.is_best


def test_the_speedup_has_its_interval_and_the_baseline_is_one() -> None:
    plain, fast = rows_of(("fast", speculative()), ("plain", baseline()))[
        "speed-up, measured"
    ].cells
    assert plain.text == "1×"
    assert "×  (" in fast.text
    assert fast.why == "2 prompts, 95 % interval"


def test_what_is_missing_says_why() -> None:
    rows = rows_of(("fast", speculative()), ("plain", baseline()))
    assert rows["acceptance α"].cells[0] == Cell(text="n/a", why="nothing was drafted")
    assert rows["draft cost c"].cells[0].is_missing
    alone = rows_of(("a", speculative()), ("b", speculative()))
    assert alone["speed-up, measured"].cells[0].why == "no session here decodes without a draft"
    assert alone["outputs that differ"].cells[0].is_missing
    other = rows_of(("a", speculative(("zz",))), ("plain", baseline(("ab",))))
    assert other["outputs that differ"].cells[1].why == "no prompt in common"


def test_sampled_outputs_are_not_held_against_each_other() -> None:
    script = EventScript()
    script.sequence("ab")
    script.step(drafted=2, accepted=2, text="xy")
    script.finish()
    warm = folded(with_settings(script.events, draft="small", gamma=2, temperature=0.8))
    cells = rows_of(("warm", warm), ("plain", baseline()))["outputs that differ"].cells
    assert cells[1] == Cell(text="n/a", why="sampled texts differ by chance")


def test_memory_is_that_of_the_weights_and_the_cache() -> None:
    _, fast = rows_of(("fast", speculative()), ("plain", baseline()))["draft memory"].cells
    assert fast.text == "5 KiB"  # 4000 bytes of weights, at most one block of 1 KiB at once
    assert fast.why == "4 KiB of weights, 1 KiB of cache"


def test_a_lower_acceptance_is_never_called_worse() -> None:
    def drafted(n_drafted: int, n_accepted: int) -> Snapshot:
        script = EventScript()
        script.sequence("ab")
        for _ in range(4):
            script.step(drafted=n_drafted, accepted=n_accepted)
        script.finish()
        return folded(with_settings(script.events, draft="d", gamma=n_drafted))

    rows = rows_of(("narrow", drafted(1, 1)), ("wide", drafted(8, 5)))
    assert [cell.is_best for cell in rows["acceptance α"].cells] == [False, False]
    assert [cell.is_best for cell in rows["tokens/s"].cells].count(True) == 1
