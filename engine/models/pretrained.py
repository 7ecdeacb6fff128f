"""A Hugging Face checkpoint behind the CausalModel protocol."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from engine.kv.transformers_cache import AttentionCall, recorded_attention
from engine.models.base import ForwardBatch, KvStore
from engine.models.choices import Choices
from engine.models.packed import is_packing_available, layouts_of, pack_modules
from engine.models.pretrained_forward import TransformersForward, own_logits
from engine.models.probe import N_PROBE_FORWARDS, Forward, ProbeResult, agrees, run_probe
from engine.models.quantized import quantize_module, quantize_straight
from engine.models.straight import StraightForward, is_straight
from engine.models.tuning import cpu_threads, pack_straight, threads_for
from engine.theory.shape import ModelShape
from engine.wire.config import ConfigError

_POSITIONS_IF_UNSAID = 2048


class PretrainedModel:
    """A decoder-only transformers model, either role.

    ``packed`` allows a faster forward of the same logits: straight-line for Llama-shaped models,
    and linear layers packed on the CPU. It replaces transformers' own only where the two agree on
    made-up tokens. ``n_threads`` fixes the CPU threads of a forward; None chooses by the size.
    ``choices`` knows what was measured before; without it nothing is remembered.
    ``weights`` "int8" or "int4" holds the layers' weights so, after the comparison.
    """

    def __init__(
        self,
        module: Any,
        *,
        name: str,
        packed: bool = True,
        n_threads: int | None = None,
        weights: str = "auto",
        choices: Choices | None = None,
    ) -> None:
        config = module.config
        parameters = {value.data_ptr(): value for value in module.parameters()}.values()
        first = next(iter(parameters))
        n_parameters = sum(value.numel() for value in parameters)
        self.name = name
        self.device = first.device
        self.dtype = first.dtype
        self.weight_bytes = sum(value.numel() * value.element_size() for value in parameters)
        self.context_length = int(
            getattr(config, "max_position_embeddings", None) or _POSITIONS_IF_UNSAID
        )
        self.notes: tuple[str, ...] = ()
        self._n_threads: int | None = None
        if self.device.type == "cpu":
            self._n_threads = n_threads or threads_for(n_parameters)
        self._n_ids = int(config.vocab_size)
        self._forward: Forward = TransformersForward(module)
        with torch.inference_mode(), _refusing(name), recorded_attention(config) as calls:
            reference = self._probe()
        with torch.inference_mode(), _refusing(name):
            self._compare(own_logits(module, reference.token_ids), reference)
        self._kv_shapes = _checked_kv_shapes(reference, calls, config=config, name=name)
        calls = calls[: len(self._kv_shapes)]
        self.vocab_size = int(reference.logits.shape[-1])
        self.shape = _shape(
            module,
            kv_shape=self._kv_shapes[0],
            windows=[call.window for call in calls],
            n_parameters=n_parameters,
            vocab_size=self.vocab_size,
        )
        with torch.inference_mode():
            if packed:
                self._straighten(module, calls, reference)
            if weights != "auto":
                self._quantize(module, weights)
            elif packed:
                with cpu_threads(self._n_threads):
                    self._pack(module, choices or Choices())
            if self._n_threads is not None:
                plural = "" if self._n_threads == 1 else "s"
                self.notes += (f"{self._n_threads} CPU thread{plural}",)

    def forward(self, batch: ForwardBatch, store: KvStore, *, n_logits: int) -> torch.Tensor:
        """See CausalModel."""
        if self._n_threads is not None and torch.get_num_threads() != self._n_threads:
            torch.set_num_threads(self._n_threads)
        if torch.is_inference_mode_enabled():  # as in every step
            return self._forward(batch, store, n_logits)
        with torch.inference_mode():
            return self._forward(batch, store, n_logits)

    def layer_kv_shapes(self) -> tuple[tuple[int, int], ...]:
        """Per layer (n_kv_heads, head_dim)."""
        return self._kv_shapes

    def _probe(self) -> ProbeResult:
        # One thread: the model may be small, and the other cores busy with something else.
        with cpu_threads(1 if self.device.type == "cpu" else None):
            return run_probe(self._forward, n_ids=self._n_ids, device=self.device)

    def _compare(self, wanted: torch.Tensor, probe: ProbeResult) -> None:
        """Refuse a model that our cache and attention change, to the extent that dtype tells."""
        if agrees(probe.logits, wanted):
            return
        if self.dtype == torch.float32:
            raise ConfigError(
                f"{self.name} gives other logits with our cache than with its own attention, so it "
                "cannot be decoded here: pick a model of the Llama, Qwen, Mistral or Gemma family."
            )
        self.notes += ("logits in this dtype depend on how many tokens are run at once",)

    def _straighten(
        self, module: Any, calls: Sequence[AttentionCall], reference: ProbeResult
    ) -> None:
        """Take the straight-line forward, if it gives the logits of ``reference``."""
        has_extras = any(call.softcap is not None or call.sinks is not None for call in calls)
        if has_extras or not is_straight(module):
            return
        plain = self._forward
        self._forward = StraightForward(
            module,
            windows=[call.window for call in calls],
            scalings=[call.scaling for call in calls],
        )
        if agrees(self._probe().logits, reference.logits):
            self.notes += ("straight-line forward",)
        else:
            self._forward = plain

    def _quantize(self, module: Any, weights: str) -> None:
        if isinstance(self._forward, StraightForward):
            n_saved = quantize_straight(self._forward, weights, name=self.name)
        else:
            n_saved = quantize_module(module, weights, name=self.name)
        self.weight_bytes -= n_saved
        self.notes += (f"layers' weights in {weights}, so the text is the quantized model's",)

    def _pack(self, module: Any, choices: Choices) -> None:
        """Pack the linear layers that are faster so."""
        can_pack = self.device.type == "cpu" and self.dtype == torch.float32
        if not can_pack or not is_packing_available():
            return
        if isinstance(self._forward, StraightForward):
            packed = pack_straight(self._forward, choices)
        else:
            packed = pack_modules(module, choices)
        layouts = ", ".join(filter(None, (layouts_of(packed), choices.note)))
        self.notes += (f"linear layers: {layouts}",)


@contextmanager
def _refusing(name: str) -> Iterator[None]:
    """Turns what an incompatible model raises on its first forward into a ConfigError."""
    try:
        yield
    except ConfigError:
        raise
    except (RuntimeError, ValueError, TypeError, AttributeError, LookupError) as error:
        reason = (str(error).splitlines() or ["no message"])[0]
        raise ConfigError(
            f"{name} loads but cannot run with our cache ({type(error).__name__}: {reason}): "
            "pick a model of the Llama, Qwen, Mistral or Gemma family."
        ) from error


def _checked_kv_shapes(
    probe: ProbeResult, calls: Sequence[AttentionCall], *, config: Any, name: str
) -> tuple[tuple[int, int], ...]:
    n_layers = int(config.num_hidden_layers)
    shapes = probe.store.shapes
    is_regular = sorted(shapes) == list(range(n_layers)) and not probe.store.has_odd_values
    if not is_regular or len(calls) != N_PROBE_FORWARDS * n_layers:
        raise ConfigError(
            f"{name} does not keep one key and one value per layer and position, so its cache "
            "cannot be paged: pick a model with plain attention, such as Llama, Qwen or Mistral."
        )
    return tuple(shapes[layer] for layer in range(n_layers))


def _shape(
    module: Any,
    *,
    kv_shape: tuple[int, int],
    windows: Sequence[int | None],
    n_parameters: int,
    vocab_size: int,
) -> ModelShape:
    config = module.config
    n_kv_heads, head_dim = kv_shape
    widths = {window for window in windows if window is not None}
    hidden_size = int(config.hidden_size)
    inner_size = getattr(config, "intermediate_size", None) or getattr(config, "n_inner", None)
    embedding, head = module.get_input_embeddings(), module.get_output_embeddings()
    is_tied = head is not None and head.weight.data_ptr() == embedding.weight.data_ptr()
    return ModelShape(
        n_layers=len(windows),
        hidden_size=hidden_size,
        n_heads=int(config.num_attention_heads),
        n_kv_heads=n_kv_heads,
        head_dim=head_dim,
        intermediate_size=int(inner_size or 4 * hidden_size),
        vocab_size=vocab_size,
        n_parameters=n_parameters,
        has_tied_embeddings=is_tied,
        sliding_window=max(widths) if widths else None,
        n_window_layers=sum(window is not None for window in windows) if widths else None,
    )
