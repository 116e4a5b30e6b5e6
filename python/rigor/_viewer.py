"""The viewer: of recordings and of worlds, in a browser or inside a notebook."""

from __future__ import annotations

import html
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Any

from ._library import HERE, NotCopied
from ._recording import Recording
from ._scene import Scene
from ._world import World


def command() -> str:
    """The program `rigor` that belongs to this package."""
    return os.environ.get("RIGOR_PYTHON_COMMAND") or str(HERE / "rigor-command")


def _in_notebook() -> bool:
    try:
        shell = get_ipython()  # type: ignore[name-defined]  # of IPython
    except NameError:
        return False
    return "IPKernelApp" in getattr(shell, "config", {})


class Viewer(NotCopied):
    """A viewer that runs: `url` is its address, close() ends it. Ends with the program."""

    _instead = "open another one, or send its url"

    def __init__(self, target: str, browser: bool, files: Any = None):
        self._files = files
        self._process = subprocess.Popen(
            [command(), "view", target, *([] if browser else ["--no-browser"])], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.url, said = "", []
        for line in self._process.stdout:
            said.append(line)
            found = re.search(r"http://\S+", line)
            if found:
                self.url = found[0]
                return
        self._process.wait()
        raise RuntimeError("the viewer did not start: " + "".join(said).strip())

    def close(self) -> None:
        """Ends the viewer."""
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
        self._process.stdout.close()
        if self._files is not None:
            self._files.cleanup()

    def __del__(self) -> None:
        if hasattr(self, "_process") and self._process.stdout and not self._process.stdout.closed:
            self.close()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class Page:
    """A page of the viewer with a recording in it; shown where a notebook shows a result."""

    def __init__(self, text: str, height: int = 480):
        self.text, self.height = text, height

    def save(self, path: Any) -> None:
        pathlib.Path(path).write_text(self.text)

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.text)}" width="100%" height="{self.height}" '
                'style="border:0" sandbox="allow-scripts"></iframe>')


def page(recording: Any, *, height: int = 480) -> Page:
    """A self-contained page of a recording."""
    path = recording.path if isinstance(recording, Recording) else str(recording)
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder, "page.html")
        done = subprocess.run([command(), "export", path, "--html", str(target)], text=True, capture_output=True,
                              check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return Page(target.read_text(), height)


def replay(recording: Any, *, browser: bool = True, height: int = 480) -> Viewer | Page:
    """Shows a recording (a path or a Recording): in a browser, or in a notebook as its result."""
    if browser and _in_notebook():
        return page(recording, height=height)
    path = recording.path if isinstance(recording, Recording) else str(recording)
    return Viewer(path, browser)


def view(world: World | Scene, *, browser: bool = True, duration: float = 10, height: int = 480) -> Viewer | Page:
    """Opens the viewer on a world as it is now, to go on living there, as a copy: this one stays as it is. In a
    notebook the next `duration` seconds of a copy are shown inline."""
    world = world.world if isinstance(world, Scene) else world
    folder = tempfile.TemporaryDirectory()
    path = pathlib.Path(folder.name, "world.yaml")
    world.save(path)
    if browser and _in_notebook():
        recording = pathlib.Path(folder.name, "world.h5")
        Scene.from_file(path).run(duration, record=recording)
        return page(recording, height=height)
    return Viewer(str(path), browser, folder)


def main() -> None:
    """The command `rigor`."""
    os.execv(command(), ["rigor", *sys.argv[1:]])
