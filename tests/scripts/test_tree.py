"""test_tree.py SOURCE-DIR: is the tree in order?

  - text files are UTF-8 without tabs for indentation, trailing blanks or a missing last newline
  - C files are formatted as .clang-format says (where clang-format 14, Debian 12's, is installed), and
    no line of them, comments included, is longer than 100 columns
  - functions have at most 60 lines between their braces (tests too) and at most 7 parameters (those
    of the library and the command)
  - comments cite papers, not lists that are outside the repository
  - every source file of a stage has the test that is named after it, or says where it is tested
  - links in Markdown lead to files, and to headings, that exist inside the repository
  - src/README.md, the map, names every source file, and none that is not there; functions that it
    names are in the file that it says
  - no file holds a path of the machine that it was written on
  - shell and Python scripts parse, and those to be called can be executed
  - lists of npm packages have checksums, and no address that they were once fetched from

Every rule is first tried on something that breaks it."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

NOT_OURS = {".git", "build", "out", "node_modules", "dist", "corpus", "__pycache__"}
BINARY = {".stl", ".h5", ".png", ".jpg", ".webp", ".gz"}
# Broken on purpose, to be read by tests.
BROKEN_ON_PURPOSE = re.compile(r"tests/data/")
EXECUTABLE = ["run", "test", ".ci/run", "tools/setup", "tools/page"]
FORMATTER_VERSION = "14"
COLUMNS = 100
LINES, PARAMETERS = 60, 7
# Known to be beyond them.


def files(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in NOT_OURS)
        for name in sorted(names):
            path = pathlib.Path(folder, name)
            if path.suffix not in BINARY and not path.is_symlink():
                yield path


def check_text(root):
    for path in files(root):
        where = str(path.relative_to(root))
        if BROKEN_ON_PURPOSE.match(where):
            continue
        try:
            text = path.read_bytes().decode()
        except UnicodeDecodeError:
            yield f"{where}: not UTF-8"
            continue
        if text and not text.endswith("\n"):
            yield f"{where}: no newline at the end"
        for number, line in enumerate(text.split("\n"), 1):
            if line != line.rstrip():
                yield f"{where}:{number}: blanks at the end of the line"
            if line.startswith("\t"):
                yield f"{where}:{number}: a tab as indentation"


def check_machine_paths(root, paths):
    for path in files(root):
        text = path.read_bytes().decode(errors="replace")
        for machine_path in paths:
            for match in re.finditer(rf"(?<![\w.]){re.escape(machine_path)}(?![\w-])", text):
                line = text.count("\n", 0, match.start()) + 1
                yield f"{path.relative_to(root)}:{line}: {machine_path} is a path of one machine"


def anchors(path):
    """GitHub's names of the headings of a page."""
    text = re.sub(r"^```.*?^```", "", path.read_text(errors="replace"), flags=re.DOTALL | re.MULTILINE)
    for heading in re.findall(r"^#+ +(.*)$", text, re.MULTILINE):
        plain = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower())
        yield plain.strip().replace(" ", "-")


def check_links(root):
    for path in files(root):
        if path.suffix != ".md":
            continue
        where = path.relative_to(root)
        text = re.sub(r"^```.*?^```", "", path.read_text(errors="replace"), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            page = (path.parent / name).resolve() if name else path
            if not page.exists() or not page.is_relative_to(root):
                yield f"{where}: link to {target}, which is not there"
            elif anchor and page.suffix == ".md" and anchor not in set(anchors(page)):
                yield f"{where}: link to {target}: no such heading"


def check_map(root):
    page = root / "src" / "README.md"
    if not page.exists():
        return
    there = {path.stem for path in files(root / "src") if path.suffix in (".c", ".h")}
    stages = {path.name for path in (root / "src").iterdir() if path.is_dir()}
    named = {name for name in re.findall(r"`(\w+)`", page.read_text())
             if name.split("_")[0] in stages}
    for name in sorted(there - named):
        yield f"src/README.md: does not name `{name}`"
    for name in sorted(named - there):
        yield f"src/README.md: names `{name}`, which is not there"
    # `stage_file`: `function`, `function`
    for file, names in re.findall(r"`(\w+)`: (`rg_\w+`(?:, `rg_\w+`)*)", page.read_text()):
        source = "".join(path.read_text() for path in (root / "src").glob(f"*/{file}.c"))
        for name in re.findall(r"\w+", names):
            if not re.search(rf"^(?!return)[a-z].*\b{name}\(", source, re.MULTILINE):
                yield f"src/README.md: `{name}` is not a function of `{file}`"


def find_formatter():
    for name in (f"clang-format-{FORMATTER_VERSION}", "clang-format"):
        program = shutil.which(name)
        if program:
            version = subprocess.run([program, "--version"], text=True, capture_output=True,
                                     check=True).stdout
            if re.search(rf"version {FORMATTER_VERSION}\.", version):
                return program
    return None


def check_format(root):
    formatter = find_formatter()
    sources = [str(path) for path in files(root) if path.suffix in (".c", ".h")]
    if not formatter or not sources:
        return
    done = subprocess.run([formatter, "--dry-run", "-Werror", *sources], text=True,
                          capture_output=True, check=False)
    if done.returncode:
        wrong = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", done.stderr, re.MULTILINE)))
        for name in wrong or [done.stderr]:
            yield f"{os.path.relpath(name, root)}: run clang-format -i on it"


def check_columns(root):
    """clang-format leaves comments as they are."""
    for path in files(root):
        if path.suffix in (".c", ".h"):
            for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
                if len(line) > COLUMNS:
                    yield f"{path.relative_to(root)}:{number}: {len(line)} columns, more than {COLUMNS}"


def functions(text):
    """Line, name, number of parameters and lines between the braces of each function, as clang-format
    lays them out: the head begins and the last brace stands in the first column."""
    head = re.compile(r"^(?!typedef|struct|enum|union|extern)[A-Za-z_][^;{}=]*\) \{$", re.MULTILINE)
    for match in head.finditer(text):
        signature = match.group(0)[:-2]
        depth, at = 0, len(signature)
        while True:
            at -= 1
            depth += (signature[at] == ")") - (signature[at] == "(")
            if depth == 0:
                break
        inside = re.sub(r"\([^()]*\)", "", signature[at + 1:-1])
        count = 0 if inside.strip() in ("", "void") else inside.count(",") + 1
        end = text.find("\n}\n", match.end())
        yield (text.count("\n", 0, match.start()) + 1, re.search(r"(\w+)\s*$", signature[:at]).group(1),
               count, text.count("\n", match.end(), end))


def check_functions(root):
    for folder in ("src", "include", "cli", "tests"):
        for path in files(root / folder):
            if path.suffix not in (".c", ".h"):
                continue
            where = path.relative_to(root)
            for line, name, parameters, lines in functions(path.read_text(errors="replace")):
                if lines > LINES:
                    yield f"{where}:{line}: {name} has {lines} lines, more than {LINES}"
                if parameters > PARAMETERS and folder != "tests":
                    yield f"{where}:{line}: {name} has {parameters} parameters, more than {PARAMETERS}"


def check_citations(root):
    for path in files(root):
        if path.suffix not in (".c", ".h", ".md", ".cmake", ".ts", ".mjs"):
            continue
        text = path.read_text(errors="replace")
        for match in re.finditer(r"\b[Ii]tems? \d+|\b[Mm]ethod [A-I]\.\d", text):
            line = text.count("\n", 0, match.start()) + 1
            yield (f"{path.relative_to(root)}:{line}: '{match.group(0)}' is in no file here; cite paper, "
                   "section and equation")


def check_tested(root):
    """src/solve/solve_dantzig.c: tests/solve/test_dantzig.c, or a line in its first comment."""
    for path in sorted((root / "src").glob("*/*.c")):
        stage, where = path.parent.name, path.relative_to(root)
        topic = path.stem[len(stage) + 1:]
        if topic and (root / "tests" / stage / f"test_{topic}.c").exists():
            continue
        comment = re.match(r"/\*.*?\*/", path.read_text(errors="replace"), re.DOTALL)
        line = re.search(r"Tested by ([^*]*?)\.(?:\s|$)", comment.group(0)) if comment else None
        if not line:
            yield (f"{where}: there is no tests/{stage}/test_{topic or stage}.c; say in its first comment where "
                   "it is tested (Tested by tests/...)")
            continue
        for name in re.findall(r"[\w./]+", line.group(1)):
            if name.startswith("tests/") and not (root / name).exists():
                yield f"{where}: tested by {name}, which is not there"


def check_scripts(root):
    for path in files(root):
        where = path.relative_to(root)
        first = path.read_bytes()[:64].split(b"\n")[0]
        if path.suffix == ".py":
            try:
                compile(path.read_text(), str(where), "exec")
            except SyntaxError as error:
                yield f"{where}: {error}"
        elif first.startswith(b"#!") and b"sh" in first:
            shell = "bash" if b"bash" in first else "sh"
            done = subprocess.run([shell, "-n", str(path)], text=True, capture_output=True,
                                  check=False)
            if done.returncode:
                yield f"{where}: {done.stderr}"
    for name in EXECUTABLE:
        if (root / name).exists() and not os.access(root / name, os.X_OK):
            yield f"{name}: cannot be executed"


def check_npm(root):
    for path in files(root):
        where = path.relative_to(root)
        if path.name == ".npmrc" and re.search(r"^\s*(\S*registry|\S*_auth\S*)\s*=", path.read_text(),
                                               re.MULTILINE):
            yield f"{where}: whose registry is used is a matter of the machine"
        if path.name != "package-lock.json":
            continue
        for name, package in json.loads(path.read_text()).get("packages", {}).items():
            if "resolved" in package:
                yield f"{where}: {name}: an address (resolved)"
            if name and "integrity" not in package:
                yield f"{where}: {name}: no checksum (integrity)"


def machine_paths(root):
    paths = [str(path) for path in (root.parent, pathlib.Path.home())]
    return [path for path in paths if path not in ("/", "/root", "/home", "/tmp")]


BROKEN = [
    ("a.c", "int a; \n", "blanks at the end"),
    ("a.c", "\tint a;\n", "a tab"),
    ("a.c", "int a;", "no newline"),
    ("a.md", b"\xff\n", "not UTF-8"),
    ("a.md", "[x](b.md)\n", "which is not there"),
    ("a.md", "[x](../../etc)\n", "which is not there"),
    ("a.md", "# A b\n[x](#a-c)\n", "no such heading"),
    ("a.md", "see /some/place/file\n", "a path of one machine"),
    ("a.py", "def\n", "invalid syntax"),
    ("a.sh", "#!/bin/sh\nif\n", "a.sh"),
    ("run", "#!/bin/sh\n", "cannot be executed"),
    ("src/README.md", "`base_a`\n", "which is not there"),
    ("src/README.md", "`base_a`: `rg_a`, `rg_b`\n", "`rg_b` is not a function of `base_a`"),
    ("a.c", "/* " + 95 * "x" + " */\n", "101 columns"),
    ("a.h", "// " + 98 * "·" + "\n", "101 columns"),
    ("a.c", "/* See item 38. */\n", "'item 38' is in no file here"),
    ("a.h", "/* Items 3 and 4. */\n", "'Items 3' is in no file here"),
    ("a.md", "as in method B.2\n", "'method B.2' is in no file here"),
    ("src/base/base_a.c", "int a;\n", "no tests/base/test_a.c"),
    ("src/base/base.c", "/* A. */\n/* Tested by tests/a.c. */\n", "no tests/base/test_base.c"),
    ("src/base/base_a.c", "/* A.\n * Tested by tests/base/test_b.c. */\n", "test_b.c, which is not there"),
    ("src/base/base_a.c", "/* Tested by src/README.md and tests/x.c. */\n", "tests/x.c, which is not there"),
    ("src/a.c", "static int a(void) {\n" + 61 * "    b();\n" + "}\n", "a has 61 lines"),
    ("cli/a.c", "int a(int b, int c, int d,\n      int (*e)(int f, int g), int h, int i, int j, int k) {\n"
     "    return 0;\n}\n", "a has 8 parameters"),
    (".npmrc", "registry=https://example.org/\n", "whose registry"),
    ("package-lock.json", '{"packages": {"a": {"resolved": "https://x", "integrity": "sha512-"}}}\n',
     "an address"),
    ("package-lock.json", '{"packages": {"a": {"version": "1.0.0"}}}\n', "no checksum"),
]
SOUND = [
    ("a.md", "# A b\n[x](a.md#a-b) [y](https://example.org) [z](#a-b)\n```\n[x](b.md)\n```\n"),
    ("a.c", "int a;\n"),
    ("a.c", "/* The method of Baraff 1994, section 3.2: items of a list. */\n"),
    ("src/base/base_a.c", "/* A.\n * Tested by src/base/base_a.c. */\n"),
    ("tests/a.c", "static int a(void) {\n" + 60 * "  b();\n" + "}\n"),
    ("src/a.h", "int a(int b, int c, int d, int (*e)(int, int), int f, int g, int h) {\n  b();\n  c();\n}\n"),
    (".npmrc", "omit-lockfile-registry-resolved=true\n"),
    ("package-lock.json", '{"packages": {"": {"name": "x"}, "a": {"integrity": "sha512-"}}}\n'),
]
if find_formatter():
    BROKEN.append(("a.c", "int  a ;\n", "run clang-format"))


def check_tree(root, paths):
    yield from check_text(root)
    yield from check_machine_paths(root, paths)
    yield from check_links(root)
    yield from check_map(root)
    yield from check_format(root)
    yield from check_columns(root)
    yield from check_functions(root)
    yield from check_citations(root)
    yield from check_tested(root)
    yield from check_scripts(root)
    yield from check_npm(root)


def report_on(name, text):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "src" / "base").mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return list(check_tree(root, ["/some/place"]))


def check_the_checks():
    for name, text, expected in BROKEN:
        found = report_on(name, text)
        if not any(expected in problem for problem in found):
            yield f"self-test: {name} with {text!r} should be told {expected!r}, was told {found}"
    for name, text in SOUND:
        found = report_on(name, text)
        if found:
            yield f"self-test: {name} with {text!r} is sound, was told {found}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    problems = list(check_the_checks()) + list(check_tree(root, machine_paths(root)))
    for problem in problems:
        print(problem)
    if not find_formatter():
        print(f"skipped: formatting of C files: there is no clang-format {FORMATTER_VERSION}")
    print(f"{len(list(files(root)))} files, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
