"""What a bare Linux lacks of the system's libraries that Qt shows a window with. Qt itself ends the
process where one is missing, and names none of their packages."""

import ctypes
import importlib.util
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_ALWAYS = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libglib-2.0.so.0": "libglib2.0-0",
}
_OF_PLATFORM = {
    "xcb": {
        "libxcb-cursor.so.0": "libxcb-cursor0",
        "libxcb-icccm.so.4": "libxcb-icccm4",
        "libxcb-image.so.0": "libxcb-image0",
        "libxcb-keysyms.so.1": "libxcb-keysyms1",
        "libxcb-randr.so.0": "libxcb-randr0",
        "libxcb-render.so.0": "libxcb-render0",
        "libxcb-render-util.so.0": "libxcb-render-util0",
        "libxcb-shape.so.0": "libxcb-shape0",
        "libxcb-shm.so.0": "libxcb-shm0",
        "libxcb-sync.so.1": "libxcb-sync1",
        "libxcb-util.so.1": "libxcb-util1",
        "libxcb-xfixes.so.0": "libxcb-xfixes0",
        "libxcb-xkb.so.1": "libxcb-xkb1",
        "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
        "libX11-xcb.so.1": "libx11-xcb1",
    },
    "wayland": {
        "libwayland-client.so.0": "libwayland-client0",
        "libwayland-cursor.so.0": "libwayland-cursor0",
    },
}
"""By Qt's platforms: which files they load, and the packages of Debian and Ubuntu they are in."""


@dataclass(frozen=True, slots=True)
class Lack:
    """Why no window can be shown, and what to do."""

    detail: str
    remedy: str

    @property
    def sentence(self) -> str:
        return f"The window cannot be shown: {self.detail}. Remedy: {self.remedy}."


def window_lack(environment: Mapping[str, str] = os.environ) -> Lack | None:
    """None where one of the platforms that Qt would take here can be loaded."""
    plugins = _plugins()
    lacks = []
    for platform in platforms(environment):
        plugin = plugins / f"libq{platform}.so"
        if not plugin.is_file():  # not known how it is there: Qt is left to say
            return None
        error = load(str(plugin))
        if not error:
            return None
        lacks.append(Lack(f"Qt's {platform} platform lacks {error}", _remedy(platform)))
    return lacks[0] if lacks else None


def platforms(environment: Mapping[str, str]) -> list[str]:
    """Those that Qt tries, in order; none where that is not Linux's."""
    if not sys.platform.startswith("linux"):
        return []
    if named := environment.get("QT_QPA_PLATFORM", ""):
        return [each.partition(":")[0] for each in named.split(";")]
    tried = (("WAYLAND_DISPLAY", "wayland"), ("DISPLAY", "xcb"))
    return [platform for name, platform in tried if environment.get(name)]


def load(library: str) -> str:
    """The loader's complaint; "" where it could be loaded."""
    try:
        ctypes.CDLL(library)
    except OSError as error:
        return str(error)
    return ""


def _plugins() -> Path:
    spec = importlib.util.find_spec("PySide6")
    package = Path(spec.origin).parent if spec is not None and spec.origin else Path()
    return package / "Qt" / "plugins" / "platforms"


def _remedy(platform: str) -> str:
    wanted = _ALWAYS | _OF_PLATFORM.get(platform, {})
    packages = [package for file, package in wanted.items() if load(file)]
    if not packages:
        return "install what is named here, or reinstall PySide6"
    return f"apt install {' '.join(packages)} (the names are Debian's and Ubuntu's)"
