"""Shapes of well-known models, under the names a person may type."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from engine.theory.shape import ModelShape


@dataclass(frozen=True, slots=True)
class Preset:
    """A published model: its shape, and the round parameter count it is called by (70B)."""

    name: str
    shape: ModelShape
    n_nominal_parameters: int


def find_preset(name: str) -> Preset | None:
    """The preset called ``name``, whatever its case; None when there is none."""
    return PRESETS.get(name.strip().casefold())


def _preset(
    name: str,
    nominal_billions: float,
    n_parameters: int,
    attention: tuple[int, int, int, int, int],
    intermediate_size: int,
    vocab_size: int,
    *,
    tied: bool = False,
    window: int | None = None,
    n_window_layers: int | None = None,
) -> Preset:
    n_layers, hidden_size, n_heads, n_kv_heads, head_dim = attention
    shape = ModelShape(
        n_layers=n_layers,
        hidden_size=hidden_size,
        n_heads=n_heads,
        n_kv_heads=n_kv_heads,
        head_dim=head_dim,
        intermediate_size=intermediate_size,
        vocab_size=vocab_size,
        n_parameters=n_parameters,
        has_tied_embeddings=tied,
        sliding_window=window,
        n_window_layers=n_window_layers,
    )
    return Preset(name, shape, round(nominal_billions * 1e9))


_P = _preset

# name, nominal billions, parameters,
# (layers, hidden size, heads, KV heads, head dim), intermediate size, vocabulary
_ALL = (
    _P("llama-3-70b", 70, 70_553_706_496, (80, 8192, 64, 8, 128), 28672, 128256),
    _P("llama-3-8b", 8, 8_030_261_248, (32, 4096, 32, 8, 128), 14336, 128256),
    _P("llama-3.2-3b", 3, 3_212_749_824, (28, 3072, 24, 8, 128), 8192, 128256, tied=True),
    _P("llama-3.2-1b", 1, 1_235_814_400, (16, 2048, 32, 8, 64), 8192, 128256, tied=True),
    _P("qwen2.5-72b", 72, 72_706_203_648, (80, 8192, 64, 8, 128), 29568, 152064),
    _P("qwen2.5-32b", 32, 32_763_876_352, (64, 5120, 40, 8, 128), 27648, 152064),
    _P("qwen2.5-7b", 7, 7_615_616_512, (28, 3584, 28, 4, 128), 18944, 152064),
    _P("qwen2.5-1.5b", 1.5, 1_543_714_304, (28, 1536, 12, 2, 128), 8960, 151936, tied=True),
    _P("qwen2.5-0.5b", 0.5, 494_032_768, (24, 896, 14, 2, 64), 4864, 151936, tied=True),
    _P("smollm2-1.7b", 1.7, 1_711_376_384, (24, 2048, 32, 32, 64), 8192, 49152, tied=True),
    _P("smollm2-360m", 0.36, 361_821_120, (32, 960, 15, 5, 64), 2560, 49152, tied=True),
    _P("smollm2-135m", 0.135, 134_515_008, (30, 576, 9, 3, 64), 1536, 49152, tied=True),
    _P("mistral-7b-v0.1", 7, 7_241_732_096, (32, 4096, 32, 8, 128), 14336, 32000, window=4096),
    _P("mistral-7b-v0.3", 7, 7_248_023_552, (32, 4096, 32, 8, 128), 14336, 32768),
    _P(
        "gemma-2-9b", 9, 9_241_705_984, (42, 3584, 16, 8, 256), 14336, 256000,
        tied=True, window=4096, n_window_layers=21,
    ),
    _P(
        "gemma-2-2b", 2, 2_614_341_888, (26, 2304, 8, 4, 256), 9216, 256000,
        tied=True, window=4096, n_window_layers=13,
    ),
)  # fmt: skip

PRESETS: Mapping[str, Preset] = MappingProxyType({preset.name: preset for preset in _ALL})
