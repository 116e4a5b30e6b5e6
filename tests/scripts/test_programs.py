"""test_programs.py SOURCE-DIR: are the programs there that tests run?

The one list of them, with the Debian package that brings each and the tests that need it. `./test` runs
this script before it builds anything: a missing program is a failure here, with its name, so that no test
passes on one machine because of a program that another does not have. A test that leaves a part out
because a program is missing says so as well, in a line `skipped: ...`.

  - every program, Python module and file of the list is there (where a release has no package of that
    name, tools/setup does not ask for it: a line `skipped: ...` instead)
  - every package of the list is one that tools/setup installs, or comes with one
  - every program that a test script, a CMake file, a documentation page or the command itself calls, and
    every module that a test script imports, is in the list

Every rule is first tried on something that breaks it."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Names of the program (any of them will do), its package, what it is for.
PROGRAMS = [
    (["gcc"], "gcc", "the build; test_layers, test_package"),
    (["ar"], "binutils", "test_layers"),
    (["nm"], "binutils", "test_layers"),
    (["cmake"], "cmake", "the build; test_package"),
    (["ctest"], "cmake", "runs the tests; test_tally"),
    (["ninja"], "ninja-build", "the build; test_package"),
    (["pkg-config"], "pkg-config", "the build; test_package, test_readme"),
    (["clang"], "clang", "the second compiler, the fuzzers"),
    (["clang++"], "clang", "public headers in C++, in test_layers"),
    (["clang-format-14", "clang-format"], "clang-format-14", "formatting of C files, in test_tree"),
    (["node", "nodejs"], "nodejs", "test_viewer_*; gltf-validator in test_record_export"),
    (["npm"], "npm", "the page of the viewer; test_wasm_node"),
    (["wasm-ld"], "lld", "the WebAssembly module: test_wasm_node, test_viewer_play"),
    (["dpkg-source"], "dpkg-dev", "sources of the WebAssembly module"),
    (["dpkg-shlibdeps"], "dpkg-dev", "tools/package, in test_package"),
    (["file"], "file", "tools/package, in test_package"),
    (["aarch64-linux-gnu-gcc"], "gcc-aarch64-linux-gnu", "test_arm64, with RIGOR_LONG"),
    (["qemu-aarch64"], "qemu-user", "test_arm64, with RIGOR_LONG"),
    (["apt-get"], "apt", "libraries for AArch64 in test_arm64, with RIGOR_LONG"),
    (["debootstrap"], "debootstrap", "a bare Debian in test_package, with RIGOR_LONG"),
    (["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"], "chromium",
     "test_viewer_*, pictures and films in test_record_export and test_readme_*"),
    (["ffmpeg"], "ffmpeg", "films in test_viewer_export, test_record_export and test_readme_*"),
    (["ffprobe"], "ffmpeg", "test_viewer_export"),
    (["gnuplot"], "gnuplot-nox", "plots in test_run_compare, test_run_bench and test_readme_compare"),
    (["doxygen"], "doxygen", "tools/site, in test_site"),
    (["g++"], "g++", "other engines in test_run_bench; programs in C++ in test_package"),
    (["zsh"], "zsh", "completion in test_run_words"),
    (["fish"], "fish", "completion in test_run_words"),
    (["mpirun"], "openmpi-bin", "test_run_mpi"),
    (["mpicc"], "libopenmpi-dev", "rigor-mpi.so, for test_run_mpi"),
    (["localedef"], "libc-bin", "a locale with a decimal comma, in test_base_text"),
    (["python3"], "python3", "tests/scripts"),
]
MODULES = [
    ("yaml", "python3-yaml", "test_scene_schema"),
    ("jsonschema", "python3-jsonschema", "test_scene_schema"),
    ("h5py", "python3-h5py", "test_record_h5py, test_record_export, test_run_solve, test_run_sweep"),
    ("numpy", "python3-numpy", "test_record_h5py, test_record_export, test_python"),
    ("pip", "python3-pip", "test_python_wheel"),
    ("ensurepip", "python3-venv", "test_python_wheel"),
    ("matplotlib", "python3-matplotlib", "test_python_examples"),
]
FILES = [
    ("/usr/lib/wasm32-wasi/libc.a", "wasi-libc", "the WebAssembly module"),
    ("/usr/share/i18n/locales/de_DE", "locales", "a locale with a decimal comma, in test_base_text"),
    ("/usr/include/bullet/btBulletDynamicsCommon.h", "libbullet-dev", "Bullet in test_run_bench"),
    ("/usr/include/ode/ode.h", "libode-dev", "ODE in test_run_bench"),
    ("/usr/include/mujoco/mujoco.h", "libmujoco-dev", "MuJoCo in test_run_bench"),
]
# What comes with a package that tools/setup names, or with every Debian.
COMES_WITH = {"apt": "gcc", "binutils": "gcc", "libc-bin": "python3"}
# Programs that every Debian has (essential packages), and those that a test makes itself.
ALWAYS_THERE = set("sh bash gzip cat cp dirname env false find grep head mkdir mktemp rm sed seq tail tee timeout "
                   "touch tr true cc export".split())
FORMATTER_VERSION = "14"
OWN_MODULES = {"rigor", "dominoes"} # built here; studies/dominoes.py

CALLS = {
    ".py": [r"shutil\.which\(\"([^\"]+)\"", r"subprocess\.\w+\(\[\"([^\"]+)\""],
    ".mjs": [r"(?:execFileSync|execFile|spawnSync|spawn)\(\"([^\"]+)\""],
    ".cmake": [r"find_program\(\w+\s+([\w.+-]+)"],
    ".txt": [r"find_program\(\w+\s+([\w.+-]+)"],
    ".sh": [r"command -v ([\w.+-]+)"],
    ".c": [r"\bexeclp?\(\"([^\"]+)\"", r"\bsystem\(\"(\S+)", r"(?:popen)\(\"(\S+)",
           r"snprintf\(command, sizeof command, \"([^\s\"]+)"],
}


def is_version_14(program):
    version = subprocess.run([program, "--version"], text=True, capture_output=True, check=False).stdout
    return re.search(rf"version {FORMATTER_VERSION}\.", version)


def find_program(names):
    for name in names:
        path = shutil.which(name)
        if path and (name != "clang-format" or is_version_14(path)):
            return path
    return None


def list_missing(programs, modules, files):
    """(name, package, what for) of everything that is not here."""
    for names, package, purpose in programs:
        if not find_program(names):
            yield names[0], package, purpose
    for name, package, purpose in modules:
        if not importlib.util.find_spec(name):
            yield f"Python's module {name}", package, purpose
    for name, package, purpose in files:
        if not os.path.exists(name):
            yield name, package, purpose


def setup_list(root, name):
    """The first word of every line of a variable of tools/setup."""
    text = (root / "tools" / "setup").read_text()
    return [line.split()[0] for line in re.search(rf"^{name}='([^']*)'", text, re.MULTILINE).group(1)
            .splitlines() if line.strip()]


def release_has(package):
    """Whether apt knows the package; without apt, or with empty lists, nothing can be said: yes."""
    if not shutil.which("apt-cache"):
        return True

    def known(name):
        return subprocess.run(["apt-cache", "show", "--no-all-versions", name], capture_output=True,
                              check=False).stdout != b""
    return known(package) or not known("gcc")


def check_present(root):
    optional = set(setup_list(root, "not_in_every_release"))
    late = set(setup_list(root, "long_packages")) if os.environ.get("RIGOR_LONG", "0") in ("", "0") else set()
    for name, package, purpose in list_missing(PROGRAMS, MODULES, FILES):
        if package in late: # not asked for; what needs it says so itself
            continue
        if package in optional and not release_has(package):
            print(f"skipped: {name}: this release has no package {package}; needed by {purpose}")
        else:
            yield f"{name} is missing: needed by {purpose} (Debian: apt-get install {package})"


def check_packages(root, table):
    installed = set(setup_list(root, "run_packages") + setup_list(root, "test_packages") +
                    setup_list(root, "long_packages"))
    for name, package, _ in table:
        if COMES_WITH.get(package, package) not in installed:
            yield f"tools/setup does not install {package}, which brings {name}"


def documented_programs(text):
    """First words of the commands in sh blocks; lines that go on (options, quoted text) begin otherwise."""
    for block in re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        block = re.sub(r"<<'?(\w+)'?.*?^\1$", "", block, flags=re.MULTILINE | re.DOTALL)
        block = re.sub(r"\\\n", " ", block)
        for command in re.split(r"\n|\|", re.sub(r"\"[^\"]*\"|'[^']*'|#.*", "", block)):
            words = [word for word in command.split() if not re.match(r"\w+=", word)]
            if words and re.fullmatch(r"[a-z][\w.+-]*", words[0]):
                yield words[0]


def called_programs(path):
    text = path.read_text(errors="replace")
    if path.suffix == ".md":
        yield from documented_programs(text)
    for pattern in CALLS.get(path.suffix, []):
        yield from re.findall(pattern, text)


def imported_modules(path):
    if path.suffix == ".py":
        for name in re.findall(r"^\s*(?:import|from) (\w+)", path.read_text(), re.MULTILINE):
            if name not in sys.stdlib_module_names and name not in OWN_MODULES and not (path.parent / f"{name}.py").exists():
                yield name


def check_calls(root):
    programs = {name for names, _, _ in PROGRAMS for name in names} | ALWAYS_THERE | {"apt-cache"}
    modules = {name for name, _, _ in MODULES}
    for folder in ("tests", "wasm/tests", "viewer/tests", "viewer/page/test", "cli", "cmake", "tools", "docs", "README.md"):
        place = root / folder
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            if not path.is_file() or "node_modules" in path.parts or path == pathlib.Path(__file__).resolve():
                continue
            where = path.relative_to(root)
            for name in sorted(set(called_programs(path)) - programs):
                if "{" not in name and "$" not in name and "%" not in name:
                    yield f"{where}: runs {name}, which is not in the list of test_programs.py"
            for name in sorted(set(imported_modules(path)) - modules):
                yield f"{where}: imports {name}, which is not in the list of test_programs.py"


# File, its text, and what the report must say.
BROKEN = [
    ("tests/a.py", 'subprocess.run(["xyzzy", "-v"])\n', "runs xyzzy"),
    ("tests/a.py", 'shutil.which("xyzzy")\n', "runs xyzzy"),
    ("tests/a.py", "import xyzzy\n", "imports xyzzy"),
    ("tests/a.py", "def f():\n    from xyzzy import a\n", "imports xyzzy"),
    ("viewer/tests/a.mjs", 'execFileSync("xyzzy", [])\n', "runs xyzzy"),
    ("tests/a.cmake", "find_program(A xyzzy)\n", "runs xyzzy"),
    ("tests/a.sh", "command -v xyzzy\n", "runs xyzzy"),
    ("tests/base/test_a.c", 'system("xyzzy -v");\n', "runs xyzzy"),
    ("cli/cli_a.c", 'execlp("xyzzy", "xyzzy", NULL);\n', "runs xyzzy"),
    ("docs/a.md", "```sh\nA=1 cat b |\n  xyzzy -v\n```\n", "runs xyzzy"),
]
SOUND = [
    ("tests/a.py", 'import os, sys\nimport numpy\nsubprocess.run(["gcc", f])\n'),
    ("docs/a.md", "```sh\ncat >a <<'END'\nxyzzy\nEND\ngrep 'a\nxyzzy' b # xyzzy\ncat a \\\n  b\n```\nxyzzy\n"),
]


def report_on(name, text):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text(text)
        return list(check_calls(root))


def check_the_checks(root):
    for name, text, expected in BROKEN:
        found = report_on(name, text)
        if not any(expected in problem for problem in found):
            yield f"self-test: {name} with {text!r} should be told {expected!r}, was told {found}"
    for name, text in SOUND:
        found = report_on(name, text)
        if found:
            yield f"self-test: {name} with {text!r} is sound, was told {found}"
    absent = [name for name, _, _ in list_missing([(["xyzzy", "plugh"], "a", "b")], [("xyzzy", "a", "b")],
                                                  [("/nowhere/xyzzy", "a", "b")])]
    if absent != ["xyzzy", "Python's module xyzzy", "/nowhere/xyzzy"]:
        yield f"self-test: three things are missing, found {absent}"
    if not list(check_packages(root, [("xyzzy", "no-such-package", "")])):
        yield "self-test: a package that tools/setup does not install is not noticed"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    table = [(names[0], package, purpose) for names, package, purpose in PROGRAMS] + MODULES + FILES
    problems = (list(check_the_checks(root)) + list(check_packages(root, table)) + list(check_calls(root)) +
                list(check_present(root)))
    for problem in problems:
        print(problem)
    print(f"{len(table)} programs, modules and files that tests need, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
