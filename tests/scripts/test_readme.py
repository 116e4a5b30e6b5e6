"""test_readme.py SOURCE-DIR BUILD-DIR CC [PAGE]: does what README.md (or PAGE) shows work as shown?

Plays a reader who types everything: yaml, c and python blocks are saved under the name that the text before
them gives in backticks, and the sh blocks are run in order, as one script that stops at the first
failure, in a folder that looks like the checkout with BUILD-DIR as its build/release. Only `./run`
and `./test` are not typed again, `rigor view` is interrupted after some seconds, and films and pictures
are few and small; where the programs that draw them are missing they are left out, which is said."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

NOT_TYPED = re.compile(r"^\./(run|test)\b.*\n", re.MULTILINE)
# Lasts until it is interrupted; the reader looks for a while, without a browser.
UNENDING = re.compile(r"^(\S*rigor view\b[^#\n]*)", re.MULTILINE)
LOOK = r"timeout --signal=INT --preserve-status 5 \1 --no-browser "
# Minutes of drawing become seconds.
DRAWING = re.compile(r"^\S*rigor export\b[^#\n]*--(?:mp4|png)\b[^#\n]*", re.MULTILINE)
LENGTH_AND_SIZE = re.compile(r" --(?:from|to|fps|size) \S+")
SHORT = " --size 160x90 --fps 5 --to 0.4 "


def blocks(text):
    """(last line before, language, content) of every fenced block."""
    fence = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    for match in fence.finditer(text):
        before = text[:match.start()].strip().splitlines()
        yield before[-1] if before else "", match.group(1), match.group(2)


def make_checkout(folder, root, build):
    for entry in root.iterdir():
        if entry.name not in ("build", "out", ".git"):
            (folder / entry.name).symlink_to(entry)
    (folder / "build").mkdir()
    (folder / "build" / "release").symlink_to(build)
    (folder / "home").mkdir()


def save(folder, before, content):
    names = re.findall(r"`([\w.-]+\.\w+)`", before)
    if not names:
        sys.exit(f"no file name before the block that begins {content[:40]!r}")
    (folder / names[-1]).write_text(content)


def draw_less(match):
    command = match.group(0).strip()
    wanted = ["chromium"] + (["ffmpeg"] if "--mp4" in command else [])
    missing = [program for program in wanted if not shutil.which(program)]
    if missing:
        print(f"skipped: {command}: {' and '.join(missing)} not installed", flush=True)
        return ""
    return LENGTH_AND_SIZE.sub("", command) + SHORT


def play(folder, text, compiler):
    script = "set -eu\n"
    for before, language, content in blocks(text):
        if language in ("yaml", "c", "python"):
            save(folder, before, content)
        elif language == "sh":
            script += DRAWING.sub(draw_less, UNENDING.sub(LOOK, NOT_TYPED.sub("", content)))
        else:
            sys.exit(f"a block of {language}, which nobody tries")
    environment = {**os.environ, "HOME": str(folder / "home")}
    # The reader's cc warns about everything.
    (folder / "bin").mkdir()
    (folder / "bin" / "cc").write_text(
        f'#!/bin/sh\nexec {compiler} -Wall -Wextra -Wpedantic -Werror "$@"\n')
    (folder / "bin" / "cc").chmod(0o755)
    # The one that has the modules of the tests.
    (folder / "bin" / "python3").symlink_to(sys.executable)
    environment["PATH"] = f"{folder / 'bin'}:{environment['PATH']}"
    return subprocess.run(["sh", "-x"], input=script, text=True, cwd=folder, env=environment,
                          check=False).returncode


def main():
    root, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    page = sys.argv[4] if len(sys.argv) > 4 else "README.md"
    text = (root / page).read_text()
    # What changes the library is followed in a copy of it: test_add_shape.py.
    text = text.split("\n## In the library\n")[0]
    kinds = [language for _, language, _ in blocks(text)]
    wanted = {"sh", "yaml", "c"} if page == "README.md" else {"sh"}
    if not wanted <= set(kinds):
        sys.exit(f"{page} should show {', '.join(sorted(wanted))}; it has {kinds}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        make_checkout(folder, root, build)
        return play(folder, text, sys.argv[3])


sys.exit(main())
