"""Turns what a person types for a model into its shape: a preset, a folder, or plain numbers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from engine.theory.config_shape import shape_from_config
from engine.theory.presets import PRESETS, find_preset
from engine.theory.shape import ModelShape, count_parameters

_NO_FOLDERS: Mapping[str, Path] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class NamedShape:
    """A model to plan with: its name, shape, and the round count it is called by, if any."""

    name: str
    shape: ModelShape
    n_nominal_parameters: int

    def with_nominal_size(self) -> "NamedShape":
        """The same model with the round parameter count it is called by (70B for 70.55B)."""
        shape = replace(self.shape, n_parameters=self.n_nominal_parameters)
        return replace(self, shape=shape)


def resolve_shape(text: str, folders: Mapping[str, Path] = _NO_FOLDERS) -> NamedShape:
    """The model that ``text`` names.

    ``text`` is a preset ("llama-3-8b"), one of ``folders`` by its name there, a folder with a
    ``config.json`` or that file itself, or numbers: "layers=28,hidden=3584,heads=28,kv_heads=4,
    head_dim=128,intermediate=18944,vocab=152064,parameters=7.62B". In the last form ``kv_heads``,
    ``head_dim``, ``parameters``, ``tied`` (yes or no) and ``window`` may be left out. ValueError:
    nothing of that name, a file that cannot be read, numbers that make no model.
    """
    preset = find_preset(text)
    if preset is not None:
        return NamedShape(preset.name, preset.shape, preset.n_nominal_parameters)
    if text in folders:
        shape = shape_from_config(_read_config(folders[text] / "config.json"))
        return NamedShape(text, shape, shape.n_parameters)
    if "=" in text and not Path(text).exists():
        shape = _shape_from_numbers(text)
        return NamedShape("custom", shape, shape.n_parameters)
    path = Path(text)
    file = path / "config.json" if path.is_dir() else path
    if not file.is_file():
        raise ValueError(
            f"No model {text!r}: name a known one ({', '.join({**folders, **PRESETS})}), a folder "
            "with a config.json, or numbers such as layers=28,hidden=3584,heads=28,..."
        )
    shape = shape_from_config(_read_config(file))
    return NamedShape(file.parent.resolve().name, shape, shape.n_parameters)


def _read_config(file: Path) -> dict[str, object]:
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{file} is not a readable JSON file: {error}") from error
    if not isinstance(config, dict):
        raise ValueError(f"{file} holds no JSON object; point at a model's config.json.")
    return config


def _shape_from_numbers(text: str) -> ModelShape:
    given: dict[str, str] = {}
    for part in text.split(","):
        key, _, value = part.partition("=")
        given[key.strip().casefold()] = value.strip()
    unknown = [key for key in given if key not in _KEYS]
    missing = [key for key in _REQUIRED if key not in given]
    if unknown or missing:
        problem = f"unknown {unknown[0]!r}" if unknown else f"{missing[0]!r} is missing"
        raise ValueError(
            f"The model's numbers are not complete: {problem}. "
            f"Needed: {', '.join(_REQUIRED)}; optional: {', '.join(_OPTIONAL)}."
        )
    hidden_size, n_heads = _number(given, "hidden"), _number(given, "heads")
    head_dim = _number(given, "head_dim", hidden_size // max(n_heads, 1))
    tied = given.get("tied", "no").casefold() in {"yes", "true", "1"}
    n_parameters = _number(given, "parameters", 0) or count_parameters(
        n_layers=_number(given, "layers"),
        hidden_size=hidden_size,
        n_heads=n_heads,
        n_kv_heads=_number(given, "kv_heads", n_heads),
        head_dim=head_dim,
        intermediate_size=_number(given, "intermediate"),
        vocab_size=_number(given, "vocab"),
        has_tied_embeddings=tied,
    )
    return ModelShape(
        n_layers=_number(given, "layers"),
        hidden_size=hidden_size,
        n_heads=n_heads,
        n_kv_heads=_number(given, "kv_heads", n_heads),
        head_dim=head_dim,
        intermediate_size=_number(given, "intermediate"),
        vocab_size=_number(given, "vocab"),
        n_parameters=n_parameters,
        has_tied_embeddings=tied,
        sliding_window=_number(given, "window", 0) or None,
    )


def _number(given: dict[str, str], key: str, default: int | None = None) -> int:
    text = given.get(key)
    if text is None and default is not None:
        return default
    written = (text or "").upper().replace("_", "")
    scale = _SCALES.get(written[-1:], 1.0)
    try:
        return round(float(written[:-1] if scale != 1.0 else written) * scale)
    except (ValueError, OverflowError):
        raise ValueError(f"{key}={text} is no number; write 4096, 7.62B or 494M.") from None


_SCALES = {"K": 1e3, "M": 1e6, "B": 1e9}
_REQUIRED = ("layers", "hidden", "heads", "intermediate", "vocab")
_OPTIONAL = ("kv_heads", "head_dim", "parameters", "tied", "window")
_KEYS = frozenset(_REQUIRED + _OPTIONAL)
