"""Short names that tell the sessions of a comparison apart: a recording's own is long."""

from collections import Counter
from collections.abc import Sequence

from sessions.run_facts import RunFacts

MOST_CHARACTERS = 20
"""Of a name that heads a column as it stands: five such columns fit on a usual screen."""


def column_heads(names: Sequence[str], facts: Sequence[RunFacts]) -> list[str]:
    """The names as they are if all are short and different. Otherwise what each session drafted
    with, its gamma where that is not enough, and a number where even that is not."""
    if len(set(names)) == len(names) and max(map(len, names), default=0) <= MOST_CHARACTERS:
        return list(names)
    drafts = [_last_part(each.drafter) for each in facts]
    n_alike = Counter(drafts)
    heads = [
        f"{draft} gamma {each.gamma}" if n_alike[draft] > 1 and not each.is_baseline else draft
        for draft, each in zip(drafts, facts, strict=True)
    ]
    return numbered(heads)


def numbered(names: Sequence[str]) -> list[str]:
    """The names, those that come again with ``#2``, ``#3``, ..., no two alike."""
    told: dict[str, None] = {}
    n_before: Counter[str] = Counter()
    for name in names:
        unique = name
        while unique in told:
            n_before[name] += 1
            unique = f"{name} #{n_before[name] + 1}"
        told[unique] = None
    return list(told)


def _last_part(drafter: str) -> str:
    """Of a path or a hub's name the model's own, its end where it is long."""
    return drafter.replace("\\", "/").rstrip("/").rpartition("/")[2][-MOST_CHARACTERS:] or drafter
