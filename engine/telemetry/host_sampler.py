"""A thread that reads the host's processor and memory at a fixed rate."""

import time

import psutil

from engine.telemetry.emitter import Emitter
from engine.telemetry.sampling_thread import SamplingThread
from engine.wire.events import HostSampled, LogEmitted


class HostSampler(SamplingThread):
    """Says ``HostSampled`` at ``rate_hz`` from ``start`` to ``stop``; also a context manager.

    When the system refuses a reading there is no sample, and one ``LogEmitted`` says why.
    """

    def __init__(self, emitter: Emitter, *, rate_hz: float = 10.0) -> None:
        if not rate_hz > 0:
            raise ValueError(f"the sampling rate is {rate_hz} Hz: give a number above 0")
        self._emitter = emitter
        self._interval_s = 1.0 / rate_hz
        super().__init__("host-sampler")
        self._process = psutil.Process()
        self._read_ns = 0  # when the processor times below were read
        self._cpu_ns = 0
        self._has_failed = False

    def _run(self) -> None:
        self._sample()  # the processor shares are differences: the first reading only begins them
        while not self._stopping.wait(self._interval_s):
            sample = self._sample()
            if sample is not None:
                self._emitter.say(sample)

    def _sample(self) -> HostSampled | None:
        try:
            now_ns, cpu_ns = time.perf_counter_ns(), time.process_time_ns()
            elapsed_ns = max(now_ns - self._read_ns, 1)
            process_cpu_pct = 100.0 * (cpu_ns - self._cpu_ns) / elapsed_ns
            self._read_ns, self._cpu_ns = now_ns, cpu_ns
            memory = psutil.virtual_memory()
            return HostSampled(
                process_cpu_pct=process_cpu_pct,
                system_cpu_pct=psutil.cpu_percent(interval=None),
                process_memory_bytes=self._process.memory_info().rss,
                system_memory_used_bytes=memory.total - memory.available,
                system_memory_total_bytes=memory.total,
            )
        except (psutil.Error, OSError) as error:
            if not self._has_failed:
                self._has_failed = True
                self._emitter.say(
                    LogEmitted(level="warning", message=f"The host cannot be sampled: {error}")
                )
            return None
