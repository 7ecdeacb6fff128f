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
        "decoding_speedup": 1.7,
        "predicted_speedup": 1.75,
        "gamma": 4,
        "acceptance_rate": 0.75,
        "tokens_per_step": 3.1,
        "c": 0.15,
        "verify_width_cost": 1.2,
        "overhead_share": 0.07,
        "plain_bytes_per_s": {"steps": 9e9, "forwards": 1e10},
        "syncs_per_step": None,
        "warnings": [],
        "device_figures": None,
        "device": "cpu",
        "target": "bundled-target",
        "draft": "bundled-draft",
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
        "everything_on_vs_off": _spread(1.012),
        "everything_cost_share": 0.012,
        "device": "cpu",
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

GPU_DECODING: dict[str, Any] = {
    **RESULTS["decoding"],
    "ratios": {
        "speculative_vs_transformers_plain": 6.2,
        "speculative_vs_transformers_assisted": 5.1,
        "speculative_vs_plain": 1.95,
        "speculative_vs_plain_eager": 2.4,
        "speculative_vs_speculative_eager": 2.9,
        "plain_vs_transformers_plain": 3.2,
    },
    "tokens_per_second": {
        **RESULTS["decoding"]["tokens_per_second"],
        "plain_eager": _spread(110.0),
        "speculative_eager": _spread(90.0),
    },
    "measured_speedup": 1.95,
    "decoding_speedup": 2.0,
    "predicted_speedup": 2.1,
    "gamma": 5,
    "c": 0.13,
    "verify_width_cost": 1.04,
    "device": "cuda:0",
    "target": "inflated-llama-3-8b",
    "draft": "inflated-llama-3.2-1b",
    "plain_bytes_per_s": {"steps": 2.1e12, "forwards": 2.25e12},
    "syncs_per_step": {"mean": 1.0, "most": 1},
    "device_figures": {
        "name": "NVIDIA H100 80GB HBM3",
        "copy_bytes_per_s": 2.6e12,
        "flash_attention": None,
        "context_length": 512,
        "gamma": 5,
        "attention": "attention gathers the context",
        "captured": {
            "draft_forward_ns": 885_000,
            "target_forward_ns": {"1": 6_700_000, "2": 6_750_000, "6": 6_970_000},
        },
        "eager": {
            "draft_forward_ns": 3_000_000,
            "target_forward_ns": {"1": 14_100_000, "2": 14_200_000, "6": 14_300_000},
        },
        "draft_launch_share": 0.021,
        "uncaptured_launch_share": 0.61,
        "why_not_captured": "",
    },
}
"""As one of the two GPUs that the goals are about might answer."""

RESULTS["goals"] = {
    "decoding": GPU_DECODING,
    "events": {
        key: RESULTS["events"][key]
        for key in ("everything_on_vs_off", "n_events", "bytes_per_event")
    },
    "claims": {**RESULTS["claims"], "device": "NVIDIA H100 80GB HBM3"},
    "verdicts": [
        {
            "what": "launching takes little of a captured draft",
            "measured": "7.2 %",
            "limit": "at most 5.0 %",
            "verdict": "missed",
            "why": "made up.",
        },
        {
            "what": "the host waits for the device's numbers",
            "measured": "",
            "limit": "at most 1 a step",
            "verdict": "not measured",
            "why": "no step was counted.",
        },
    ],
    "failed": {},
}
