"""Menus that are asked for at a place and are gone when they are closed."""

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu


def pop_up(menu: QMenu, place: QPoint) -> None:
    """Show ``menu`` at a place of the screen, and let go of it."""
    menu.exec(place)
    menu.deleteLater()
