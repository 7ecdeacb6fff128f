"""The table of the panels, in the order of the View menu."""

from ui.panels.acceptance_entropy import EntropyPanel
from ui.panels.acceptance_position import PositionPanel
from ui.panels.acceptance_time import AcceptanceTimePanel
from ui.panels.base import Panel
from ui.panels.comparison import ComparisonPanel
from ui.panels.comparison_charts import ComparisonChartsPanel
from ui.panels.comparison_outputs import ComparisonOutputsPanel
from ui.panels.findings import FindingsPanel
from ui.panels.kv_blocks import KvBlocksPanel
from ui.panels.kv_memory import KvMemoryPanel
from ui.panels.library import LibraryPanel
from ui.panels.planner import PlannerPanel
from ui.panels.roofline import RooflinePanel
from ui.panels.speedup_curve import CurvePanel
from ui.panels.step_split import SplitPanel
from ui.panels.throughput import ThroughputPanel
from ui.panels.timeline import TimelinePanel
from ui.panels.token_stream import TokensPanel
from ui.panels.utilization_time import UtilizationTimePanel
from ui.panels.verification import StepPanel
from ui.panels.waterfall import WaterfallPanel

PANELS: tuple[type[Panel], ...] = (
    TokensPanel,
    TimelinePanel,
    StepPanel,
    PositionPanel,
    EntropyPanel,
    AcceptanceTimePanel,
    KvBlocksPanel,
    KvMemoryPanel,
    RooflinePanel,
    UtilizationTimePanel,
    ThroughputPanel,
    SplitPanel,
    WaterfallPanel,
    CurvePanel,
    FindingsPanel,
    PlannerPanel,
    ComparisonPanel,
    ComparisonOutputsPanel,
    ComparisonChartsPanel,
    LibraryPanel,
)
