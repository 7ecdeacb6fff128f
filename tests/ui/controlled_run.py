"""A run of a scripted engine, begun and heard by a controller."""

from engine.wire.config import RunConfig
from tests.support.event_script import EventScript
from tests.support.scripted_sessions import ScriptedEngine, ScriptedWorkshop, script_of
from ui.run_order import OrderedPrompt, RunOrder
from ui.session_controller import SessionController

ORDER = RunOrder(configs=(RunConfig(),), prompts=(OrderedPrompt("a"),), is_recorded=False)


def running(
    controller: SessionController, workshop: ScriptedWorkshop, *scripts: EventScript
) -> ScriptedEngine:
    engine = ScriptedEngine(scripts or [script_of()])
    workshop.engines.append(engine)
    controller.run(ORDER)
    controller.advance(10.0)
    return engine


def heard(controller: SessionController, n: int = 3) -> None:
    for _ in range(n):
        controller.advance(50.0)
