import pytest

from engine.telemetry.kernel_trace import (
    ANCHOR,
    Alignment,
    Bracket,
    NotAligned,
    SpanBounds,
    TraceEvent,
    align,
    innermost,
    kernels_of,
    kind_of,
    outermost,
)
from engine.wire.events import KernelsRecorded

OFFSET = -1_795_980_055_000_000_000
"""Session time - profiler time: the profiler counts from 1970."""


def event(kind: str, name: str, start_ns: int, duration_ns: int, **more: int) -> TraceEvent:
    """``start_ns`` on the session's clock."""
    fields = {"stream": 0, "thread": 1, "correlation": 0, "operator": 0, **more}
    return TraceEvent(name, kind, start_ns=start_ns - OFFSET, duration_ns=duration_ns, **fields)


def anchor(start_ns: int, duration_ns: int = 10) -> TraceEvent:
    return event("user_annotation", ANCHOR, start_ns, duration_ns)


SPANS = [SpanBounds(100, 900), SpanBounds(110, 400), SpanBounds(120, 250), SpanBounds(410, 800)]
"""step, draft, draft_forward, verify."""

RECORDED = [
    anchor(12),
    event("cpu_op", "aten::mm", 130, 20, correlation=5),
    event("cuda_runtime", "cudaLaunchKernel", 135, 5, correlation=900),
    event("kernel", "ampere_bf16_s16816gemm", 150, 40, stream=7, correlation=900, operator=5),
    event("cuda_runtime", "cudaGraphLaunch", 420, 5, correlation=901),
    event("kernel", "node_b", 470, 30, stream=7, correlation=901),
    event("kernel", "node_a", 430, 35, stream=7, correlation=901),
    event("cuda_driver", "cuLaunchKernelEx", 380, 5, correlation=902),
    event("kernel", "triton_red", 600, 15, stream=13, correlation=902),
    event("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 850, 9, stream=7, correlation=903),
    event("cpu_op", "aten::item", 260, 20, correlation=6),
    event("gpu_memset", "Memset (Device)", 300, 2, stream=7, correlation=904, operator=6),
    event("gpu_user_annotation", ANCHOR, 12, 10, stream=7),
    event("cuda_sync", "Stream Sync", 860, 20, stream=7),
    anchor(950),
]


def recorded(
    events: list[TraceEvent], *, is_cuda: bool = True, recording_ns: int = 0
) -> KernelsRecorded:
    brackets = [Bracket(0, 40), Bracket(945, 963)]
    return kernels_of(
        3, events, SPANS, brackets=brackets, is_cuda=is_cuda, recording_ns=recording_ns
    )


def test_kernels_belong_to_the_span_that_launched_them() -> None:
    told = recorded(RECORDED, recording_ns=777)
    rows = list(zip(told.names, told.streams, told.duration_ns, told.span_indexes, strict=True))
    assert rows == [
        ("ampere_bf16_s16816gemm", 7, 40, 2),
        ("Memset (Device)", 7, 2, 1),  # no call of its correlation: by its operator
        ("node_a", 7, 35, 3),  # all nodes of a graph: where the graph was launched
        ("node_b", 7, 30, 3),
        ("triton_red", 13, 15, 1),  # ran during verify, was launched while drafting
        ("Memcpy DtoH (Device -> Pageable)", 7, 9, -1),  # its launch was not recorded
    ]
    assert (told.step, told.recording_ns) == (3, 777)


def test_times_are_the_sessions() -> None:
    told = recorded(RECORDED)
    error_ns = told.clock_error_ns
    assert error_ns is not None
    assert error_ns <= 5  # the narrowest interval the anchors leave is 8 ns wide
    expected = (150, 300, 430, 470, 600, 850)
    for start, exact in zip(told.start_ns, expected, strict=True):
        assert abs(start - exact) <= error_ns


def test_a_correlation_of_an_operator_is_no_call() -> None:
    """Operators and calls are numbered apart, and the numbers meet."""
    events = [
        anchor(12),
        event("cpu_op", "aten::add", 130, 20, correlation=900),
        event("cuda_runtime", "cudaLaunchKernel", 420, 5, correlation=900),
        event("kernel", "k", 500, 5, correlation=900),
        anchor(950),
    ]
    assert recorded(events).span_indexes == (3,)


def test_what_has_no_correlation_launched_nothing() -> None:
    """0 says that a number is not known: two of them are no pair."""
    events = [
        anchor(12),
        event("cpu_op", "aten::add", 130, 20),
        event("cuda_runtime", "cudaDeviceSynchronize", 420, 5),
        event("kernel", "k", 500, 5, correlation=900),
        event("kernel", "of unknown origin", 510, 5),
        anchor(950),
    ]
    assert recorded(events).span_indexes == (-1, -1)


def test_every_launch_of_a_graph_has_its_own_nodes() -> None:
    """A graph that is launched in one span and again in the next: of the same nodes, those of the
    second launch may run while the first launch's still do, on another stream."""
    events = [
        anchor(12),
        event("cuda_runtime", "cudaGraphLaunch", 150, 5, correlation=41),
        event("cuda_runtime", "cudaGraphLaunch", 430, 5, correlation=42),
        event("kernel", "node", 200, 300, stream=7, correlation=41),
        event("kernel", "node", 450, 100, stream=8, correlation=42),
        event("gpu_memcpy", "Memcpy DtoD (Device -> Device)", 560, 5, stream=8, correlation=42),
        event("gpu_memset", "Memset (Device)", 570, 5, stream=7, correlation=41),
        anchor(950),
    ]
    told = recorded(events)
    assert told.streams == (7, 8, 8, 7)
    assert told.span_indexes == (2, 3, 3, 2)


def test_on_cuda_no_operator_is_told_for_a_kernel() -> None:
    """Where CUPTI cannot be used a trace holds the host's operators alone."""
    events = [anchor(12), event("cpu_op", "aten::linear", 130, 50), anchor(950)]
    assert recorded(events).names == ()
    assert recorded(events, is_cuda=False).names == ("aten::linear",)


KINDS = [
    ("CPU", True, ANCHOR, "user_annotation"),
    ("CPU", True, "cudaGraphLaunch", "user_annotation"),
    ("CPU", False, "aten::mm", "cpu_op"),
    ("CPU", False, "cudagraphs::replay", "cpu_op"),
    ("CPU", False, "autograd::engine::evaluate_function: cudaLike", "cpu_op"),
    ("CPU", False, "custom", "cpu_op"),
    ("CPU", False, "cudaLaunchKernel", "cuda_runtime"),
    ("CPU", False, "cudaLaunchKernelExC", "cuda_runtime"),
    ("CPU", False, "cudaGraphLaunch", "cuda_runtime"),
    ("CPU", False, "cudaMemcpyAsync", "cuda_runtime"),
    ("CPU", False, "cuLaunchKernel", "cuda_driver"),
    ("CPU", False, "cuLaunchKernelEx", "cuda_driver"),
    ("CPU", False, "Activity Buffer Request", "overhead"),
    ("CPU", False, "Lazy Function Loading", "overhead"),
    ("CUDA", True, ANCHOR, "gpu_user_annotation"),
    ("CUDA", True, "Memset (Device)", "gpu_user_annotation"),
    ("CUDA", False, "Memcpy DtoH (Device -> Pageable)", "gpu_memcpy"),
    ("CUDA", False, "Memcpy HtoD (Pinned -> Device)", "gpu_memcpy"),
    ("CUDA", False, "Memset (Device)", "gpu_memset"),
    ("CUDA", False, "Stream Wait Event", "cuda_sync"),
    ("CUDA", False, "nvjet_tst_64x8_64x16_4x1_v_bz_TNT", "kernel"),
    ("CUDA", False, "cudaKernelOfAnOddName", "kernel"),
    ("CUDA", False, "MemcpyPeerKernel(float*)", "kernel"),
    ("CUDA", False, "void at::native::elementwise_kernel<128, 2>(int)", "kernel"),
]


@pytest.mark.parametrize(("device", "is_annotation", "name", "kind"), KINDS)
def test_the_kind_of_an_event_that_does_not_tell_it(
    device: str, is_annotation: bool, name: str, kind: str
) -> None:
    assert kind_of(device, is_annotation, name) == kind


def test_without_a_device_the_outermost_operators() -> None:
    events = [
        anchor(12),
        event("cpu_op", "aten::linear", 130, 50),
        event("cpu_op", "aten::addmm", 135, 40),
        event("cpu_op", "aten::softmax", 185, 10),
        event("cpu_op", "aten::sum", 140, 10, thread=9),
        event("cpu_op", "aten::argmax", 500, 10),
        event("cpu_op", "aten::outside", 30, 10),
        anchor(950),
    ]
    told = recorded(events, is_cuda=False)
    assert told.names == (
        "aten::outside", "aten::linear", "aten::sum", "aten::softmax", "aten::argmax",
    )  # fmt: skip
    assert told.streams == (0, 0, 1, 0, 0), "the thread that does most is 0"
    assert told.span_indexes == (-1, 2, 2, 2, 3)


def test_a_trace_of_nothing() -> None:
    told = recorded([anchor(12), anchor(950)])
    assert told.names == ()


@pytest.mark.parametrize("events", [[], [anchor(12)], [anchor(1), anchor(2), anchor(3)]])
def test_a_trace_whose_anchors_are_missing_is_refused(events: list[TraceEvent]) -> None:
    with pytest.raises(NotAligned, match=f"{len(events)} of 2 anchors"):
        recorded(events)


def test_anchors_narrow_the_offset_down() -> None:
    events = [anchor(20, 10), anchor(100, 10)]
    assert align(events, [Bracket(0, 50), Bracket(98, 111)]) == Alignment(OFFSET - 1, 2)
    assert align(events, [Bracket(98, 111), Bracket(0, 50)]).error_ns == 2, "in any order"


def test_clocks_that_drift_apart_make_the_error_large() -> None:
    alignment = align([anchor(20, 10), anchor(1000, 10)], [Bracket(19, 31), Bracket(1100, 1112)])
    assert alignment.error_ns >= 45


def test_the_innermost_span_of_a_moment() -> None:
    moments = [50, 105, 115, 200, 300, 405, 410, 800, 850, 901, None]
    expected = [-1, 0, 1, 2, 1, 0, 3, 3, 0, -1, -1]
    assert [innermost(SPANS, moment) for moment in moments] == expected


def test_what_touches_is_not_within() -> None:
    first = event("cpu_op", "a", 100, 10)
    second = event("cpu_op", "b", 110, 10)
    inner = event("cpu_op", "c", 110, 4)
    assert [each.name for each in outermost([inner, second, first])] == ["a", "b"]
