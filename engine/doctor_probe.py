"""What torch and the driver see: prints one JSON object (`python -m engine.doctor_probe`).

A process of its own, so that whoever asks stays free of torch, and survives a torch that does not.
"""

import importlib.metadata
import json
import os
import sys
import warnings
from typing import Any


def main() -> int:
    """Print the facts; always 0, a fact that cannot be had is its error."""
    facts: dict[str, Any] = {
        "transformers": _version("transformers"),
        "torch": _torch_facts(),
        "nvml": _nvml_facts(),
        "nvtx": _nvtx_facts(),
    }
    print(json.dumps(facts), flush=True)
    return 0


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _torch_facts() -> dict[str, Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an old driver is a fact below, not a warning
            import torch

            facts: dict[str, Any] = {
                "version": torch.__version__,
                "cuda_version": torch.version.cuda,
                "n_threads": torch.get_num_threads(),
                "devices": [],
            }
            if torch.cuda.is_available():
                for index in range(torch.cuda.device_count()):
                    properties = torch.cuda.get_device_properties(index)
                    facts["devices"].append(
                        {"name": properties.name, "memory_bytes": properties.total_memory}
                    )
            from engine.models.packed import is_packing_available

            facts["can_pack"] = is_packing_available()
    except Exception as error:  # whatever it is, it is what the person needs to read
        return {"error": f"{type(error).__name__}: {error}"}
    return facts


def _nvml_facts() -> dict[str, Any]:
    try:
        import pynvml
    except ImportError as error:
        return {"error": str(error)}
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return {"error": str(error), "is_without_driver": True}
    try:
        driver = pynvml.nvmlSystemGetDriverVersion()
        n_devices = int(pynvml.nvmlDeviceGetCount())
        readings = _reading_facts(pynvml) if n_devices else {}
        return {"driver": str(driver), "n_devices": n_devices, **readings}
    except pynvml.NVMLError as error:
        return {"error": str(error)}
    finally:
        pynvml.nvmlShutdown()


def _reading_facts(nvml: Any) -> dict[str, Any]:
    """What can be read of the device that "auto" decodes on, and "field: reason" for the rest."""
    from engine.telemetry.gpm_counters import METRICS, GpmCounters
    from engine.telemetry.nvml_device import NoSuchDevice, find_by_entry
    from engine.telemetry.nvml_readings import DeviceGone, read_all
    from engine.telemetry.visible_devices import VARIABLE, visible_entry

    entry = visible_entry(0, os.environ.get(VARIABLE))
    if entry is None:
        return {"readings_error": f"{VARIABLE} hides every device"}
    try:
        device = find_by_entry(nvml, entry)
        values, missing = read_all(nvml, device)
        counters = GpmCounters(nvml, device)
        counters.close()
    except (NoSuchDevice, DeviceGone, nvml.NVMLError) as error:
        return {"readings_error": str(error)}
    return {
        "readings": [field for field, value in values.items() if value is not None],
        "missing_readings": missing,
        "counters": [field for field in METRICS if field not in counters.reasons],
        "missing_counters": [f"{field}: {why}" for field, why in counters.reasons.items()],
    }


def _nvtx_facts() -> dict[str, Any]:
    try:
        import nvtx
    except ImportError as error:
        return {"error": str(error)}
    return {"version": _version("nvtx"), "is_enabled": bool(nvtx.enabled())}


if __name__ == "__main__":
    sys.exit(main())
