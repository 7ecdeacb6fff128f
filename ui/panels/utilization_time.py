"""UtilizationTimePanel: memory against compute over time, as the device counts it, or else as the
forwards' shapes do."""

from functools import partial

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QLabel, QSizePolicy

from ui.moment import Moment, View
from ui.panels.base import Empty, Panel
from ui.panels.utilization_digest import MAX_ROWS, Reading, Row, Utilization, utilization
from ui.plain_text import plain_tip
from ui.plots.strip_chart import StripChart, StripLine, nearest
from ui.theme import CAPTION, Theme, interface_font

_ROW_PX = 84
"""Charts that would be lower are left out, the last ones first."""
_STYLES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine)


class UtilizationTimePanel(Panel):
    key = "utilization-time"
    title = "Utilization · over time"
    reads = ("spans", "prefills", "gpu_samples", "host_samples")
    hint = "How busy memory and compute are over time. Start a run, or open a session."
    explanation = (
        "On a GPU: memory active is the share of time its memory moved data, SM active that of its "
        "multiprocessors having work, tensor active that of its matrix units, as the device's "
        "counters have it; power as its driver reads it.\n"
        "Elsewhere: FLOP/s and bytes/s of the forwards, counted from the models' shapes, over all "
        "wall time, the pauses between forwards included; process CPU 100 % is one core busy, "
        "system CPU 100 % all of them.\n"
        "n/a: the device does not tell; the tooltip says why."
    )
    frames_per_draw = 15

    def build(self) -> None:
        self.strip = QLabel()
        self.strip.setFont(interface_font(CAPTION))
        self.strip.setTextFormat(Qt.TextFormat.RichText)
        self.strip.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.body.addWidget(self.strip)
        self.body.setSpacing(0)
        self.charts = [StripChart(self.theme, y_label="%") for _ in range(MAX_ROWS)]
        self._n_rows = 0
        for place, chart in enumerate(self.charts):
            chart.setMinimumSize(80, 40)
            chart.set_read_out(partial(self._read, place))
            chart.getPlotItem().getAxis("bottom").setStyle(maxTextLevel=0)
            self.body.addWidget(chart, 1)

    @staticmethod
    def digest(moment: Moment, view: View) -> Utilization | Empty | None:
        return utilization(moment)

    def draw(self, digest: Utilization) -> None:
        self._lay_out(len(digest.rows))
        metrics = QFontMetricsF(interface_font(CAPTION))
        tops = [f"{row.top:g}" for row in digest.rows]
        axis_px = int(max(metrics.horizontalAdvance(top) for top in tops)) + 22
        shown = list(zip(digest.rows, self.charts, strict=False))
        for row, chart in shown:
            chart.set_lines(
                [
                    StripLine(
                        line.name, line.t_s, line.values, getattr(self.theme, line.ink), style
                    )
                    for line, style in zip(row.lines, _STYLES, strict=False)
                ]
            )
            axis = chart.getPlotItem().getAxis("left")
            if axis.labelText != row.unit:
                axis.setLabel(row.unit, color=self.theme.dim)
                axis.label.setFont(interface_font(CAPTION))
            has_title = axis.label.isVisible()
            chart.align(axis_px + int(has_title * metrics.height()))
            chart.set_columns(partial(_columns, row))
        right_px = max(chart.labels.room_px for _, chart in shown)
        for row, chart in shown:
            chart.set_home((digest.first_s, digest.last_s), (0.0, row.top), right_px=right_px)
        self.strip.setText(strip_text(digest.readings, self.theme))
        reasons = [f"{each.name}: {each.reason}" for each in digest.readings if each.reason]
        self.strip.setToolTip(plain_tip("\n".join(reasons)))
        self.noted.emit(digest.source)

    def restyle(self) -> None:
        for chart in self.charts:
            chart.restyle(self.theme)

    def resizeEvent(self, event: object) -> None:
        if isinstance(self.digested, Utilization):
            self._lay_out(len(self.digested.rows))

    def _lay_out(self, n_rows: int) -> None:
        """As many charts as there is height for; the lowest has the times."""
        room = (self.height() - self.strip.sizeHint().height()) // _ROW_PX
        n_shown = max(1, min(n_rows, room))
        if n_shown == self._n_rows:
            return
        self._n_rows = n_shown
        for place, chart in enumerate(self.charts):
            is_last = place == n_shown - 1
            chart.setVisible(place < n_shown)
            axis = chart.getPlotItem().getAxis("bottom")
            axis.setStyle(showValues=is_last)
            axis.setHeight(None if is_last else 6)
            axis.setLabel("time since start (s)" if is_last and room > 1 else "")
            axis.showLabel(is_last and room > 1)
            linked = place and place < n_shown  # a hidden chart has no width to share an axis by
            chart.getPlotItem().setXLink(self.charts[0].getPlotItem() if linked else None)

    def _read(self, place: int, x: float, y: float) -> str:
        digest = self.digested
        if not isinstance(digest, Utilization) or place >= len(digest.rows):
            return ""
        row = digest.rows[place]
        words = []
        for line in row.lines:
            at = nearest(line.t_s, x)
            if at is not None:
                words.append(f"{line.name} {line.values[at]:.4g} {row.unit}")
        return "\n".join([f"{x:.3f} s", *words])


def strip_text(readings: tuple[Reading, ...], theme: Theme) -> str:
    """Names faint, values plain, one line of rich text."""
    return "&nbsp;&nbsp; ".join(
        f'<span style="color:{theme.dim}">{each.name}</span> {each.text or "n/a"}'
        for each in readings
    )


def _columns(row: Row) -> dict[str, np.ndarray]:
    return {
        "line": np.concatenate([[line.name] * len(line.t_s) for line in row.lines]),
        "t_s": np.concatenate([line.t_s for line in row.lines]),
        row.unit: np.concatenate([line.values for line in row.lines]),
    }
