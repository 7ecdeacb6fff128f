"""The catalog is complete, and does not rank what must not be ranked."""

from sessions.metric_catalog import CATALOG, METRICS


def test_every_metric_is_there_once_and_explained() -> None:
    assert len(CATALOG) == len(METRICS)
    for metric in METRICS:
        assert metric.name
        assert metric.formula
        assert metric.meaning.endswith(".")
        assert metric.meaning[0].isupper()


def test_names_are_told_apart() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)


def test_acceptance_ranks_nothing() -> None:
    for key in ("acceptance_rate", "draft_efficiency", "tokens_per_step"):
        assert CATALOG[key].is_higher_better is None
    assert CATALOG["tokens_per_second"].is_higher_better is True
