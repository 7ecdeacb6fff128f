"""Short names that tell the sessions of a comparison apart: a recording's own is long."""

from collections import Counter
from collections.abc import Sequence

from sessions.run_facts import RunFacts

MOST_CHARACTERS = 20
"""Of a name that heads a column as it stands: five such columns fit on a usual screen."""


_COLON = ": "


def column_heads(names: Sequence[str], facts: Sequence[RunFacts | None]) -> list[str]:
    """The names, without what all begin with, if they are short and different. Otherwise what each
    session drafted with, its gamma where that is not enough, and a number where even that is not.

    Args:
        facts: of each session; None where nothing is known of one yet.
    """
    ends = _told_apart(names)
    is_short = max(map(len, ends), default=0) <= MOST_CHARACTERS
    known = [each for each in facts if each is not None]
    if (is_short and len(set(ends)) == len(ends)) or len(known) < len(facts):
        return numbered(ends)
    drafts = [_last_part(each.drafter) for each in known]
    n_alike = Counter(drafts)
    heads = [
        f"{draft} gamma {each.gamma}" if n_alike[draft] > 1 and not each.is_baseline else draft
        for draft, each in zip(drafts, known, strict=True)
    ]
    return numbered(heads)


def _told_apart(names: Sequence[str]) -> Sequence[str]:
    """Of "a run: ngram" and "a run: none" what drafts."""
    prefix, colon, _ = names[0].partition(_COLON) if names else ("", "", "")
    ends = [name.removeprefix(prefix + colon) for name in names]
    is_shared = bool(colon) and all(name.startswith(prefix + colon) for name in names)
    return ends if is_shared and len(set(ends)) == len(names) else names


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
