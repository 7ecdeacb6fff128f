"""Seeded generator of JSON documents: varied schemas with predictable content."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

FIRST = (
    "Anna",
    "Ben",
    "Clara",
    "David",
    "Elena",
    "Felix",
    "Grace",
    "Henry",
    "Iris",
    "Jonas",
    "Karin",
    "Liam",
    "Maria",
    "Noah",
    "Olivia",
    "Peter",
    "Rosa",
    "Samuel",
    "Tara",
    "Victor",
)
LAST = (
    "Adams",
    "Baker",
    "Carter",
    "Diaz",
    "Evans",
    "Fischer",
    "Garcia",
    "Hughes",
    "Ivanov",
    "Jones",
    "Keller",
    "Lopez",
    "Meyer",
    "Nguyen",
    "Olsen",
    "Patel",
    "Rossi",
    "Smith",
)
CITIES = (
    ("Berlin", "DE"),
    ("Lisbon", "PT"),
    ("Madrid", "ES"),
    ("Oslo", "NO"),
    ("Paris", "FR"),
    ("Rome", "IT"),
    ("Toronto", "CA"),
    ("Vienna", "AT"),
    ("Warsaw", "PL"),
    ("Zurich", "CH"),
)
PRODUCTS = (
    ("KB-101", "Keyboard", 49.9),
    ("MS-204", "Mouse", 19.5),
    ("MN-310", "Monitor", 219.0),
    ("HD-412", "Headset", 79.0),
    ("CB-015", "Cable", 7.5),
    ("DK-550", "Dock", 129.0),
    ("LP-777", "Laptop", 999.0),
    ("CH-080", "Charger", 34.0),
)
Record = dict[str, Any]


def _stamp(day: int, second: int) -> str:
    """ISO time of day ``day`` (0 = 1 January 2024, 28-day months) and ``second`` in it."""
    second %= 86_400
    return (
        f"2024-{1 + day // 28 % 12:02d}-{1 + day % 28:02d}T{second // 3600:02d}:"
        f"{second // 60 % 60:02d}:{second % 60:02d}Z"
    )


def _users(rng: random.Random) -> Callable[[int], Record]:
    start, day = rng.randrange(1, 900), rng.randrange(300)

    def make(index: int) -> Record:
        first, last = rng.choice(FIRST), rng.choice(LAST)
        city, country = rng.choice(CITIES)
        return {
            "id": start + index,
            "name": f"{first} {last}",
            "email": f"{first.lower()}.{last.lower()}@example.com",
            "active": rng.random() < 0.8,
            "role": rng.choice(("admin", "editor", "viewer")),
            "address": {"city": city, "country": country},
            "created_at": _stamp(day + index, 28_800),
        }

    return make


def _orders(rng: random.Random) -> Callable[[int], Record]:
    start, day = rng.randrange(1000, 9000), rng.randrange(300)

    def make(index: int) -> Record:
        items: list[dict[str, Any]] = []
        for sku, title, price in rng.sample(PRODUCTS, rng.randint(1, 3)):
            items.append(
                {"sku": sku, "title": title, "quantity": rng.randint(1, 3), "unit_price": price}
            )
        total = sum(item["quantity"] * item["unit_price"] for item in items)
        return {
            "order_id": start + index,
            "customer_id": rng.randint(1, 99),
            "status": rng.choice(("pending", "paid", "shipped", "delivered")),
            "currency": "EUR",
            "items": items,
            "total": round(total, 2),
            "placed_at": _stamp(day, 3600 * index),
        }

    return make


def _sensors(rng: random.Random) -> Callable[[int], Record]:
    device = f"sensor-{rng.randint(1, 40):02d}"
    site = rng.choice(("roof", "lab", "cellar", "garden", "office"))
    day, step, level = rng.randrange(300), rng.choice((10, 30, 60)), rng.uniform(15, 25)

    def make(index: int) -> Record:
        value = level + 0.1 * (index % 5)
        return {
            "device": device,
            "site": site,
            "timestamp": _stamp(day, step * index),
            "temperature": round(value, 1),
            "humidity": 40 + index % 7,
            "battery": 98 - index // 10,
            "status": "ok" if rng.random() < 0.95 else "warning",
        }

    return make


def _logs(rng: random.Random) -> Callable[[int], Record]:
    service = rng.choice(("api", "auth", "billing", "search", "worker"))
    host, day = f"{service}-{rng.randint(1, 9)}", rng.randrange(300)
    messages = {
        "INFO": ("request completed", "connection opened", "cache refreshed"),
        "WARNING": ("slow query", "retrying request"),
        "ERROR": ("connection refused",),
    }
    start = rng.randrange(80_000)

    def make(index: int) -> Record:
        severity = rng.choices(tuple(messages), (8, 2, 1))[0]
        return {
            "time": _stamp(day, start + 5 * index),
            "level": severity,
            "service": service,
            "host": host,
            "message": rng.choice(messages[severity]),
            "duration_ms": rng.choice((5, 10, 20, 50, 100)),
            "status_code": 500 if severity == "ERROR" else 200,
        }

    return make


def _configs(rng: random.Random) -> Callable[[int], Record]:
    app = rng.choice(("gateway", "inventory", "mailer", "reports"))

    def make(index: int) -> Record:
        stage = ("development", "staging", "production")[index % 3]
        return {
            "name": f"{app}-{stage}",
            "environment": stage,
            "debug": stage == "development",
            "server": {"host": "0.0.0.0", "port": 8000 + index, "workers": 2 + 2 * (index % 3)},
            "database": {
                "engine": "postgresql",
                "host": f"db.{stage}.example.com",
                "port": 5432,
                "name": app,
                "pool_size": 5,
            },
            "logging": {"level": "DEBUG" if stage == "development" else "INFO", "format": "json"},
            "features": ["search", "export", "audit"],
        }

    return make


def _points(rng: random.Random) -> Callable[[int], Record]:
    track = f"track-{rng.randint(100, 999)}"

    def make(index: int) -> Record:
        return {
            "type": "Feature",
            "geometry": {
                "type": "Point",
                "coordinates": [round(8 + 0.01 * index, 2), round(47 + 0.02 * index, 2)],
            },
            "properties": {"track": track, "index": index, "visible": True},
        }

    return make


def _tasks(rng: random.Random) -> Callable[[int], Record]:
    start = rng.randrange(1, 500)
    verbs = ("Update", "Review", "Test", "Document")
    parts = ("login page", "import job", "report view", "user list", "search index")

    def make(index: int) -> Record:
        done = rng.random() < 0.5
        return {
            "task_id": start + index,
            "title": f"{rng.choice(verbs)} the {rng.choice(parts)}",
            "assignee": rng.choice(FIRST),
            "priority": rng.choice(("low", "medium", "high")),
            "done": done,
            "tags": ["backend", "v2"] if index % 2 else ["frontend"],
            "due": _stamp(index, 0)[:10],
            "comment": None,
        }

    return make


SCHEMAS: dict[str, Callable[[random.Random], Callable[[int], Record]]] = {
    "users": _users,
    "orders": _orders,
    "readings": _sensors,
    "logs": _logs,
    "configs": _configs,
    "features": _points,
    "tasks": _tasks,
}


def json_document(index: int, seed: int = 7) -> str:
    """The ``index``-th document: an array, an object that wraps one, or JSON lines."""
    rng = random.Random(seed * 1_000_003 + index)
    schema = rng.choice(tuple(SCHEMAS))
    make = SCHEMAS[schema](rng)
    records = [make(i) for i in range(rng.randint(4, 16))]
    layout = rng.random()
    if layout < 0.25:
        return "\n".join(json.dumps(record) for record in records) + "\n"
    if layout < 0.6:
        return json.dumps(records, indent=2) + "\n"
    if layout < 0.9:
        wrapped = {"page": 1, "count": len(records), schema: records}
        return json.dumps(wrapped, indent=2) + "\n"
    return json.dumps(records[:6], indent=4) + "\n"
