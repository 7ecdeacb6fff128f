from engine.wire.events import DraftVerified, FinishReason
from sessions.model import SessionModel
from sessions.outputs import sequence_outputs
from sessions.snapshot import Snapshot
from sessions.token_trail import TokenTrail, TrailKind, token_trail
from tests.support.event_script import TICK_NS, EventScript

A, R, B = TrailKind.ACCEPTED, TrailKind.RECOVERED, TrailKind.BONUS
P, X, D, W = TrailKind.PROMPT, TrailKind.REJECTED, TrailKind.DISCARDED, TrailKind.PROPOSED


def folded(script: EventScript) -> Snapshot:
    model = SessionModel()
    model.consume(script.events)
    return model.snapshot()


def told(trail: TokenTrail) -> list[tuple[TrailKind, str]]:
    kinds = map(TrailKind, trail.kind.tolist())
    return list(zip(kinds, trail.texts(0, len(trail)), strict=True))


def text_of(trail: TokenTrail) -> str:
    return "".join(text for kind, text in told(trail) if kind <= TrailKind.REMAINDER)


def test_refused_tokens_stand_before_the_recovered_one():
    script = EventScript()
    script.sequence("pq")
    script.step(drafted=4, accepted=1, text="abcd")
    script.step(drafted=2, accepted=2, text="xy")
    trail = token_trail(folded(script), 0)
    assert told(trail) == [
        (P, "p"), (P, "q"), (A, "a"), (X, "b"), (D, "c"), (D, "d"), (R, "!"),
        (A, "x"), (A, "y"), (B, "!"),
    ]  # fmt: skip
    assert trail.step.tolist() == [-1, -1, 0, 0, 0, 0, 0, 1, 1, 1]
    assert trail.draft_index.tolist() == [-1, -1, 0, 1, 2, 3, -1, 0, 1, -1]


def test_refused_tokens_can_be_left_out():
    script = EventScript()
    script.sequence("p")
    script.step(drafted=3, accepted=0, text="abc")
    assert told(token_trail(folded(script), 0, has_refused=False)) == [(P, "p"), (R, "!")]


def test_a_draft_that_is_not_committed_yet_stands_at_the_end():
    script = EventScript()
    script.sequence("p")
    script.step(drafted=1, accepted=1, text="a")
    script.step(drafted=2, accepted=1, text="bc")
    verified = next(e for e in script.events if isinstance(e, DraftVerified) and e.step == 1)
    model = SessionModel()
    model.consume(script.events)
    for t_ns in (verified.t_ns, verified.t_ns - TICK_NS):  # judged or not: not committed
        trail = token_trail(model.snapshot(t_ns), 0)
        assert told(trail) == [(P, "p"), (A, "a"), (B, "!"), (W, "b"), (W, "c")]


def test_each_sequence_has_its_own_text_and_a_set_back_takes_none_of_it():
    script = EventScript()
    script.sequence("pq")
    script.sequence("r")
    script.step(0, drafted=2, accepted=1, text="ab", more=True)
    script.step(1, drafted=2, accepted=2, text="cd")
    script.set_back(0)
    script.step(1, drafted=2, accepted=0, text="ef")
    script.resume(0)
    script.step(0, drafted=1, accepted=1, text="g")
    snapshot = folded(script)
    outputs = sequence_outputs(snapshot)
    assert [output.text for output in outputs] == ["a!g!", "cd!!"]
    for output in outputs:
        trail = token_trail(snapshot, output.sequence_id)
        assert text_of(trail) == output.text
        prompt = [text for kind, text in told(trail) if kind == P]
        assert "".join(prompt) == output.prompt


def test_what_no_token_completed_ends_the_finished_text():
    script = EventScript()
    script.sequence("p")
    script.step(drafted=1, accepted=1, text="a")
    script._sequences[0].text += "�"  # one decode of all ids shows the broken end
    script.finish_sequence(0, reason=FinishReason.LENGTH)
    snapshot = folded(script)
    trail = token_trail(snapshot, 0)
    assert told(trail)[-1] == (TrailKind.REMAINDER, "�")
    assert text_of(trail) == sequence_outputs(snapshot)[0].text == "a!�"


def test_a_step_that_stopped_inside_its_draft_has_no_token_of_its_own():
    script = EventScript()
    script.sequence("p")
    script.step(drafted=4, accepted=2, text="abcd", stop=True)
    assert told(token_trail(folded(script), 0)) == [(P, "p"), (A, "a"), (A, "b")]


def test_tokens_are_found_by_step_and_place():
    script = EventScript()
    script.sequence("p")
    script.step(drafted=3, accepted=1, text="abc")
    script.step(drafted=1, accepted=1, text="d")
    trail = token_trail(folded(script), 0)
    found = [trail.find(0, 0), trail.find(0, 2), trail.find(0, None), trail.find(1, None)]
    assert [trail.texts(i, i + 1)[0] for i in found if i is not None] == ["a", "c", "!", "!"]
    assert found == [1, 3, 4, 6]
    assert trail.find(7, 0) is None
    assert trail.span(1) == (5, 7)


def test_an_unknown_sequence_has_no_tokens():
    script = EventScript()
    script.sequence("p")
    assert len(token_trail(folded(script), 3)) == 0
