"""The same models under transformers' own generate: plain, and assisted by the same drafter."""

import time
import warnings
from typing import Any

import torch
from transformers import AutoModelForCausalLM
from transformers.utils import logging

from engine.benchmark.our_side import Run
from engine.models.catalog import resolve
from engine.models.pretrained_config import source_arguments


class TransformersSide:
    """Greedy generation with dtype and device of the engine's run.

    ``draft`` None with ``n_lookup`` > 0 uses transformers' prompt lookup.
    """

    def __init__(
        self,
        target: str,
        draft: str | None,
        *,
        gamma: int,
        n_lookup: int,
        max_new_tokens: int,
        eos_ids: frozenset[int],
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        self.target = load(target, dtype=dtype, device=device)
        options: dict[str, Any] = {}
        if draft is not None:
            assistant = load(draft, dtype=dtype, device=device)
            # The same draft length at every step, however sure the draft is: what the engine does.
            assistant.generation_config.num_assistant_tokens = gamma
            assistant.generation_config.num_assistant_tokens_schedule = "constant"
            assistant.generation_config.assistant_confidence_threshold = 0.0
            options = {"assistant_model": assistant}
        elif n_lookup:
            options = {"prompt_lookup_num_tokens": gamma, "max_matching_ngram_size": n_lookup}
        self._assisted_options = options
        self._common = {
            "max_new_tokens": max_new_tokens,
            "do_sample": False,
            "eos_token_id": sorted(eos_ids) or None,
            "pad_token_id": min(eos_ids, default=0),
        }
        self._device = device

    @property
    def can_assist(self) -> bool:
        return bool(self._assisted_options)

    def plain(self, prompt_ids: list[int], *, max_new_tokens: int | None = None) -> Run:
        """``max_new_tokens``: other than was said at first."""
        return self._generate(prompt_ids, {}, max_new_tokens)

    def assisted(self, prompt_ids: list[int], *, max_new_tokens: int | None = None) -> Run:
        """See ``plain``."""
        return self._generate(prompt_ids, self._assisted_options, max_new_tokens)

    def margin(self, token_ids: list[int]) -> float:
        """Difference of the two highest logits after ``token_ids``: near 0 is a tie."""
        with torch.inference_mode():
            logits = self.target(torch.tensor([token_ids], device=self._device)).logits[0, -1]
        first, second = logits.float().topk(2).values.tolist()
        return float(first - second)

    def _generate(
        self, prompt_ids: list[int], options: dict[str, Any], max_new_tokens: int | None
    ) -> Run:
        ids = torch.tensor([prompt_ids], device=self._device)
        options = {**self._common, **options}
        if max_new_tokens is not None:
            options["max_new_tokens"] = max_new_tokens
        with warnings.catch_warnings(), torch.inference_mode():
            warnings.simplefilter("ignore")  # generate's advice on settings is not ours to pass on
            start = time.perf_counter()
            output = self.target.generate(ids, attention_mask=torch.ones_like(ids), **options)
            token_ids = output[0, len(prompt_ids) :].tolist()
            elapsed_s = time.perf_counter() - start
        return Run(token_ids, elapsed_s)


def load(name: str, *, dtype: torch.dtype, device: torch.device) -> Any:
    """The model as transformers itself would run it."""
    reference = resolve(name)
    module: Any = AutoModelForCausalLM.from_pretrained(
        **source_arguments(reference), dtype=dtype, use_safetensors=True
    )
    return module.to(device).eval()
