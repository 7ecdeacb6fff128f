"""Painting that an error cannot take the window down with."""

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from PySide6.QtGui import QPaintDevice, QPainter

_TOLD: set[tuple[str, str, int]] = set()
"""Errors by their method, kind and line: what fails in every frame is told once."""


@contextmanager
def painting(device: QPaintDevice) -> Iterator[QPainter]:
    """A painter on ``device`` that ends with its block, also by an error. The traceback would keep
    it, and Qt does not survive a painter that outlives its paint event."""
    painter = QPainter(device)
    try:
        yield painter
    finally:
        painter.end()


def guarded(paint: Callable[..., None]) -> Callable[..., None]:
    """A method that Qt calls to paint, whose errors are told and go no further: Qt would call other
    methods while one waits to be raised, and crash."""

    @wraps(paint)
    def paint_or_tell(*arguments: Any) -> None:
        try:
            paint(*arguments)
        except Exception as error:
            line = traceback.extract_tb(error.__traceback__)[-1].lineno or 0
            what = (paint.__qualname__, type(error).__name__, line)
            if what not in _TOLD:
                _TOLD.add(what)
                sys.excepthook(type(error), error, error.__traceback__)

    return paint_or_tell


def forget_told() -> None:
    """Tell every error again."""
    _TOLD.clear()
