import pytest

from engine.telemetry.visible_devices import is_in_bus_order, visible_entries, visible_entry


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        ("0,2", [0, 2]),
        (" 3 , 1 ", [3, 1]),
        ("GPU-8932f937-d72c,1", ["GPU-8932f937-d72c", 1]),
        ("MIG-a1b2", ["MIG-a1b2"]),
        ("MIG-GPU-8932f937/1/0", ["MIG-GPU-8932f937/1/0"]),
        ("", []),
        ("-1", []),
        ("NoDevFiles", []),
        ("1,-1,2", [1]),
        ("1,1", []),
    ],
)
def test_entries_are_read_as_cuda_reads_them(variable: str, expected: list[int | str]) -> None:
    assert visible_entries(variable) == expected


def test_a_device_number_counts_what_is_visible() -> None:
    assert visible_entry(1, None) == 1
    assert visible_entry(1, "4,GPU-ab") == "GPU-ab"
    assert visible_entry(0, "4,GPU-ab") == 4
    assert visible_entry(2, "4,GPU-ab") is None


def test_the_order_of_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)
    assert not is_in_bus_order()
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    assert is_in_bus_order()
