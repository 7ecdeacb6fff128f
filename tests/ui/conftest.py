"""A controller of sessions in a workshop whose engines are scripted."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from tests.support.scripted_sessions import ScriptedWorkshop
from ui.painting import forget_told
from ui.session_controller import SessionController


@pytest.fixture(autouse=True)
def every_error_is_told() -> None:
    """Also one that another test has met."""
    forget_told()


@pytest.fixture
def workshop() -> ScriptedWorkshop:
    return ScriptedWorkshop()


@pytest.fixture
def controller(qtbot: QtBot, workshop: ScriptedWorkshop) -> Iterator[SessionController]:
    controller = SessionController(workshop)
    yield controller
    controller.close()
