"""What damaged GGUF files raise becomes a sentence; other errors pass."""

import struct

import pytest

from engine.models.catalog import Reference, Source
from engine.models.pretrained_gguf import gguf_errors
from engine.wire.config import ConfigError

FILE = Reference("m.gguf", Source.GGUF, "m.gguf")
FOLDER = Reference("m", Source.FOLDER, "m")


@pytest.mark.parametrize("error", [ValueError("shape"), KeyError("x"), struct.error("short")])
def test_damage_is_said(error):
    with pytest.raises(ConfigError, match=r"m\.gguf is truncated or damaged"), gguf_errors(FILE):
        raise error


def test_unknown_architectures_are_said():
    with pytest.raises(ConfigError, match="architecture x is not supported"), gguf_errors(FILE):
        raise ValueError("GGUF model with architecture x is not supported yet.")


def test_other_errors_pass():
    with pytest.raises(ValueError, match=r"^shape$"), gguf_errors(FOLDER):
        raise ValueError("shape")
    with pytest.raises(OSError, match="disk"), gguf_errors(FILE):
        raise OSError("disk")
    with pytest.raises(ConfigError, match=r"^mine$"), gguf_errors(FILE):
        raise ConfigError("mine")
