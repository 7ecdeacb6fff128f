"""What the open window costs a run beside it, step against the same step.

One engine decodes every prompt twice, greedily: once while the window draws, once while its frames
rest and its events are only read, as a run in a terminal has them read. So the work is the same
and an instant apart, and which comes first alternates: what else the machine does takes no side.
"""

import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import psutil

from engine.wire.config import RunConfig
from sessions.snapshot import Snapshot
from ui.run_order import OrderedPrompt, RunOrder

_FRAME_S = 0.033
_SETTLING_NS = 60_000_000
"""The first of each output is left out: the window learns of it a frame or two late."""
_TRIMMED = 0.1
"""Share of the pairs left out of the mean at either end: something else ran."""
_MAX_NEW_TOKENS = 256


def cost_beside(window: Any, application: Any, prompts: Sequence[str]) -> dict[str, Any]:
    """Share of the tokens per second that the window costs: mean over ``prompts`` without the
    outer tenths, its standard error, and the pairs.

    The engine has one thread, and where there are two cores and Linux a core to itself.
    """
    _keep_to(os.getpid(), slice(None, -1))
    config = RunConfig(n_threads=1, max_new_tokens=_MAX_NEW_TOKENS, ignore_eos=True)
    twice = tuple(OrderedPrompt(text) for text in prompts for _ in range(2))
    window.run(RunOrder(configs=(config,), prompts=twice, is_recorded=False))
    controller = window.controller
    is_apart: bool | None = None  # not looked for yet
    while controller.is_running:
        at = time.perf_counter()
        session = None if controller.live is None else controller.live.session
        if session is not None and is_apart is None:
            is_apart = any(_keep_to(each.pid, slice(-1, None)) for each in _engines())
        if session is None or session.is_over or _is_drawn(_place(session.snapshot())):
            window.clock.tick()
            application.processEvents()
        else:
            session.advance(5.0)
        time.sleep(max(0.0, _FRAME_S - (time.perf_counter() - at)))
    assert controller.shown is not None, window.banner.text
    costs = np.sort(paired_costs(controller.shown.newest()))
    assert len(costs), "the run ended before two outputs of one prompt"
    outer = round(len(costs) * _TRIMMED)
    kept = costs[outer : len(costs) - outer]
    # Of a trimmed mean: what was cut counts as the nearest that was kept.
    spread = float(np.clip(costs, kept[0], kept[-1]).std(ddof=1)) if len(costs) > 1 else 0.0
    return {
        "cost": float(kept.mean()),
        "standard_error": spread / (1 - 2 * _TRIMMED) / len(costs) ** 0.5,
        "costs": costs.tolist(),
        "has_own_core": bool(is_apart),
    }


def paired_costs(snapshot: Snapshot) -> np.ndarray:
    """1 - time at rest / time drawn of each prompt, over the steps that both its outputs have,
    [n_prompts]."""
    steps = snapshot.steps
    ids = steps["sequence_id"]
    order = list(dict.fromkeys(ids.tolist()))  # as they were decoded
    costs = []
    for pair in range(len(order) // 2):
        ends = [steps["t_ns"][ids == order[2 * pair + i]] for i in range(2)]
        n_steps = min(map(len, ends))
        settled = max(int(np.searchsorted(each - each[0], _SETTLING_NS)) for each in ends)
        if settled >= n_steps - 1:
            continue  # too quick to be timed
        first, second = (int(each[n_steps - 1] - each[settled]) for each in ends)
        at_rest, drawn = (second, first) if _is_drawn(2 * pair) else (first, second)
        costs.append(1 - at_rest / drawn)
    return np.array(costs)


def _is_drawn(place: int) -> bool:
    """Whether the window draws during the output at ``place``, from 0."""
    return (place + place // 2) % 2 == 0


def _place(snapshot: Snapshot) -> int:
    """Of the output that is decoded now: one after the other, they are numbered so."""
    return int(snapshot.steps["sequence_id"][-1]) if len(snapshot.steps) else 0


def _engines() -> list[psutil.Process]:
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if any("engine.worker" in part for part in process.cmdline()):
                found.append(process)
    return found


def _keep_to(process_id: int, part: slice) -> bool:
    """Bind a process's threads to part of the cores; whether it could be."""
    cores = list(range(os.cpu_count() or 1))
    if sys.platform != "linux" or len(cores) < 2:
        return False
    try:
        for thread in os.listdir(f"/proc/{process_id}/task"):
            os.sched_setaffinity(int(thread), cores[part])
    except OSError:  # a core that may not be used, or a thread that has ended
        return False
    return True
