"""Results of the shape that each suite of the benchmark gives; numbers are made up."""

from typing import Any


def _spread(median: float) -> dict[str, float]:
    return {
        "median": median,
        "lower_quartile": 0.9 * median,
        "upper_quartile": 1.1 * median,
        "min": 0.8 * median,
        "max": 1.2 * median,
        "n": 10,
    }


RESULTS: dict[str, dict[str, Any]] = {
    "decoding": {
        "ratios": {
            "speculative_vs_transformers_plain": 2.5,
            "speculative_vs_transformers_assisted": 2.2,
            "speculative_vs_plain": 1.6,
            "plain_vs_transformers_plain": 1.56,
        },
        "tokens_per_second": {
            "transformers_plain": _spread(100.0),
            "transformers_assisted": _spread(114.0),
            "plain": _spread(156.0),
            "speculative": _spread(250.0),
        },
        "measured_speedup": 1.6,
        "predicted_speedup": 1.75,
        "gamma": 4,
        "acceptance_rate": 0.75,
        "tokens_per_step": 3.1,
        "c": 0.15,
        "verify_width_cost": 1.2,
        "overhead_share": 0.07,
        "steadiness": {
            "fast_us": 200.0,
            "slow_us": 500.0,
            "slow_vs_fast": 2.5,
            "is_steady": False,
            "n": 12,
        },
        "greedy_equal": True,
        "greedy_identical": False,
        "n_compared": 10,
        "divergences": [
            {
                "way": "speculative",
                "run": 3,
                "position": 17,
                "token_id": 5,
                "expected_token_id": 6,
                "top2_margin": 0.0002,
                "is_tie": True,
            }
        ],
    },
    "cache": {
        "roll_back": [
            {
                "context_length": 64,
                "paged_us": _spread(3.0),
                "contiguous_us": _spread(2.0),
                "copying_us": _spread(40.0),
            }
        ],
        "memory": {
            "contiguous": {
                "reserved_bytes": 8 * 2**20,
                "written_bytes": 2**20,
                "unwritten_bytes": 7 * 2**20,
                "unwritten_share": 0.875,
            }
        },
        "sequence_tokens": [48, 96],
        "gamma": 4,
    },
    "events": {
        "events_on_vs_off": _spread(1.005),
        "total_on_vs_off": 1.004,
        "n_events": 1000,
        "bytes_per_event": 417.0,
    },
    "sessions": {
        "n_draft_tokens": 20_000,
        "n_events": 32_184,
        "n_file_bytes": 16_000_000,
        "recorded_vs_not": [0.99],
        "figures": [
            {
                "name": name,
                "value": value,
                "unit": unit,
                "limit": limit,
                "about": "made up",
                "is_rate": is_rate,
                "is_met": is_met,
            }
            for name, value, unit, limit, is_rate, is_met in (
                ("recording_cost", 0.01, "share", 0.02, False, True),
                ("recorder_events_per_s", 90_000.0, "1/s", 100_000, True, False),
                ("open_complete_s", 0.256, "s", 2.0, False, True),
            )
        ],
        "is_met": False,
    },
    "claims": {
        "device": None,
        "claims": [
            {
                "claim": "drafting is fast",
                "measured": "",
                "verdict": "not measured",
                "why": "there is no CUDA device here.",
            }
        ],
    },
}
