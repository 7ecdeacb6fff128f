"""The engine as its worker drives it: prompts in, steps, settings that change while it runs."""

from collections.abc import Callable, Hashable

import torch

from engine.calibration import Calibration, calibrate
from engine.control import DeviceFull
from engine.decode_loop import DecodeLoop
from engine.forward import RoleRunner
from engine.gamma import make_gamma
from engine.models.base import CausalModel, Tokenizer
from engine.sampling import SamplingParams
from engine.scheduler import Scheduler
from engine.sequence import Sequence, StopRules
from engine.telemetry.kernel_recorder import KernelRecorder
from engine.telemetry.nvml_device import cuda_uuid
from engine.wire.commands import SubmitPrompt
from engine.wire.config import ConfigError, RunConfig, check_gamma, check_sampling
from engine.wire.events import Event, FinishReason, LogEmitted, SettingsChanged

CAPTURES_TOLD_NS = 1_000_000_000
"""How often a long capture says how far it is."""


class Engine:
    """A decode loop with its models and tokenizer. For one thread alone; it speaks through
    ``say``."""

    def __init__(
        self,
        config: RunConfig,
        *,
        target: RoleRunner,
        draft_model: CausalModel | None,
        tokenizer: Tokenizer,
        loop: DecodeLoop,
        kernels: KernelRecorder,
        say: Callable[[Event], None],
        now_ns: Callable[[], int],
    ) -> None:
        self.config = config
        self.target = target
        self.draft_model = draft_model
        self.tokenizer = tokenizer
        self.calibration: Calibration | None = None
        self._loop = loop
        self._kernels = kernels
        self._scheduler: Scheduler = loop.scheduler
        self._say = say
        self._now_ns = now_ns
        self._gamma: int | str = config.gamma
        self._can_draft = draft_model is not None or config.draft == "ngram"
        self._n_submitted = 0
        self._captured_for: object = None  # draft length and sampling of the graphs at hand
        self._captured: set[Hashable] = set()  # their contexts
        self._rules = StopRules(
            eos_ids=frozenset() if config.ignore_eos else tokenizer.eos_ids,
            stop_strings=config.stop_strings,
            context_length=target.model.context_length,
        )

    @property
    def has_work(self) -> bool:
        return self._scheduler.has_work

    @property
    def gpu_uuid(self) -> str | None:
        """As CUDA tells it, of the device that decodes; None on a CPU."""
        device = self.target.model.device
        return cuda_uuid(device) if device.type == "cuda" else None

    def submit(self, command: SubmitPrompt) -> int:
        """Queue a prompt and return its sequence_id.

        Raises:
            ConfigError: the prompt is empty, or it leaves no room in the target's context.
        """
        prompt_ids = self.tokenizer.encode(command.text, chat=self.config.chat)
        context_length = self.target.model.context_length
        if len(prompt_ids) >= context_length:
            raise ConfigError(
                f"The prompt has {len(prompt_ids)} tokens and {self.target.model.name} holds "
                f"{context_length}: shorten it so that at least one token can follow."
            )
        max_new_tokens = self.config.max_new_tokens
        if command.max_new_tokens is not None:
            max_new_tokens = command.max_new_tokens
        if max_new_tokens < 1:
            raise ConfigError(f"max new tokens is {max_new_tokens}: give 1 or more.")
        sequence_id = self._n_submitted
        self._n_submitted += 1
        seed = self._seed(sequence_id) if command.seed is None else command.seed
        self._scheduler.submit(
            Sequence(
                sequence_id,
                prompt_ids,
                prompt_text=command.text,
                label=command.label,
                max_new_tokens=max_new_tokens,
                seed=seed,
                rules=self._rules,
                tokenizer=self.tokenizer,
            )
        )
        return sequence_id

    def step(self) -> None:
        """One engine step; calibrates before the first, and again when the context has grown
        much. Raises DeviceFull."""
        try:
            with torch.inference_mode():
                self._capture_when_due()
                if self.config.calibrate:
                    self._calibrate_when_due()
                self._loop.step()
        except torch.OutOfMemoryError as error:
            reason = str(error).partition("\n")[0].rstrip(".")
            raise DeviceFull(
                f"The memory of {self.target.model.device} is used up ({reason}): give shorter "
                "prompts, a smaller batch, fewer KV blocks (--blocks), a smaller gamma or a "
                "narrower dtype."
            ) from error

    def set_gamma(self, gamma: int | str) -> None:
        """From the next step on.

        Raises:
            ConfigError: it is out of range, does not fit the device's memory, or this run has
                nothing that could draft.
        """
        check_gamma(gamma)
        if gamma != 0 and not self._can_draft:
            raise ConfigError("This run has no drafter: start one with a draft and a gamma.")
        policy = make_gamma(gamma, max_gamma=self.config.max_gamma)
        self._check_room(policy.limit, self._loop.sampling)
        if self.calibration is not None:
            policy.learn_costs(self.calibration.costs)
            if policy.limit >= len(self.calibration.target_forward_ns):
                self.calibration = None  # wider than measured: due again
        self._gamma = gamma
        self._loop.gamma = policy
        self._say_settings()

    def set_sampling(self, temperature: float, *, top_k: int, top_p: float) -> None:
        """From the next step on. Raises ConfigError when a value is out of range, or what it takes
        does not fit the device's memory."""
        check_sampling(temperature, top_k, top_p)
        sampling = SamplingParams(temperature, top_k, top_p)
        self._check_room(self._loop.gamma.limit, sampling)
        self._loop.sampling = sampling
        self._say_settings()

    def record_kernels(self, n_steps: int) -> None:
        """Of the next steps. Raises ConfigError when out of range, or impossible here."""
        self._kernels.record(n_steps)

    def stop(self, sequence_id: int) -> None:
        """End one sequence. Raises ConfigError when there is none of that number."""
        if not self._scheduler.stop(sequence_id):
            raise ConfigError(f"There is no running or waiting sequence {sequence_id}.")

    def abandon(self) -> None:
        """End all sequences as stopped; what was committed stays said."""
        self._scheduler.abandon(FinishReason.STOPPED)

    def _seed(self, sequence_id: int) -> int:
        """The run's seed moved on by the sequence's number, within 64 bits."""
        return (self.config.seed + sequence_id + 2**63) % 2**64 - 2**63

    def _say_settings(self) -> None:
        sampling = self._loop.sampling
        self._say(
            SettingsChanged(
                gamma=str(self._gamma),
                temperature=sampling.temperature,
                top_k=sampling.top_k,
                top_p=sampling.top_p,
            )
        )

    def _check_room(self, gamma: int, sampling: SamplingParams) -> None:
        if self._loop.device_step is not None:
            self._loop.device_step.check_room(gamma, sampling)

    def _capture_when_due(self) -> None:
        """Graphs are captured before a step needs them: for the contexts that the sequences at hand
        can reach, the drafts allowed and the sampling in force."""
        device_step = self._loop.device_step
        if device_step is None:
            return
        sequences = [*self._scheduler.running, *list(self._scheduler.waiting)[: self.config.batch]]
        if not sequences:
            return
        fewest = min(len(sequence.token_ids) for sequence in sequences)
        most = max(sequence.n_prompt + sequence.max_new_tokens for sequence in sequences)
        contexts = device_step.contexts(positions=(fewest, most))
        wanted = (self._loop.gamma.limit, self._loop.sampling)
        if wanted != self._captured_for:
            self._captured_for = wanted
            self._captured.clear()
        if contexts <= self._captured:
            return
        shelf, started_ns = device_step.shelf, self._now_ns()
        n_before, told_ns = shelf.n_captured, started_ns

        def rest() -> None:
            nonlocal told_ns
            self._loop.rest("capture")
            if self._now_ns() - told_ns > CAPTURES_TOLD_NS:
                told_ns = self._now_ns()
                n_yet = shelf.n_captured - n_before
                self._say(LogEmitted(level="info", message=f"{n_yet} CUDA graphs captured so far"))

        device_step.prepare(*wanted, positions=(fewest, most), rest=rest)
        self._captured |= contexts
        n_captured = shelf.n_captured - n_before
        if n_captured and shelf.is_capturing:
            seconds = (self._now_ns() - started_ns) / 1e9
            message = f"{n_captured} CUDA graphs captured in {seconds:.1f} s"
            self._say(LogEmitted(level="info", message=message))

    def _calibrate_when_due(self) -> None:
        sequences = [*self._scheduler.running, *list(self._scheduler.waiting)[: self.config.batch]]
        context_length = max((len(sequence.token_ids) for sequence in sequences), default=0)
        if self.calibration is not None and not self.calibration.is_outgrown(context_length):
            return
        limit = self._loop.gamma.limit
        if self._loop.device_step is not None:  # as the steps run, which is not forward by forward
            self.calibration = self._loop.device_step.calibrate(
                limit, self._loop.sampling, context_length=context_length, now_ns=self._now_ns
            )
        else:
            self.calibration = calibrate(
                self.target.model,
                self.draft_model,
                context_length=context_length,
                max_width=limit + 1,
                now_ns=self._now_ns,
            )
        self._loop.gamma.learn_costs(self.calibration.costs)
        self._say(self.calibration.event())
