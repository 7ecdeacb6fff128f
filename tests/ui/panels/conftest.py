"""What every panel's test is handed."""

from tests.ui.panels.moments import look, state

__all__ = ["look", "state"]
