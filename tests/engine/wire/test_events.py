import re
from pathlib import Path
from typing import get_args, get_type_hints

import msgspec
import pytest

from engine.wire.events import Event, EventBase

PAGE = Path(__file__).resolve().parents[3] / "resources" / "docs" / "events.md"
KINDS = get_args(Event)
STAMPS = {"ordinal", "t_ns"}


@pytest.mark.parametrize("kind", KINDS)
def test_an_event_is_flat_and_frozen(kind: type[EventBase]) -> None:
    assert kind.__struct_config__.frozen
    assert kind.__struct_config__.tag == kind.__name__
    for name, hint in get_type_hints(kind).items():
        plain = "int|bool|float|str|NoneType"
        allowed = rf"({plain}|Role|Fate|Origin|EngineState|EndReason|FinishReason)"
        text = re.sub(r"engine\.wire\.events\.|<class '|<enum '|'>", "", str(hint)).replace(
            "None", "NoneType"
        )
        text = text.replace("NoneTypeType", "NoneType")
        one = rf"{allowed}( \| {allowed})*"
        assert re.fullmatch(rf"{one}|tuple\[{one}, \.\.\.\]", text), f"{name}: {text}"


def test_every_event_is_in_the_union() -> None:
    assert set(KINDS) == set(EventBase.__subclasses__())


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_names_every_event_and_field(kind: type[EventBase]) -> None:
    rows = [
        line for line in PAGE.read_text().splitlines() if line.startswith(f"| `{kind.__name__}`")
    ]
    assert len(rows) == 1, f"{len(rows)} rows about {kind.__name__}"
    told = set(re.findall(r"`(\w+)`", rows[0]))
    fields = {field.name for field in msgspec.structs.fields(kind)} - STAMPS
    assert fields <= told, f"not on the page: {sorted(fields - told)}"
