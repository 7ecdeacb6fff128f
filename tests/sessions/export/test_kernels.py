"""A launch is placed where it can only be read in one way."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from engine.wire.events import KernelsRecorded, ModelLoaded, Role, SpansMeasured
from sessions.export.kernels import N_REMEMBERED_STEPS, Kernel, KernelReader
from tests.support.export_streams import clear_spans, gpu_session, kernels_of

GPU = ModelLoaded(
    role=Role.TARGET,
    name="m",
    n_parameters=1,
    vocab_size=1,
    context_length=1,
    dtype="float32",
    device="cuda:0",
    weight_bytes=1,
    load_ns=1,
)
CPU = msgspec.structs.replace(GPU, device="cpu")


def read(*events: object) -> list[Kernel]:
    reader = KernelReader()
    return [kernel for event in (GPU, *events) for kernel in reader.read(event)] + reader.close()


def containing(spans: SpansMeasured, at: int) -> list[int]:
    return [
        index
        for index, (start, host) in enumerate(zip(spans.start_ns, spans.host_ns, strict=True))
        if start <= at <= start + host
    ]


def test_a_launch_is_inside_its_span_and_not_inside_an_inner_one() -> None:
    spans = clear_spans(0, 10_000)
    kernels = read(spans, kernels_of(spans))
    for index, kernel in enumerate(kernels):
        assert kernel.span_name == spans.names[index]
        innermost = max(containing(spans, kernel.launch_ns), key=lambda i: spans.start_ns[i])
        assert innermost == index
        assert kernel.launch_ns <= kernel.start_ns
        assert kernel.end_ns - kernel.start_ns == 20
    assert [k.start_ns for k in kernels] == [start + 50 for start in spans.start_ns]


def test_kernels_before_their_spans_wait_for_them() -> None:
    spans = clear_spans(0, 10_000)
    assert read(kernels_of(spans), spans) == read(spans, kernels_of(spans))


def test_a_device_clock_that_is_early_moves_the_whole_step() -> None:
    spans = clear_spans(0, 10_000)
    reader = KernelReader()
    reader.read(GPU)
    reader.read(spans)
    early = reader.read(kernels_of(spans, lateness_ns=-700))
    assert reader.notes.largest_shift_ns == 701  # a launch is at least 1 ns inside its span
    assert {k.start_ns - s for k, s in zip(early, spans.start_ns, strict=True)} == {1}
    assert all(kernel.launch_ns <= kernel.start_ns for kernel in early)


def test_a_kernel_outside_all_spans_is_launched_by_none() -> None:
    spans = clear_spans(0, 10_000)
    outside = msgspec.structs.replace(kernels_of(spans), span_indexes=(-1,) * len(spans.names))
    kernels = read(spans, outside)
    assert {kernel.span_name for kernel in kernels} == {None}
    assert all(kernel.launch_ns == kernel.start_ns for kernel in kernels)
    lost = read(kernels_of(spans))  # its spans never came
    assert {kernel.span_name for kernel in lost} == {None}


def test_a_cpu_has_operators_and_no_kernels() -> None:
    spans = clear_spans(0, 0)
    reader = KernelReader()
    assert reader.read(CPU) == reader.read(spans) == reader.read(kernels_of(spans)) == []
    assert reader.close() == []
    assert reader.notes.n_operators == len(spans.names)


def test_a_span_covered_whole_by_inner_ones_is_noted() -> None:
    spans = SpansMeasured(
        step=0,
        names=("draft", "draft_forward"),
        roles=(None, None),
        start_ns=(100, 100),
        host_ns=(50, 50),
        gpu_ns=(None, None),
        n_flops=(None, None),
        n_bytes=(None, None),
    )
    reader = KernelReader()
    for event in (GPU, spans):
        reader.read(event)
    (first, second) = reader.read(kernels_of(spans))
    assert reader.notes.n_crowded == 1
    assert first.launch_ns == 100
    assert 100 < second.launch_ns < 150


def test_memory_is_bounded_by_steps() -> None:
    reader = KernelReader()
    reader.read(GPU)
    for step in range(N_REMEMBERED_STEPS + 10):
        reader.read(clear_spans(step, step * 10_000))
    assert len(reader._spans) == N_REMEMBERED_STEPS
    (old, new) = (clear_spans(0, 0), clear_spans(N_REMEMBERED_STEPS + 9, 0))
    reader.read(kernels_of(old))
    assert {kernel.span_name for kernel in reader.close()} == {None}
    assert {kernel.span_name for kernel in reader.read(kernels_of(new))} == set(new.names)


@given(
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 60)), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(-50, 300), st.integers(-1, 8)), min_size=1, max_size=8),
)
def test_whatever_the_spans_no_kernel_begins_before_its_launch(
    pairs: list[tuple[int, int]], recorded: list[tuple[int, int]]
) -> None:
    pairs = sorted(pairs, key=lambda pair: (pair[0], -pair[1]))
    n, nothing = len(pairs), (None,) * len(pairs)
    spans = SpansMeasured(
        step=0,
        names=tuple(f"s{i}" for i in range(n)),
        roles=nothing,
        start_ns=tuple(start for start, _ in pairs),
        host_ns=tuple(length for _, length in pairs),
        gpu_ns=nothing,
        n_flops=nothing,
        n_bytes=nothing,
    )
    kernels = KernelsRecorded(
        step=0,
        names=("k",) * len(recorded),
        streams=(7,) * len(recorded),
        start_ns=tuple(start for start, _ in recorded),
        duration_ns=(5,) * len(recorded),
        span_indexes=tuple(index for _, index in recorded),
    )
    for kernel, (_, index) in zip(read(spans, kernels), recorded, strict=True):
        assert kernel.start_ns >= 0
        assert kernel.launch_ns <= kernel.start_ns
        assert kernel.end_ns == kernel.start_ns + 5
        if 0 <= index < n:
            assert index in containing(spans, kernel.launch_ns)
        else:
            assert kernel.span_name is None


def test_a_session_reads_the_same() -> None:
    events = gpu_session()
    reader = KernelReader()
    kernels = [kernel for event in events for kernel in reader.read(event)]
    assert len(kernels) == reader.notes.n_kernels == 3 * 7
    assert reader.notes.largest_shift_ns == reader.notes.n_outside == reader.notes.n_crowded == 0
