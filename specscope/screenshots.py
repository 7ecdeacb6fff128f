"""Pictures of a session: every layout, in both themes, at scale 1 and 2."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

SCALES = (1, 2)
_PATIENCE_S = 60.0


class PicturesFailed(Exception):
    """The pictures of a scale were not all taken."""


def take_all(
    paths: Sequence[Path], folder: Path, *, size: tuple[int, int], say: Callable[[str], None]
) -> None:
    """Save PNGs of the sessions at ``paths`` (the start page too) into ``folder``. A scale holds
    for a whole process: each has one of its own.

    Raises:
        PicturesFailed: such a process ended badly.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for scale in SCALES:
        environment = {
            **os.environ, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": str(scale),
        }  # fmt: skip
        arguments = [f"{size[0]}x{size[1]}", str(folder), f"@{scale}x", *map(str, paths)]
        done = subprocess.run(
            [sys.executable, "-m", "specscope.screenshots", *arguments],
            env=environment, check=False, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        for line in done.stdout.splitlines():
            say(line)
        if done.returncode:
            raise PicturesFailed(
                f"The pictures at scale {scale} were not all taken: their process ended with code "
                f"{done.returncode}."
            )


def take(paths: Sequence[Path], folder: Path, *, size: tuple[int, int], ending: str) -> None:
    """Pictures at this process's scale; prints each file's path."""
    from PySide6.QtWidgets import QApplication

    from sessions.playhead import resting_points
    from specscope.app import make_application, make_window
    from ui.layouts import PRESETS
    from ui.preferences import Preferences

    application = make_application()
    passing = tempfile.TemporaryDirectory(prefix="specscope-")  # what a person prefers stays apart
    window = make_window(preferences=Preferences(Path(passing.name) / "window.json"))
    window.resize(*size)
    window.show()

    def settle() -> None:
        """Until everything has been taken in and drawn."""
        deadline = time.monotonic() + _PATIENCE_S
        n_quiet = 0
        while n_quiet < 40 and time.monotonic() < deadline:
            window.clock.tick()
            QApplication.processEvents()
            waits = any(not each.session.is_over for each in window.controller.sessions)
            is_busy = waits or any(
                window.clock.analyst.is_busy(p.key) for p in window.visible_panels()
            )
            n_quiet = 0 if is_busy else n_quiet + 1
            time.sleep(0.005)

    def shoot(name: str) -> None:
        for theme in ("dark", "light"):
            window.look.choose(theme)
            settle()
            file = folder / f"{name}-{theme}{ending}.png"
            window.grab().save(str(file))
            print(file, flush=True)

    settle()
    shoot("start")
    if paths:
        window.open_sessions(paths)
        settle()
        if len(paths) == 1:
            session = window.controller.sessions[0]
            points = resting_points(session.newest())
            if len(points):  # not at the very end, where the caches are empty again
                session.playhead.scrub(int(points[(len(points) * 9) // 10]))
        for preset in PRESETS:
            window.lay_out(preset.key, is_fresh=True)
            shoot(preset.key)
    window.close()
    window.deleteLater()
    application.processEvents()
    passing.cleanup()


def _main() -> None:
    size, folder, ending, *paths = sys.argv[1:]
    width, height = map(int, size.split("x"))
    take([Path(p) for p in paths], Path(folder), size=(width, height), ending=ending)


if __name__ == "__main__":
    _main()
