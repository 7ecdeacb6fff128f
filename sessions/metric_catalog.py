"""Every metric once: its name, its unit, its formula, what it means, and which way is better."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Metric:
    """``is_higher_better`` None: neither way is better. Two gammas are never to be ranked by
    acceptance or efficiency: both change with gamma though the draft is the same. What ranks is
    tokens per second."""

    key: str  # in sessions.metrics.summary
    name: str
    unit: str  # "" for a ratio or a count
    formula: str
    meaning: str
    is_higher_better: bool | None = None


METRICS = (
    # --- acceptance ---
    Metric(
        "acceptance_rate",
        "acceptance rate (alpha)",
        "",
        "accepted / (accepted + rejected)",
        "The share of tested draft tokens that the target accepted; tokens behind a rejection "
        "were never tested.",
    ),
    Metric(
        "expected_acceptance_rate",
        "expected acceptance rate",
        "",
        "mean over tested tokens of the sum of min(draft, target)",
        "What the acceptance rate should be, from the two models' distributions; a lasting "
        "difference from the observed one would be a fault of the sampler.",
    ),
    Metric(
        "draft_efficiency",
        "draft efficiency",
        "",
        "accepted / drafted",
        "The share of drafted tokens that were kept, called acceptance rate by some servers; it "
        "falls as gamma grows though the draft is the same.",
    ),
    Metric(
        "tokens_per_step",
        "tokens per step, bonus included",
        "tokens",
        "committed / steps",
        "How many tokens a step commits on average, the target's own included: 1 is ordinary "
        "decoding.",
    ),
    Metric(
        "tokens_per_drafted_step",
        "tokens per drafted step",
        "tokens",
        "committed / steps, of the steps that drafted",
        "The same, leaving out the steps for which nothing was drafted.",
    ),
    Metric(
        "mean_draft_length",
        "mean draft length",
        "tokens",
        "drafted / steps that drafted",
        "How long the drafts were that were verified.",
    ),
    # --- speed ---
    Metric(
        "tokens_per_second",
        "tokens per second",
        "tokens/s",
        "committed / time in steps",
        "The speed of decoding; prefill, calibration and pauses are apart.",
        True,
    ),
    Metric(
        "measured_speedup",
        "measured speed-up",
        "x",
        "baseline ns per token / ns per token, geometric mean over prompts",
        "How much faster than the session it is compared with, prompt by prompt.",
        True,
    ),
    Metric(
        "predicted_speedup",
        "predicted speed-up",
        "x",
        "E[N] / (gamma c + v), E[N] = (1 - alpha^(gamma+1)) / (1 - alpha)",
        "What the formula expects at this acceptance and these costs; an estimate, for nothing "
        "but the models' forwards is counted.",
        True,
    ),
    Metric(
        "c",
        "draft cost (c)",
        "",
        "draft forward / target forward, both one token wide",
        "What a draft token costs in target forwards.",
        False,
    ),
    Metric(
        "verify_width_cost",
        "verify-width cost (v)",
        "",
        "T(mean draft length + 1) / T(1)",
        "How much longer a target forward over a whole draft takes than one over one token.",
        False,
    ),
    Metric(
        "overhead_share",
        "overhead share",
        "",
        "(step - draft forwards - verify) / step",
        "The part of the steps' time that neither model computes in.",
        False,
    ),
    Metric(
        "syncs_per_step",
        "waits per step",
        "",
        "transfers to the host / engine steps",
        "How often in a step the host waits for the device's numbers; none on a CPU.",
        False,
    ),
    Metric(
        "draft_launch_share",
        "launch overhead",
        "",
        "1 - time of a draft queued ahead / its time from an idle device",
        "The part of a draft's time in which the device waits to be told what to do.",
        False,
    ),
    Metric(
        "uncaptured_launch_share",
        "launch overhead without graphs",
        "",
        "1 - time of a draft queued ahead / time of one launched kernel by kernel",
        "The same, were the draft's kernels launched one by one.",
        False,
    ),
    Metric(
        "draft_share",
        "draft share",
        "",
        "draft / step",
        "The part of the steps' time that goes into drafting.",
    ),
    Metric(
        "verify_share",
        "verify share",
        "",
        "verify / step",
        "The part of the steps' time that goes into the target's forward.",
    ),
    # --- time ---
    Metric(
        "decode_s",
        "time in steps",
        "s",
        "sum over engine steps of the wall time up to the last commit",
        "What decoding took; sequences decoded together are counted once.",
    ),
    Metric(
        "elapsed_s",
        "elapsed",
        "s",
        "last commit or finish - first sequence's start",
        "All of it: steps, prefill, calibration, pauses and waiting.",
    ),
    Metric("prefill_s", "prefill", "s", "sum of prefills", "What reading the prompts took."),
    Metric(
        "calibration_s",
        "calibration",
        "s",
        "sum of calibrations after the first sequence's start",
        "What measuring the forwards took, between steps.",
    ),
    Metric("paused_s", "paused", "s", "sum of pauses", "How long the engine rested by command."),
    # --- counts ---
    Metric("n_steps", "steps", "", "count", "Steps committed, each sequence's its own."),
    Metric("n_engine_steps", "engine steps", "", "count", "Steps, those decoded together as one."),
    Metric("n_steps_drafted", "drafted steps", "", "count", "Steps that had a draft verified."),
    Metric("n_output_tokens", "output tokens", "", "count", "Tokens committed."),
    Metric("n_drafted", "drafted", "", "count", "Draft tokens that were judged."),
    Metric(
        "n_tested", "tested", "", "accepted + rejected", "Draft tokens compared with the target."
    ),
    Metric("n_accepted", "accepted", "", "count", "Draft tokens kept."),
    Metric("n_rejected", "rejected", "", "count", "Draft tokens tested and refused."),
    Metric("n_discarded", "discarded", "", "count", "Draft tokens behind a refused one."),
    Metric("n_recovered", "recovered", "", "count", "Tokens drawn after a rejection."),
    Metric("n_bonus", "bonus", "", "count", "Tokens drawn after a draft accepted whole."),
    Metric(
        "n_non_finite_draft",
        "non-finite draft rows",
        "",
        "count",
        "Draft rows that held NaN or infinity; drafting stopped there.",
        False,
    ),
    Metric(
        "n_zero_residual",
        "empty residuals",
        "",
        "count",
        "Rejections with an empty residual, drawn from the target instead.",
    ),
    # --- memory ---
    Metric(
        "kv_occupancy",
        "cache occupancy",
        "",
        "owned blocks / all blocks, of the target",
        "How much of the target's cache is handed out at this moment.",
    ),
    Metric(
        "kv_fragmentation",
        "internal fragmentation",
        "",
        "1 - committed slots / owned slots, of the target",
        "How much of what is handed out holds nothing.",
        False,
    ),
    Metric(
        "n_missing_events",
        "missing events",
        "",
        "holes in the ordinals",
        "Events that were said and did not arrive, measurements dropped on purpose included.",
        False,
    ),
)

CATALOG = {metric.key: metric for metric in METRICS}
