"""The kernels of a recorded step: all there, within the step, each in the span that launched it."""

import pytest

from engine.models.loading import LoadedPair
from engine.wire.events import KernelsRecorded, SpansMeasured
from tests.gpu.runs import ON_GPU, PROMPTS, decode, of_kind

pytestmark = ON_GPU

GAMMA = 4
ATTRIBUTED = 0.95
"""Share of the kernels of a step whose launch must be known. What may miss it are a few copies at
the border of the trace; a graph whose nodes were not tied to its launch would miss nearly all."""
SLACK_NS = 1_000_000
"""Between the clocks, besides the error that is told."""


@pytest.mark.parametrize("graphs", [True, False], ids=["captured", "eager"])
def test_kernels_belong_to_the_spans_that_launched_them(pair: LoadedPair, graphs: bool) -> None:
    assert pair.draft is not None
    n_layers = {
        "draft_forward": GAMMA * pair.draft.shape.n_layers,
        "verify": pair.target.shape.n_layers,
    }
    events = decode(pair, PROMPTS[:1], kernels_every=3, gamma=GAMMA, graphs=graphs)
    spans = {event.step: event for event in of_kind(events, SpansMeasured)}
    recorded = of_kind(events, KernelsRecorded)
    assert recorded
    n_whole = 0
    for event in recorded:
        of_step = spans[event.step]
        assert min(event.duration_ns) > 0
        require_within(event, of_step)
        known = [index for index in event.span_indexes if index >= 0]
        assert len(known) >= ATTRIBUTED * len(event.names)
        names = [of_step.names[index] for index in known]
        assert names.count("verify") > n_layers["verify"], "every layer has kernels of its own"
        n_forwards = sum(
            n
            for name, n in zip(
                of_step.names, of_step.n_forwards or (1,) * len(of_step.names), strict=True
            )
            if name == "draft_forward"
        )
        if n_forwards == GAMMA:  # a draft is shorter at the end of the budget
            n_whole += 1
            assert names.count("draft_forward") > n_layers["draft_forward"]
    assert n_whole


def require_within(event: KernelsRecorded, of_step: SpansMeasured) -> None:
    """All of it ran while the step did: the clocks are aligned."""
    place = of_step.names.index("step")
    slack_ns = (event.clock_error_ns or 0) + SLACK_NS
    start_ns = of_step.start_ns[place]
    ends = zip(event.start_ns, event.duration_ns, strict=True)
    assert min(event.start_ns) >= start_ns - slack_ns
    assert max(start + length for start, length in ends) <= (
        start_ns + of_step.host_ns[place] + slack_ns
    )
