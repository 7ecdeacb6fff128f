"""The law: whatever drafts, what comes out follows the target's own distribution.

The expected distribution is computed from the model's plain logits without the engine. All seeds
are fixed, so a p-value is a constant of the code.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
import torch
from msgspec.structs import replace

import engine.decode_loop
import engine.drafters.draft_model
from engine.rejection import judge
from engine.sampling import Sampled, SamplingParams, draw, greedy, probabilities
from tests.support.exact_law import chi_squared, exact_probs, p_value, pair_law
from tests.support.running_engine import RunningEngine
from tests.support.toy_model import ToyModel, ToyTokenizer

N_TOKENS = 8
PROMPTS = {
    "none": [3],
    "toy": [3],
    "ngram": [3, 5, 1, 3, 5],  # the n-gram drafter finds "3 5" and proposes "1 3 5"
    "composite": [3, 5, 1, 3, 5],
}
N_SAMPLES = 192
TARGET = ToyModel(N_TOKENS, seed=11, sharpness=1.5)
DRAFT = ToyModel(N_TOKENS, seed=12, sharpness=1.5)
FILTERS = {"all": {}, "top-k": {"top_k": 3}, "top-p": {"top_p": 0.8}}


@dataclass(frozen=True)
class Case:
    drafter: str
    gamma: int
    temperature: float = 1.0
    filter_name: str = "all"

    def __str__(self) -> str:
        return f"{self.drafter}-{self.gamma}-T{self.temperature}-{self.filter_name}"

    @property
    def sampling(self) -> dict[str, Any]:
        return {"temperature": self.temperature, **FILTERS[self.filter_name]}


SAMPLINGS = [(temperature, name) for temperature in (1.0, 0.5) for name in FILTERS]
DRAFTS = [(drafter, gamma) for drafter in ("toy", "ngram", "composite") for gamma in (1, 4, 8)]
CASES = [
    *(Case("none", 0, *sampling) for sampling in SAMPLINGS),
    *(Case(drafter, 0) for drafter in ("toy", "ngram", "composite")),
    *(Case(*draft) for draft in DRAFTS),
    # Every drafter meets every setting and every gamma too, though not every gamma every setting.
    *(
        Case(*draft, *SAMPLINGS[1 + (number + more) % 5])
        for number, draft in enumerate(DRAFTS)
        for more in (0, 2)
    ),
]

BOUND = 0.001
"""What the smallest p-value of all cases may be as rarely as: each is compared with this over their
number."""


def sample_pairs(
    case: Case, n_samples: int, *, target: Any = TARGET, draft: Any = DRAFT, **more: Any
) -> list[tuple[int, int]]:
    """First and second output token of ``n_samples`` sequences, 32 at a time. Every step may draft
    the whole gamma; a sequence that has two tokens makes way for the next."""
    running = RunningEngine(
        target,
        draft if case.drafter in ("toy", "composite") else None,
        draft=case.drafter,
        gamma=case.gamma,
        batch=32,
        max_new_tokens=case.gamma + 2,
        seed=1_000_003 * (CASES.index(case) if case in CASES else 999),
        n_blocks=64,
        **case.sampling,
        **more,
    )
    for _ in range(n_samples):
        running.submit(PROMPTS[case.drafter])
    while running.engine.has_work:
        running.step()
        for sequence in list(running.scheduler.running):
            if sequence.n_output >= 2:
                running.engine.stop(sequence.sequence_id)
    running.check(wire=False)
    return [(output[0], output[1]) for output in running.outputs().values()]


def case_law(case: Case) -> dict[tuple[int, int], float]:
    return pair_law(TARGET, PROMPTS[case.drafter], **case.sampling)


@cache
def distance(case: Case) -> tuple[float, int]:
    return chi_squared(sample_pairs(case, N_SAMPLES), case_law(case))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_first_two_tokens_follow_the_target(case: Case) -> None:
    assert p_value(*distance(case)) > BOUND / len(CASES)


def test_all_cases_together_follow_the_target() -> None:
    """A fault too small for one case adds up over all of them."""
    distances = [distance(case) for case in CASES]
    total, n_free = (sum(column) for column in zip(*distances, strict=True))
    assert p_value(total, n_free) > BOUND


# --- faults that the test above must see ---------------------------------------------------------


FAULTY = [Case("toy", 4), Case("composite", 4)]


def faulty_p(case: Case) -> float:
    return p_value(*chi_squared(sample_pairs(case, 5 * N_SAMPLES), case_law(case)))


@pytest.mark.parametrize("case", FAULTY, ids=str)
def test_a_replacement_drawn_from_the_whole_target_is_seen(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judge_wrongly(
        token_ids: torch.Tensor, draft_probs: torch.Tensor, target_probs: Any, **u: Any
    ):
        verdict = judge(token_ids, draft_probs, target_probs, **u)
        row = target_probs[verdict.n_accepted][None]
        uniform = torch.tensor([u["extra_uniform"]], dtype=torch.float64)
        return replace(verdict, extra_token_id=int(draw(row, uniform)))

    monkeypatch.setattr(engine.decode_loop, "judge", judge_wrongly)
    assert faulty_p(case) < 1e-6


@pytest.mark.parametrize("case", FAULTY, ids=str)
def test_draft_tokens_that_are_no_draws_from_their_distribution_are_seen(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sample_greedily(
        logits: torch.Tensor, params: SamplingParams, uniforms: list[float]
    ) -> Sampled:
        maxima = logits.amax(-1).tolist()
        return Sampled(greedy(logits).tolist(), maxima, probabilities(logits, params))

    monkeypatch.setattr(engine.drafters.draft_model, "sample", sample_greedily)
    assert faulty_p(case) < 1e-6


def test_a_draft_at_another_temperature_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proposed at temperature 0.3, judged as if at 1."""

    def sample_sharply(
        logits: torch.Tensor, params: SamplingParams, uniforms: list[float]
    ) -> Sampled:
        probs = probabilities(logits, params)
        numbers = torch.tensor(uniforms, dtype=torch.float64)
        drawn = draw(probs ** (1 / 0.3), numbers).tolist()
        return Sampled(drawn, logits.amax(-1).tolist(), probs)

    monkeypatch.setattr(engine.drafters.draft_model, "sample", sample_sharply)
    assert faulty_p(Case("toy", 1)) < 1e-6


def test_a_rejection_that_looks_at_the_same_number_as_the_draw_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Numbers used twice tie the verdict to the token."""

    def judge_wrongly(token_ids: torch.Tensor, *probs: torch.Tensor, uniforms: Any, **u: Any):
        return judge(token_ids, *probs, uniforms=[u["extra_uniform"]] * len(uniforms), **u)

    monkeypatch.setattr(engine.decode_loop, "judge", judge_wrongly)
    assert faulty_p(Case("toy", 1)) < 1e-6


# --- logits wider than the vocabulary ------------------------------------------------------------


@pytest.mark.parametrize("drafter", ["toy", "composite"])
def test_padded_ids_are_never_proposed_nor_drawn(drafter: str) -> None:
    """The padding of both models is as likely as any token, and masked in both."""
    target = ToyModel(100, seed=21, vocab_size=128, sharpness=1.0)
    draft = ToyModel(100, seed=22, vocab_size=104, sharpness=1.0)
    running = RunningEngine(
        target, draft, draft=drafter, tokenizer=ToyTokenizer(100), n_tokens=100,
        temperature=1.0, batch=32, gamma=4, max_new_tokens=6, n_blocks=64,
    )  # fmt: skip
    prompt = PROMPTS[drafter]
    running.run(*[prompt] * N_SAMPLES)
    assert all(token_id < 100 for event in running.proposed() for token_id in event.token_ids)
    outputs = running.outputs().values()
    assert all(token_id < 100 for output in outputs for token_id in output)
    law = pair_law(target, prompt, n_tokens=100, temperature=1.0)
    unmasked = exact_probs(target.plain_logits(prompt)[-1].double().numpy(), temperature=1.0)
    assert unmasked[100:].sum() > 0.1, "the padding would not be missed"
    first: dict[int, float] = defaultdict(float)
    for (token_id, _), prob in law.items():
        first[token_id] += prob
    assert p_value(*chi_squared((output[0] for output in outputs), first)) > BOUND
    assert p_value(*chi_squared((tuple(output[:2]) for output in outputs), law)) > BOUND
