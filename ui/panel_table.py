"""The table of the panels, in the order of the View menu."""

# ruff: noqa: RUF001 - the letters alpha and gamma are meant

from dataclasses import dataclass
from importlib import import_module

from ui.panels.base import Panel


@dataclass(frozen=True, slots=True)
class ListedPanel:
    """A panel by its names. Its module, and with the first plot a whole library, is loaded when it
    is asked for: what a layout does not show takes no time to open."""

    key: str
    title: str
    module: str
    name: str  # of the class in it
    tab: str
    """Its title in a tab: a shorter one where the title would be cut."""

    def kind(self) -> type[Panel]:
        kind = getattr(import_module(self.module), self.name)
        assert issubclass(kind, Panel), self.name
        return kind


_TABS = {
    "acceptance-position": "α by position",
    "acceptance-entropy": "α by entropy",
    "acceptance-time": "α over time",
    "comparison-charts": "Compare · charts",
}  # fmt: skip

PANELS = tuple(
    ListedPanel(key, title, f"ui.panels.{module}", name, _TABS.get(key, title))
    for key, title, module, name in (
        ("tokens", "Tokens", "token_stream", "TokensPanel"),
        ("timeline", "Timeline", "timeline", "TimelinePanel"),
        ("step", "Step", "verification", "StepPanel"),
        ("acceptance-position", "Acceptance · by position", "acceptance_position", "PositionPanel"),
        ("acceptance-entropy", "Acceptance · by entropy", "acceptance_entropy", "EntropyPanel"),
        ("acceptance-time", "Acceptance · over time", "acceptance_time", "AcceptanceTimePanel"),
        ("kv-blocks", "KV blocks", "kv_blocks", "KvBlocksPanel"),
        ("kv-memory", "KV memory · over time", "kv_memory", "KvMemoryPanel"),
        ("roofline", "Utilization · roofline", "roofline", "RooflinePanel"),
        ("utilization-time", "Utilization · over time", "utilization_time", "UtilizationTimePanel"),
        ("throughput", "Speed · over time", "throughput", "ThroughputPanel"),
        ("step-split", "Where a step goes", "step_split", "SplitPanel"),
        ("waterfall", "Why not faster", "waterfall", "WaterfallPanel"),
        ("speedup-curve", "Speed-up · S(γ)", "speedup_curve", "CurvePanel"),
        ("findings", "What to do", "findings", "FindingsPanel"),
        ("planner", "Planner", "planner", "PlannerPanel"),
        ("comparison", "Compare", "comparison", "ComparisonPanel"),
        ("comparison-reasons", "Why slower", "comparison_reasons", "ComparisonReasonsPanel"),
        ("comparison-outputs", "Outputs aligned", "comparison_outputs", "ComparisonOutputsPanel"),
        ("comparison-charts", "Compare · acceptance and timeline",
         "comparison_charts", "ComparisonChartsPanel"),
        ("sessions", "Sessions", "library", "LibraryPanel"),
    )
)  # fmt: skip
