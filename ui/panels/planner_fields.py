"""The fields of the planner's forms."""

from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QSpinBox

from engine.theory.presets import PRESETS
from ui.number_fields import decimal_field, whole_field


def models_field(text: str, *first: str) -> QComboBox:
    """A model to choose or to type."""
    box = QComboBox()
    box.setEditable(True)
    box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
    box.addItems([*first, *PRESETS])
    box.setCurrentText(text)
    box.setToolTip(
        "A preset, a model that is here or in the open session, a folder with a config.json, or "
        "numbers: "
        "layers=32,hidden=4096,heads=32,intermediate=11008,vocab=32000."
    )
    return box


def count_field(value: int, least: int, most: int) -> QSpinBox:
    box = whole_field(least, most, value)
    box.setGroupSeparatorShown(True)
    return box


def bits_field(value: float) -> QDoubleSpinBox:
    return decimal_field(1.0, 64.0, value, decimals=1)


def number_field(value: float, *, most: float, step: float) -> QDoubleSpinBox:
    return decimal_field(0.0, most, value, step=step, decimals=3)
