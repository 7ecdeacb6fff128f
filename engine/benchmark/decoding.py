"""Ways of decoding the same prompts, in turn: transformers plain and assisted, ours plain and
speculative; on CUDA ours without graphs besides. Compared pair by pair, and token by token."""

import statistics
import traceback
from collections.abc import Callable
from typing import Any

import msgspec
import torch

from engine.assembly import let_go
from engine.benchmark import device_figures
from engine.benchmark.loaded import load
from engine.benchmark.our_side import OurSide, Run, SpanTotals
from engine.benchmark.steadiness import Steadiness
from engine.benchmark.summary import paired_ratio, spread
from engine.benchmark.transformers_side import TransformersSide
from engine.models.loading import LoadedPair, Shelf
from engine.theory.speedup import expected_speedup
from engine.wire.benchmark import BenchmarkSettings
from engine.wire.config import ConfigError, RunConfig

TIE_MARGIN = 1e-3
"""Two fp32 logits closer than this may swap places by rounding alone."""
HALF_TIE_MARGIN = 0.25
"""The same of logits made in half precision, whose steps are that coarse near 16 to 32."""

WAYS = ("transformers_plain", "transformers_assisted", "plain", "speculative")
OUR_WAYS = ("plain", "speculative")
EAGER_WAYS = ("plain_eager", "speculative_eager")
"""On CUDA, besides the captured ones: every kernel launched by itself."""
N_WARM_UP_TOKENS = 8
"""That transformers decodes of each prompt before anything is timed."""


def run(
    settings: BenchmarkSettings, *, progress: Callable[[str], None], shelf: Shelf | None = None
) -> dict[str, Any]:
    """All of ``decode``, and then what ``engine.benchmark.device_figures`` says of the device.
    Where that breaks, a sentence says so in place of figures, and ``failed`` has the traceback.

    Raises: as ``decode``.
    """
    shelf = {} if shelf is None else shelf
    decoded = decode(settings, progress=progress, shelf=shelf)
    let_go()
    failed: dict[str, str] = {}
    try:
        figures = device_figures.run(settings.config, progress=progress, shelf=shelf)
    except Exception:
        failed["device_figures"] = traceback.format_exc()
        figures = device_figures.none_because(failed["device_figures"])
    return decoded | {"device_figures": figures, "failed": failed}


def decode(
    settings: BenchmarkSettings, *, progress: Callable[[str], None], shelf: Shelf
) -> dict[str, Any]:
    """Time all ways on every prompt, their order rotating from prompt to prompt.

    Raises:
        ConfigError: something cannot be loaded, or the settings do not allow a comparison.
    """
    config = settings.config
    if config.temperature != 0:
        raise ConfigError("The benchmark compares greedy tokens: leave the temperature at 0.")
    if config.gamma == "auto":
        raise ConfigError("The benchmark compares one gamma: give a number.")
    if config.gamma == 0 or config.draft == "none":
        raise ConfigError("The benchmark needs something to compare: give a draft and a gamma.")
    if config.stop_strings or config.batch != 1:
        raise ConfigError("The benchmark decodes one prompt at a time to its end: no stop, batch 1")
    pair, parts = load(config, progress=progress, shelf=shelf)
    ours = {way: OurSide(settings, parts) for way, settings in our_ways(config, pair.target.device)}
    progress("loading the models again, as transformers runs them")
    theirs = _transformers_side(config, pair)
    prompt_ids = {
        prompt: pair.tokenizer.encode(prompt, chat=config.chat) for prompt in settings.prompts
    }
    n_threads = torch.get_num_threads()

    def run_once(way: str, prompt: str, *, is_counted: bool = True) -> Run:
        if way in ours:
            return ours[way].run(prompt, is_counted=is_counted)
        return generate(way, prompt)

    def generate(way: str, prompt: str, **options: int) -> Run:
        torch.set_num_threads(n_threads)  # the engine may have chosen another number for a model
        return getattr(theirs, way.removeprefix("transformers_"))(prompt_ids[prompt], **options)

    ways = [way for way in WAYS if way != "transformers_assisted" or theirs.can_assist]
    ways += [way for way in EAGER_WAYS if way in ours]
    progress("warming up")
    for way in ways:
        for prompt in sorted(prompt_ids, key=lambda prompt: len(prompt_ids[prompt])):
            if way in ours:
                ours[way].warm_up(prompt)
            else:
                generate(way, prompt, max_new_tokens=N_WARM_UP_TOKENS)
        run_once(way, settings.prompts[0], is_counted=False)
    runs: dict[str, list[Run]] = {way: [] for way in ways}
    asked: list[str] = []
    steadiness = Steadiness()
    for round_index in range(settings.n_rounds):
        for index, prompt in enumerate(settings.prompts):
            progress(
                f"round {round_index + 1} of {settings.n_rounds}, "
                f"prompt {index + 1} of {len(settings.prompts)}"
            )
            asked.append(prompt)
            turn = (index + round_index) % len(ways)
            for way in ways[turn:] + ways[:turn]:
                steadiness.look()
                runs[way].append(run_once(way, prompt))
    tie_margin = TIE_MARGIN if pair.target.dtype == torch.float32 else HALF_TIE_MARGIN
    asked_ids = [prompt_ids[prompt] for prompt in asked]
    differences = _differences(runs, asked_ids, theirs, tie_margin=tie_margin)
    return {
        **_speeds(runs),
        **_forward_costs(ours["plain"].totals, ours["speculative"].totals, config),
        **differences,
        "warnings": [warning for way in OUR_WAYS for warning in ours[way].warnings],
        "plain_bytes_per_s": ours["plain"].totals.bytes_per_s,
        "syncs_per_step": _syncs(ours["plain"].totals, ours["speculative"].totals),
        "target": pair.target.name,
        "draft": pair.draft.name if pair.draft is not None else config.draft,
        "steadiness": steadiness.summary(),
        "settings": msgspec.to_builtins(config) | {"n_threads": n_threads},
        "n_prompts": len(settings.prompts),
        "n_rounds": settings.n_rounds,
        "device": str(pair.target.device),
        "dtype": str(pair.target.dtype).removeprefix("torch."),
        "notes": [*pair.notes, *_model_notes(pair)],
    }


def our_ways(config: RunConfig, device: torch.device) -> list[tuple[str, RunConfig]]:
    """The settings of each of our ways."""
    replace = msgspec.structs.replace
    speculative = replace(config, calibrate=False)
    ways = [("plain", replace(speculative, draft="none")), ("speculative", speculative)]
    if device.type == "cuda" and config.graphs:
        ways += [(f"{way}_eager", replace(settings, graphs=False)) for way, settings in ways]
    return ways


def _model_notes(pair: LoadedPair) -> list[str]:
    models = [model for model in (pair.target, pair.draft) if model is not None]
    return [f"{model.name}: {note}" for model in models for note in model.notes]


def _transformers_side(config: RunConfig, pair: LoadedPair) -> TransformersSide:
    return TransformersSide(
        config.target,
        config.draft_model,
        gamma=int(config.gamma),
        n_lookup=config.ngram_max if config.draft == "ngram" else 0,
        max_new_tokens=config.max_new_tokens,
        eos_ids=frozenset() if config.ignore_eos else pair.tokenizer.eos_ids,
        dtype=pair.target.dtype,
        device=pair.target.device,
    )


def _speeds(runs: dict[str, list[Run]]) -> dict[str, Any]:
    speeds = {
        way: [len(run.token_ids) / run.elapsed_s for run in way_runs]
        for way, way_runs in runs.items()
    }
    details = {
        f"speculative_vs_{way}": paired_ratio(speeds["speculative"], speeds[way])
        for way in speeds
        if way != "speculative"
    }
    details["plain_vs_transformers_plain"] = paired_ratio(
        speeds["plain"], speeds["transformers_plain"]
    )
    decoding = {
        way: [len(run.token_ids) / (run.elapsed_s - (run.prefill_s or 0.0)) for run in runs[way]]
        for way in OUR_WAYS
    }
    return {
        "ratios": {name: ratio["median"] for name, ratio in details.items()},
        "ratio_spreads": details,
        "tokens_per_second": {way: spread(values) for way, values in speeds.items()},
        "measured_speedup": details["speculative_vs_plain"]["median"],
        # Without the prefill, of which the formula knows nothing.
        "decoding_speedup": paired_ratio(decoding["speculative"], decoding["plain"])["median"],
    }


def _syncs(*totals: SpanTotals) -> dict[str, float] | None:
    """How often a step waits for the device's numbers: on average and at most; None on a CPU."""
    counts = [n for each in totals for n in each.n_syncs]
    return {"mean": statistics.mean(counts), "most": max(counts)} if counts else None


def _forward_costs(plain: SpanTotals, speculative: SpanTotals, config: RunConfig) -> dict[str, Any]:
    """c, v and the prediction from the medians of this very run's forwards."""
    plain_ns = statistics.median(plain.verify_ns[1])
    gamma = int(config.gamma)
    wide = speculative.verify_ns.get(gamma + 1, [])
    c = v = predicted = None
    if speculative.draft_forward_ns or config.draft == "ngram":
        c = statistics.median(speculative.draft_forward_ns or [0]) / plain_ns
    if wide:
        v = statistics.median(wide) / plain_ns
    alpha = speculative.acceptance_rate
    if alpha is not None and c is not None and v is not None:
        predicted = expected_speedup(alpha, gamma, c=c, v=v)
    return {
        "gamma": gamma,
        "acceptance_rate": alpha,
        "tokens_per_step": speculative.n_committed / max(1, speculative.n_steps),
        "c": c,
        "verify_width_cost": v,
        "predicted_speedup": predicted,
        "overhead_share": speculative.overhead_share,
        "overhead_share_plain": plain.overhead_share,
        "forward_ms": {
            "draft": spread([ns / 1e6 for ns in speculative.draft_forward_ns])
            if speculative.draft_forward_ns
            else None,
            "target_width_1": spread([ns / 1e6 for ns in plain.verify_ns[1]]),
            f"target_width_{gamma + 1}": spread([ns / 1e6 for ns in wide]) if wide else None,
        },
    }


def _differences(
    runs: dict[str, list[Run]],
    prompt_ids: list[list[int]],
    theirs: TransformersSide,
    *,
    tie_margin: float,
) -> dict[str, Any]:
    """Where an output leaves transformers' plain one, with the margin of the two highest logits
    there."""
    found = []
    for way, way_runs in runs.items():
        for index, run in enumerate(way_runs):
            expected = runs["transformers_plain"][index].token_ids
            if run.token_ids == expected:
                continue
            place = first_difference(run.token_ids, expected)
            margin = theirs.margin(prompt_ids[index] + expected[:place])
            found.append(
                {
                    "way": way,
                    "run": index,
                    "position": place,
                    "token_id": run.token_ids[place] if place < len(run.token_ids) else None,
                    "expected_token_id": expected[place] if place < len(expected) else None,
                    "top2_margin": margin,
                    "is_tie": margin < tie_margin,
                }
            )
    ours = [each for each in found if each["way"] in (*OUR_WAYS, *EAGER_WAYS)]
    return {
        "greedy_equal": all(each["is_tie"] for each in ours),
        "greedy_identical": not ours,
        "n_compared": len(prompt_ids),
        "divergences": found,
    }


def first_difference(one: list[int], other: list[int]) -> int:
    """The first index at which two lists differ; the shorter length when one begins the other."""
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return index
    return min(len(one), len(other))
