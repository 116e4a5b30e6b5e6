"""test_layers.py SOURCE-DIR [LIBRARY.a ...]: does the code keep to the layers and rules of
docs/architecture.md?

  - a stage includes only itself and stages to its left, foreign libraries only in their one place
  - the command sees public headers and the viewer's server only; public headers see public headers
    only, and each compiles on its own, as C17 and as C++17
  - files carry the name of their stage
  - the library calls nothing that prints, exits, allocates behind the caller's back or differs
    between C libraries in the last bit, and draws random numbers in an order that C defines
  - the given static libraries hold no mutable global

Before judging the sources, every rule is tried on a small tree that breaks it: a rule that cannot
fail says nothing."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

STAGES = "base shape world broad narrow contact problem solve integrate step scene record".split()

# On the pipeline, but of mathematics alone: stages that see only the ones named.
NARROW_STAGES = {"integrate": ("base",)}

# Off the pipeline: stages that see only the ones named, and that no stage sees.
SIDE_STAGES = {"lp": ("base", "problem", "solve")}

# The stage that a public header belongs to. rigor.h is for users: no stage includes it.
STAGE_OF_PUBLIC = {
    "types.h": "base", "status.h": "base", "text.h": "base", "version.h": "base", "random.h": "base",
    "math.h": "base",
    "mass.h": "shape", "shape.h": "shape", "mesh.h": "shape", "decompose.h": "shape",
    "proximity.h": "narrow", "contact.h": "contact", "collision.h": "contact",
    "material.h": "world", "body.h": "world", "force.h": "world", "joint.h": "world", "certificate.h": "world", "profile.h": "world",
    "method.h": "world", "world.h": "world",
    "complementarity.h": "problem", "solver.h": "solve", "lp.h": "lp",
    "contact_force.h": "step", "impact.h": "step", "event.h": "step", "batch.h": "step",
    "scene.h": "scene", "study.h": "scene", "recording.h": "record", "problem_file.h": "record",
    "view.h": "record", "viewer.h": "record", "table.h": "record",
}

# Each dependency in one place.
PLACE_OF_FOREIGN = [
    (re.compile(r"libqhull|qhull"), "shape"),
    (re.compile(r"yaml|expat"), "scene"),
    (re.compile(r"hdf5|H5|^zlib"), "record"),
    (re.compile(r"^Clp|^Coin|^coin/"), "lp"),
    (re.compile(r"pthread\.h"), "base"),
]

STANDARD_IN_PUBLIC = {"math.h", "stdbool.h", "stddef.h", "stdint.h"}

# (names, why, files or folders of src/ that may)
FORBIDDEN_CALLS = [
    ("malloc calloc realloc free aligned_alloc strdup strndup asprintf vasprintf getline",
     "allocates behind the caller's allocator", ("base/base_memory.c",)),
    # Ties come out in an order that depends on the C library, which may also call malloc. Reading
    # a scene is no step, and its sorts have no ties.
    ("qsort", "is neither stable nor free of heap calls", ("scene/", "record/")),
    ("printf vprintf puts putchar perror", "prints", ()),
    ("exit _exit _Exit quick_exit abort", "ends the process", ()),
    ("rand srand random srandom drand48 rand_r", "is hidden or foreign randomness", ()),
    ("sin cos tan sincos asin acos atan atan2 sinh cosh tanh exp exp2 expm1 log log2 log10 log1p "
     "pow hypot cbrt fma", "differs between C libraries in the last bit (base_trig.h has its own)",
     ()),
]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def strip_comments_and_strings(text):
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def sources(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in (".c", ".h"))


def includes(path):
    text = path.read_text()
    for match in INCLUDE.finditer(text):
        yield line_of(text, match.start()), match.group(1) == "<", match.group(2)


def stage_of_include(name):
    """The stage that a project header belongs to, or None."""
    folder, _, rest = name.partition("/")
    if folder == "rigor":
        return STAGE_OF_PUBLIC.get(rest)
    return folder if folder in STAGES or folder in SIDE_STAGES else None


def check_stage_include(stage, system, name):
    for pattern, place in PLACE_OF_FOREIGN:
        if system and pattern.search(name) and stage != place:
            return f"<{name}> belongs in {place}/"
    if system:
        return None
    target = stage_of_include(name)
    if target is None:
        return f'"{name}" is no header of a stage ("stage/stage_topic.h" or "rigor/noun.h")'
    seen = {**SIDE_STAGES, **NARROW_STAGES}
    if stage in seen:
        if target != stage and target not in seen[stage]:
            return f'"{name}" is of {target}, which {stage} may not see'
        return None
    if target in SIDE_STAGES:
        return f'"{name}" is of {target}, which no stage may see'
    if STAGES.index(target) > STAGES.index(stage):
        return f'"{name}" is of {target}, to the right of {stage}'
    return None


def check_stages(root):
    for stage in [*STAGES, *SIDE_STAGES]:
        for path in sources(root / "src" / stage):
            where = path.relative_to(root)
            if not re.fullmatch(rf"{stage}(_[a-z0-9_]+)?", path.stem):
                yield f"{where}: the name should begin with {stage}_"
            for line, system, name in includes(path):
                problem = check_stage_include(stage, system, name)
                if problem:
                    yield f"{where}:{line}: {problem}"
    for path in sources(root / "src"):
        if path.parent.name not in STAGES and path.parent.name not in SIDE_STAGES:
            yield f"{path.relative_to(root)}: in no stage"


def check_command(root):
    for path in sources(root / "cli"):
        for line, system, name in includes(path):
            own = not system and any((folder / name).is_file()
                                     for folder in (path.parent, root / "viewer" / "server"))
            public = name.startswith("rigor/") and (root / "include" / name).is_file()
            foreign = system and any(pattern.search(name) for pattern, place in PLACE_OF_FOREIGN
                                     if place != "base")
            if foreign or not (system or own or public):
                yield f"{path.relative_to(root)}:{line}: {name} is not a public header"


def check_public_headers(root):
    for path in sources(root / "include"):
        where = path.relative_to(root)
        for line, system, name in includes(path):
            if system and name not in STANDARD_IN_PUBLIC:
                yield f"{where}:{line}: <{name}> in a public header"
            if not system and not (name.startswith("rigor/") and (root / "include" / name).is_file()):
                yield f"{where}:{line}: {name} is not a public header"
        if path.name != "rigor.h" and path.name not in STAGE_OF_PUBLIC:
            yield f"{where}: say in {pathlib.Path(__file__).name} which stage it belongs to"
    yield from compile_public_headers(root)


def compile_public_headers(root):
    c_compiler = shutil.which("gcc") or shutil.which("clang")
    cpp_compiler = shutil.which("clang++")  # set-up installs it; g++ may or may not be there
    languages = [(c_compiler, "c", "c17"), (cpp_compiler, "c++", "c++17")]
    for compiler, language, standard in languages:
        if not compiler:
            print(f"skipped: headers in {language}, for which there is no compiler")
            continue
        for path in sources(root / "include"):
            command = [compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra",
                       "-Wpedantic", "-Werror", "-fsyntax-only", "-I", str(root / "include"), "-"]
            header = path.relative_to(root / "include")
            done = subprocess.run(command, input=f'#include "{header}"\n', text=True,
                                  capture_output=True, check=False)
            if done.returncode:
                yield f"include/{header} does not compile alone as {standard}:\n{done.stderr}"


def check_calls(root):
    for path in sources(root / "src"):
        code = strip_comments_and_strings(path.read_text())
        inside = str(path.relative_to(root / "src"))
        for names, why, allowed in FORBIDDEN_CALLS:
            if inside.startswith(allowed):
                continue
            # A member of that name (allocator.free) is somebody's own function.
            for match in re.finditer(rf"(?<![\w.>])({names.replace(' ', '|')})\s*\(", code):
                yield f"src/{inside}:{line_of(code, match.start())}: {match.group(1)} {why}"
        for match in re.finditer(r"\b(stdout|stderr)\b", code):
            yield f"src/{inside}:{line_of(code, match.start())}: {match.group(1)} in the library"


def top_level_parts(statement):
    """The parts between commas outside all brackets: C orders these, and nothing inside them."""
    depth, start = 0, 0
    for position, character in enumerate(statement):
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth == 0:
            yield statement[start:position]
            start = position + 1
    yield statement[start:]


def check_random_order(root):
    """f(random(), random()): each compiler may choose which argument is first."""
    call = re.compile(r"\brg_random_(?!make)\w+\s*\(")
    initialiser = re.compile(r"[=)]\s*\{([^{};]*)\}")
    for path in sources(root / "src"):
        code = strip_comments_and_strings(path.read_text())
        position = 0
        for statement in re.split(r"([;{}])", code):
            if any(len(call.findall(part)) > 1 for part in top_level_parts(statement)):
                line = line_of(code, position + call.search(statement).start())
                yield f"{path.relative_to(root)}:{line}: two random numbers in no defined order"
            position += len(statement)
        for match in initialiser.finditer(code):
            if len(call.findall(match.group(1))) > 1:
                line = line_of(code, match.start())
                yield f"{path.relative_to(root)}:{line}: two random numbers in no defined order"


def check_globals(library):
    """nm tells the section of every object. Constants with addresses in them lie in .data.rel.ro,
    which the loader makes read-only."""
    listing = subprocess.run(["nm", "-f", "sysv", str(library)], text=True, capture_output=True,
                             check=True).stdout
    for row in listing.splitlines():
        columns = [column.strip() for column in row.split("|")]
        if len(columns) != 7 or columns[2] not in set("BbDdGgSsC"):
            continue
        if not columns[6].startswith(".data.rel.ro"):
            yield f"{library.name}: {columns[0]} in {columns[6]} is a mutable global"


def check_tree(root):
    for check in (check_stages, check_command, check_public_headers, check_calls,
                  check_random_order):
        yield from check(root)


# What breaks a rule: file, its text, and what the report must say.
BROKEN = [
    ("src/base/base_a.c", '#include "shape/shape_hull.h"\n', "to the right of base"),
    ("src/base/base_a.c", '#include "rigor/scene.h"\n', "to the right of base"),
    ("src/shape/shape_a.c", '#  include "world/world.h"\n', "to the right of shape"),
    ("src/scene/scene_a.c", '#include "record/record_file.h"\n', "to the right of scene"),
    ("src/step/step_a.c", '#include "../scene/scene.h"\n', "no header of a stage"),
    ("src/step/step_a.c", '#include "rigor/rigor.h"\n', "no header of a stage"),
    ("src/step/step_a.c", "#include <hdf5.h>\n", "belongs in record/"),
    ("src/world/world_a.c", "#include <libqhull_r/qhull_ra.h>\n", "belongs in shape/"),
    ("src/solve/solve_a.c", "#include <Clp_C_Interface.h>\n", "belongs in lp/"),
    ("src/solve/solve_a.c", '#include "rigor/lp.h"\n', "which no stage may see"),
    ("src/record/record_a.c", '#include "lp/lp_clp.h"\n', "which no stage may see"),
    ("src/lp/lp_a.c", '#include "contact/contact.h"\n', "which lp may not see"),
    ("src/lp/lp_a.c", '#include "rigor/world.h"\n', "which lp may not see"),
    ("src/lp/names.c", "", "should begin with lp_"),
    ("src/world/names.c", "", "should begin with world_"),
    ("src/other/other.c", "", "in no stage"),
    ("src/base/base_a.c", "void f(void *p) { free(p); }\n", "free allocates behind"),
    ("src/base/base_a.c", "double f(double x) { return sin (x); }\n", "sin differs"),
    ("src/base/base_a.c", 'void f(void) {\n    printf("x");\n}\n', "base_a.c:2: printf prints"),
    ("src/base/base_a.c", "void f(void) { abort(); }\n", "abort ends"),
    ("src/shape/shape_a.c", "void f(void *a) { qsort(a, 1, 1, f); }\n", "qsort is neither"),
    ("src/base/base_a.c", "int f(void) { return rand(); }\n", "rand is hidden"),
    ("src/base/base_a.c", "void *f(void) { return stderr; }\n", "stderr in the library"),
    ("src/base/base_a.c", "void f(R *r) { g(rg_random_unit(r), rg_random_unit(r)); }\n", "in no defined"),
    ("src/base/base_a.c", "V f(R *r) { return (V){rg_random_unit(r), rg_random_unit(r)}; }\n",
     "in no defined"),
    ("src/base/base_a.c", "V f(R *r) { return rg_random_unit(r) - rg_random_unit(r); }\n",
     "in no defined"),
    ("cli/cli.c", '#include "base/base_text.h"\n', "not a public header"),
    ("cli/cli.c", "#include <yaml.h>\n", "not a public header"),
    ("cli/cli.c", "#include <Clp_C_Interface.h>\n", "not a public header"),
    ("include/rigor/types.h", "#include <stdio.h>\n", "in a public header"),
    ("include/rigor/types.h", '#include "base/base_math.h"\n', "not a public header"),
    ("include/rigor/types.h", "size_t f(void);\n", "does not compile alone as c17"),
    ("include/rigor/types.h", "int f(int class);\n", "does not compile alone as c++17"),
    ("include/rigor/noun.h", "", "which stage it belongs to"),
]
# What looks like a breach and is none.
SOUND = [
    ("src/base/base_a.c", '/* free(p) */ // exit(1)\nconst char *f = "printf(stderr)";\n'),
    ("src/base/base_memory.c", "void f(void *p) { free(p); }\n"),
    ("src/step/step_a.c", '#include "base/base_a.h"\n#include "rigor/world.h"\n#include <math.h>\n'),
    ("src/step/step.c", "void f(A a) { a.free(a); a.next->exit(a); rg_sin(0); snprintf(0, 0, 0); }\n"),
    ("src/shape/shape_a.c", "#include <libqhull_r/qhull_ra.h>\n"),
    ("src/lp/lp_a.c", '#include "lp/lp_clp.h"\n#include "solve/solve.h"\n#include "rigor/lp.h"\n'
     "#include <Clp_C_Interface.h>\n"),
    ("src/base/base_a.c", "void f(R *r) { double a = rg_random_unit(r), b = rg_random_unit(r); "
     "a = rg_random_unit(r); if (a < rg_random_unit(r)) { g(rg_random_unit(r)); } }\n"),
    ("cli/cli.c", "#include <stdio.h>\nint main(void) { printf(0); }\n"),
    ("include/rigor/types.h", "#include <stdint.h>\ntypedef uint8_t rg_byte;\n"),
]


def report_on(name, text):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        path = root / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
        return list(check_tree(root))


def report_on_library(text):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "a.c").write_text(text)
        subprocess.run(["gcc", "-fPIC", "-c", "a.c"], cwd=root, check=True)
        subprocess.run(["ar", "rc", "a.a", "a.o"], cwd=root, check=True)
        return list(check_globals(root / "a.a"))


def check_the_checks():
    for name, text, expected in BROKEN:
        found = report_on(name, text)
        if not any(expected in problem for problem in found):
            yield f"self-test: {name} with {text!r} should be told {expected!r}, was told {found}"
    for name, text in SOUND:
        found = report_on(name, text)
        if found:
            yield f"self-test: {name} with {text!r} is sound, was told {found}"
    for text in ("int a;\n", "static int a = 1; int *f(void) { return &a; }\n",
                 "int f(void) { static int a; return a++; }\n",
                 "_Thread_local int a;\n"):
        if not report_on_library(text):
            yield f"self-test: {text!r} is a mutable global and was not found"
    found = report_on_library('static const int a = 1;\nconst int *const p = &a;\n'
                              'const char *const names[] = {"x", "y"};\nint f(void) { return a; }\n')
    if found:
        yield f"self-test: constants were taken for mutable globals: {found}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    problems = list(check_the_checks()) + list(check_tree(root))
    for library in sys.argv[2:]:
        problems += check_globals(pathlib.Path(library))
    for problem in problems:
        print(problem)
    print(f"{len(sources(root / 'src'))} source files, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
