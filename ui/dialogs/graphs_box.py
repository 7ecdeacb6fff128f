"""GraphsBox: whether a step is captured as CUDA graphs, which only a GPU can do."""

from PySide6.QtWidgets import QCheckBox

_WORDS = "Capture the draft loop and the verification, and replay them; off is eager."
_NO_GPU = "Needs a GPU, and this run decodes on the processor: nothing is captured."


class GraphsBox(QCheckBox):
    """Unticked and barred while no GPU is to decode; then again as it was wanted."""

    def __init__(self) -> None:
        super().__init__("CUDA graphs")
        self.is_wanted = True
        self.toggled.connect(self._want)
        self.set_has_gpu(True)

    def want(self, is_wanted: bool) -> None:
        """Tick or untick, now or as soon as a GPU decodes."""
        self.is_wanted = is_wanted
        self.setChecked(is_wanted and self.isEnabled())

    def set_has_gpu(self, has_gpu: bool) -> None:
        """Whether the device that is chosen is a GPU."""
        self.setEnabled(has_gpu)
        self.want(self.is_wanted)
        self.setToolTip(_WORDS if has_gpu else _NO_GPU)

    def _want(self, is_on: bool) -> None:
        if self.isEnabled():
            self.is_wanted = is_on
