"""A thread that reads the GPU through NVML at a fixed rate, each reading with its own state."""

from typing import Any

from engine.telemetry.capture_gate import CAPTURE_GATE, CaptureGate
from engine.telemetry.emitter import Emitter
from engine.telemetry.gpm_counters import GpmCounters
from engine.telemetry.nvml_device import NoSuchDevice, NvmlDevice, find_by_cuda_uuid
from engine.telemetry.nvml_readings import DeviceGone, Values, read_all
from engine.telemetry.sampling_thread import SamplingThread
from engine.wire.events import GpuSampled, LogEmitted

RETRY_S = 5.0
"""After the device was lost: how long until it is looked for again."""


class GpuSampler(SamplingThread):
    """Says ``GpuSampled`` at ``rate_hz`` from ``start`` to ``stop``; also a context manager.

    What cannot be read is None in the sample, which says why. The hardware's counters are of
    stretches of their own, see ``GpmCounters``: samples that are closer together repeat them.

    When NVML itself fails (no driver, the GPU fell off the bus, the driver was replaced) samples
    cease, one ``LogEmitted`` tells why, and the device is looked for again every few seconds.
    """

    def __init__(
        self,
        emitter: Emitter,
        cuda_uuid: str,
        *,
        rate_hz: float = 10.0,
        retry_s: float = RETRY_S,
        nvml: Any = None,
        gate: CaptureGate = CAPTURE_GATE,
    ) -> None:
        """
        Args:
            cuda_uuid: as CUDA tells it, see ``nvml_device.cuda_uuid``.
            nvml: the module to ask; None for pynvml.
            gate: no reading is made while a capture holds it.
        """
        if not rate_hz > 0:
            raise ValueError(f"the sampling rate is {rate_hz} Hz: give a number above 0")
        if nvml is None:
            import pynvml

            nvml = pynvml
        self._nvml = nvml
        self._emitter = emitter
        self._uuid = cuda_uuid
        self._interval_s = 1.0 / rate_hz
        self._retry_s = retry_s
        self._gate = gate
        super().__init__("gpu-sampler")
        self._has_complained = False

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._sample_device()
            except (self._nvml.NVMLError, DeviceGone, NoSuchDevice, OSError) as error:
                if not self._has_complained:
                    self._has_complained = True
                    message = f"The GPU cannot be sampled: {error}"
                    self._emitter.say(LogEmitted(level="warning", message=message))
                self._stopping.wait(self._retry_s)

    def _sample_device(self) -> None:
        """Until told to stop; what ends it earlier is raised."""
        self._nvml.nvmlInit()
        try:
            device = find_by_cuda_uuid(self._nvml, self._uuid)
            counters = self._open_counters(device)
            try:
                while counters is not None and not self._stopping.wait(self._interval_s):
                    with self._gate.reading() as may_read:
                        sample = self._read(device, counters) if may_read else None
                    if sample is not None:
                        self._emitter.say(sample)
            finally:
                if counters is not None:
                    counters.close()
        finally:
            self._shut_down()

    def _open_counters(self, device: NvmlDevice) -> GpmCounters | None:
        """None when told to stop before no capture was going on."""
        while not self._stopping.is_set():
            with self._gate.reading() as may_read:
                if may_read:
                    return GpmCounters(self._nvml, device, pause=self._stopping.wait)
            self._stopping.wait(self._interval_s)
        return None

    def _read(self, device: NvmlDevice, counters: GpmCounters) -> GpuSampled:
        readings, missing = read_all(self._nvml, device)
        counted, uncounted = counters.read()
        values: Values = {**readings, **counted}
        return GpuSampled(
            device_uuid=device.uuid,
            missing=(*missing, *uncounted),
            **values,  # type: ignore[arg-type]  # whole numbers where the field is one
        )

    def _shut_down(self) -> None:
        try:
            self._nvml.nvmlShutdown()
        except self._nvml.NVMLError:  # a library that was lost is shut down already
            return
