"""The fields of the planner's forms."""

from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QSpinBox

from engine.theory.presets import PRESETS


def models_field(text: str, *first: str) -> QComboBox:
    """A model to choose or to type."""
    box = QComboBox()
    box.setEditable(True)
    box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
    box.addItems([*first, *PRESETS])
    box.setCurrentText(text)
    box.setToolTip(
        "A preset, a model of the open session, a folder with a config.json, or numbers: "
        "layers=32,hidden=4096,heads=32,intermediate=11008,vocab=32000."
    )
    return box


def count_field(value: int, least: int, most: int) -> QSpinBox:
    box = QSpinBox()
    box.setRange(least, most)
    box.setGroupSeparatorShown(True)
    box.setValue(value)
    return box


def bits_field(value: float) -> QDoubleSpinBox:
    box = QDoubleSpinBox()
    box.setDecimals(1)
    box.setRange(1.0, 64.0)
    box.setValue(value)
    return box


def number_field(value: float, *, most: float, step: float) -> QDoubleSpinBox:
    box = QDoubleSpinBox()
    box.setDecimals(3)
    box.setRange(0.0, most)
    box.setSingleStep(step)
    box.setValue(value)
    return box
