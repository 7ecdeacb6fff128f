"""Which GPU a CUDA device number means, by CUDA_VISIBLE_DEVICES alone: no driver is asked."""

import os

VARIABLE = "CUDA_VISIBLE_DEVICES"
_UUID_STARTS = ("GPU-", "MIG-")


def visible_entry(index: int, variable: str | None) -> int | str | None:
    """What CUDA's device ``index`` is: the number of a GPU in CUDA's own order, the UUID of a GPU
    or of a MIG instance (both may be shortened as far as they stay unique), or None where CUDA
    shows no such device.

    Args:
        variable: the value of CUDA_VISIBLE_DEVICES; None where it is not set.
    """
    if variable is None:
        return index
    entries = visible_entries(variable)
    return entries[index] if index < len(entries) else None


def visible_entries(variable: str) -> list[int | str]:
    """The devices named, in order. As in CUDA, the first entry that names none ends the list, and
    a device named twice leaves none visible."""
    entries: list[int | str] = []
    for word in variable.split(","):
        word = word.strip()
        if word.startswith(_UUID_STARTS):
            entries.append(word)
        elif word.isascii() and word.isdigit():
            entries.append(int(word))
        else:
            break
    return entries if len(set(entries)) == len(entries) else []


def is_in_bus_order() -> bool:
    """Whether CUDA numbers GPUs as NVML does. By default it puts the fastest first, which is the
    same only where all are alike."""
    return os.environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
