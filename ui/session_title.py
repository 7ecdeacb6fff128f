"""What a stored session is called where several are named side by side."""

from sessions.run_facts import told_settings
from sessions.session_summary import FileSummary


def session_title(summary: FileSummary) -> str:
    """Its name, and what drafted where the name does not tell: runs that are compared share one."""
    name = summary.name or summary.path.stem
    draft = str(told_settings(summary.config_json).get("draft", ""))
    return name if not draft or draft in name else f"{name}: {draft}"
