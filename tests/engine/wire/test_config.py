import msgspec
import pytest

from engine.wire.config import MAX_GAMMA, ConfigError, RunConfig, check_gamma, check_sampling


def test_the_defaults_are_valid() -> None:
    config = RunConfig()
    assert msgspec.json.decode(msgspec.json.encode(config), type=RunConfig) == config


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"gamma": -1}, "gamma is -1"),
        ({"gamma": MAX_GAMMA + 1}, "gamma is 33"),
        ({"gamma": True}, "gamma is True"),
        ({"gamma": "often"}, "gamma is 'often'"),
        ({"temperature": -0.1}, "temperature is -0.1"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"temperature": 11.0}, "temperature is 11"),
        ({"top_k": -1}, "top-k is -1"),
        ({"top_p": 0.0}, "top-p is 0"),
        ({"top_p": 1.1}, "top-p is 1.1"),
        ({"target": " "}, "target is empty"),
        ({"draft": ""}, "draft is empty"),
        ({"max_gamma": 0}, "max gamma is 0"),
        ({"ngram_min": 0}, "n-gram lengths are 0..4"),
        ({"ngram_min": 5}, "n-gram lengths are 5..4"),
        ({"max_new_tokens": 0}, "max new tokens is 0"),
        ({"batch": 0}, "batch is 0"),
        ({"batch": 33}, "batch is 33"),
        ({"block_size": 8}, "block size is 8"),
        ({"allocation": "heap"}, "allocation is 'heap'"),
        ({"n_blocks": 0}, "0 blocks"),
        ({"n_blocks": 2**22 + 1}, "give 1 to 4,194,304"),
        ({"dtype": "int8"}, "dtype is 'int8'"),
        ({"n_threads": 0}, "threads is 0"),
        ({"kernels_every": -1}, "kernels-every is -1"),
        ({"stop_strings": ("",)}, "a stop string is empty"),
        ({"seed": 2**63}, "64 bits"),
    ],
)
def test_a_setting_that_cannot_work_is_refused_with_a_sentence(
    settings: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        RunConfig(**settings)


@pytest.mark.parametrize("gamma", [0, 1, MAX_GAMMA, "auto"])
def test_gammas_that_work(gamma: int | str) -> None:
    check_gamma(gamma)


def test_samplings_that_work() -> None:
    check_sampling(0.0, 0, 1.0)
    check_sampling(10.0, 1, 0.001)


@pytest.mark.parametrize(
    ("settings", "limit", "draft_model"),
    [
        ({"gamma": 4}, 4, "bundled-draft"),
        ({"gamma": "auto", "max_gamma": 6}, 6, "bundled-draft"),
        ({"gamma": 0}, 0, None),
        ({"draft": "none", "gamma": 4}, 0, None),
        ({"draft": "ngram"}, 4, None),
        ({"draft": "composite", "composite_draft": "small"}, 4, "small"),
    ],
)
def test_what_follows_from_the_settings(
    settings: dict[str, object], limit: int, draft_model: str | None
) -> None:
    config = RunConfig(**settings)
    assert (config.gamma_limit, config.draft_model) == (limit, draft_model)
