"""test_add_shape.py SOURCE-DIR BUILD-DIR CC: does docs/adding-a-shape.md work, followed to the letter?

The part about programs is played by test_readme.py. The part about the library is followed in a copy of the
sources: files are saved where the page says, lines are added after the lines that it names, and its last sh
block builds the library with the new shape, tests it and runs a scene with it."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PAGE = "docs/adding-a-shape.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAVE = re.compile(r"Save it as `([\w./-]+)`:$")
ADD = re.compile(r"In `([\w./-]+)`, after the line (?:`` (.+) ``|`([^`]+)`), add:$")
NOT_COPIED = ("build", "out", ".git", "node_modules", "__pycache__", ".venv")


def add_after(path, line, block):
    """After the only line that is this one, but for what is around it."""
    lines = path.read_text().splitlines(keepends=True)
    found = [i for i, each in enumerate(lines) if each.strip().rstrip("\\").strip() == line.strip()]
    if len(found) != 1:
        sys.exit(f"{PAGE}: {path.name} has {len(found)} lines {line!r}, where the page expects one")
    lines[found[0]] = lines[found[0]] + block
    path.write_text("".join(lines))


def follow(text, folder):
    """Does what the text says; what is typed in the shell comes back."""
    typed = ""
    for match in FENCE.finditer(text):
        language, block = match.groups()
        before = text[:match.start()].strip().splitlines()[-1]
        saved, added = SAVE.search(before), ADD.search(before)
        if language == "sh":
            typed += block
        elif saved:
            (folder / saved.group(1)).write_text(block)
        elif added:
            add_after(folder / added.group(1), added.group(2) or added.group(3), block)
        else:
            sys.exit(f"{PAGE}: where does the block after {before!r} go?")
    return typed


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    text = (root / PAGE).read_text()
    part = text[text.index("## In the library"):text.index("## A curved shape")]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve() / "rigor"
        shutil.copytree(root, folder, symlinks=True,
                        ignore=lambda _, names: [each for each in names if each in NOT_COPIED])
        typed = follow(part, folder)
        if "build/debug/rigor run" not in typed:
            sys.exit(f"{PAGE}: nothing is run")
        return subprocess.run(["sh", "-exu"], input=typed, text=True, cwd=folder, check=False).returncode


sys.exit(main())
