#!/usr/bin/python3
"""test_run_solve.py RIGOR: the command `rigor solve`, on small files made here."""
import json
import os
import random
import sys

import foreign_script_support as foreign
import h5py
import numpy

from record_script_support import Command, check, check_equal, scratch_directory

# M = [2 1; 1 2], q = (-5, -6): z = (4/3, 7/3).
LCP = "2\n0\n2\n2\n2\t2\n2 1\n1 2\n-5 -6\nA remark.\n"
# w = -1 whatever z is.
IMPOSSIBLE = "1\n0\n1\n1\n1 1\n0\n-1\n"
# One contact, W = 1, pushed down and along: sticks or slides as mu says.
FRICTION = "3\n1\n0\n3\n3\n3 3\n1 0 0\n0 1 0\n0 0 1\n-1 0.5 0\n{mu}\n"
# A body of mass 2 falls on the floor.
SEQUENCE = ("rigidfc3d 1\n# scene drop step 3\n0.01 10 0.5 1 1\n"
            "2 1 1 1 0 0 1 1 0 0 0 0 0 -1 0 0 0 0 0 -20\n"
            "-1 0 9 0 0 0 0 0 1 0\n3e-16 0 1 0\n0 0 2.2\n")

# The same as LCP with z in [0, 1] x [0, 9]: z1 stays at 1, z2 = (6 - 1) / 2.
RELAY = "2\n0\n2\n2\n2\t2\n2 1\n1 2\n-5 -6\n0 0\n1 9\n"
# W = [1 2; 2 5], mu = 1, q = (1, 10): apart; sliding with r = (1, -1); stuck with r = (15, -8).
SEVERAL = "2\n1\n0\n2\n2\n2 2\n1 2 2 5\n1 10\n1\n"


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as stream:
        stream.write(text)
    return path


def run(rigor, *arguments, code=0, stderr=""):
    result = rigor("solve", *arguments)
    what = f"rigor solve {' '.join(map(str, arguments))}"
    check_equal(result.returncode, code, f"{what}: exit code ({result.stderr.strip()})")
    if stderr == "":
        check_equal(result.stderr, "", f"{what}: stderr")
    else:
        check(stderr in result.stderr, f"{what}: stderr is {result.stderr!r}, without {stderr!r}")
    return result.stdout


def run_json(rigor, *arguments, **options):
    """The problems, and the last line, which counts."""
    lines = [json.loads(line) for line in run(rigor, *arguments, "--json", **options).splitlines()]
    check(lines, "no lines of JSON")
    check("solved" in lines[-1] and all("file" in line for line in lines[:-1]), f"lines {lines}")
    return lines[:-1], lines[-1]


def test_help(rigor, _folder):
    text = run(rigor, "--help")
    for part in ("Usage: rigor solve FILE", "\nOptions:\n", "\nExit codes: ", "\nExamples:\n"):
        check(part in text, f"help lacks {part!r}")
    check_equal(rigor("help", "solve").stdout, text, "help in two ways")
    for line in text.splitlines():
        check(len(line) <= 90 and line == line.rstrip(), f"help: {line!r}")
    check("  solve " in rigor("--help").stdout, "the main help names it")


def test_usage(rigor, folder):
    lcp = write(folder, "a.dat", LCP)
    for arguments, message in (
            ([], "rigor: solve: which FILE? see `rigor solve --help`"),
            ([lcp, "--solver", "danzig"], "rigor: solve: unknown solver 'danzig'; did you mean dantzig?"),
            ([lcp, "--solver", "xyzzy"], "rigor: solve: unknown solver 'xyzzy'; see `rigor solve --help`"),
            ([lcp, "--solver", "dantzig,"], "rigor: solve: unknown solver ''"),
            ([lcp, "--tolerance", "0"], "rigor: solve: --tolerance: '0' is not a number above 0"),
            ([lcp, "--mu", "-1"], "rigor: solve: --mu: '-1' is not a number, 0 or more"),
            ([lcp, "--mu", "nan"], "rigor: solve: --mu: 'nan' is not a number, 0 or more"),
            ([lcp, "--friction", "polygon:5"],
             "rigor: solve: --friction polygon:5: give cone, or polygon:K with an even K from 4 to 256"),
            ([lcp, "--friction", "pyramid"], "rigor: solve: --friction pyramid: give cone, or polygon:K"),
            ([lcp, "--repeat", "1.5"],
             "rigor: solve: --repeat: '1.5' is not a whole number from 1 to 1000000"),
            ([lcp, "--format", "frictoin"], "rigor: solve: unknown format 'frictoin'; did you mean friction?"),
            ([lcp, lcp, "--write", os.path.join(folder, "x.hdf5")],
             "rigor: solve: --write takes one problem: give one FILE"),
            ([lcp, lcp, "--out", os.path.join(folder, "x.txt")],
             "rigor: solve: --out takes one problem: give one FILE"),
            ([lcp, "--solver", "all", "--out", os.path.join(folder, "x.txt")],
             "rigor: solve: --out takes one solver"),
            ([folder, "--start", lcp], "rigor: solve: --start takes one problem: give one FILE"),
            ([lcp, "--law", "newton"], "rigor: solve: --law: 'newton'; give coulomb or lotstedt"),
            ([lcp, "--policy", "best"], "rigor: solve: --policy: 'best'; give smallest or largest"),
            ([lcp, "--solvr", "auto"], "rigor: solve: unknown option --solvr; did you mean --solver?")):
        check_equal(run(rigor, *arguments, code=2, stderr=message), "", f"stdout of {arguments}")


def test_table(rigor, folder):
    path = write(folder, "a.dat", LCP)
    lines = run(rigor, path, "--solver", "dantzig").splitlines()
    check_equal(lines[0], f"{path}: lcp, 2 rows", "head")
    check_equal(lines[1].split(), ["solver", "status", "residual", "iterations", "time"], "titles")
    check_equal(lines[2].split()[:2], ["dantzig", "solved"], "row")
    check(float(lines[2].split()[2]) <= 1e-14, f"residual in {lines[2]}")
    check_equal(len(lines), 3, "lines")
    lines = run(rigor, path, "--solver", "all").splitlines()
    names = [line.split()[0] for line in lines[2:] if not line.startswith("    ")]
    check_equal(names[:10], ["auto", "dantzig", "lemke", "qp", "gauss-seidel", "newton",
                             "interior-point", "admm", "enumerate"] + names[9:10], "all solvers")
    check(names[9:] in ([], ["lp"]), f"and lp, if built in: {names}")
    lines = run(rigor, path, path, "--solver", "dantzig,lemke").splitlines()
    check_equal(len(lines), 9, "two tables and a sum")
    check_equal(lines[-1], "2 solved to 1e-08, 0 not solved", "sum")
    sequence = write(folder, "drop.txt", SEQUENCE)
    text = run(rigor, sequence, "--solver", "none")
    check("3D, 1 contacts, 6 degrees of freedom; scene drop step 3" in text, text)
    check("said to be 3.00e-16" in text, text)


def test_json(rigor, folder):
    path = write(folder, "drop.txt", SEQUENCE)
    (problem,), end = run_json(rigor, path)
    check_equal(end, {"solved": 1, "unsolved": 0, "unreadable": 0, "tolerance": 1e-8}, "end")
    expected = {"file": path, "format": "rigidfc3d", "kind": "contact", "rows": 3, "dimension": 3,
                "contacts": 1, "joints": 0, "form": "global", "condensed": False, "freedom": 6,
                "friction": True, "directions": 0, "title": "scene drop step 3",
                "stated_residual": 3e-16}
    for key, value in expected.items():
        check_equal(problem[key], value, key)
    check(abs(problem["scale"] - 0.1) < 1e-15, "the scale is g h")
    check(problem["known_residual"] < 1e-14, "what is in the file is a solution")
    (result,) = problem["results"]
    check_equal((result["solver"], result["status"]), ("auto", "solved"), "result")
    for key in ("residual", "feasibility", "force", "complementarity", "dissipation"):
        check(0 <= result[key] <= 1e-8, f"{key} is {result[key]}")
    check(result["seconds"] >= 0 and result["iterations"] >= 0 and result["attempts"], "figures")
    # Changed friction is another problem: what the file knows no longer counts.
    (problem,), _ = run_json(rigor, path, "--mu", "0")
    check_equal((problem["friction"], "known_residual" in problem), (False, False), "without friction")


def test_friction(rigor, folder):
    """u = (r_N - 1, r_T1 + 0.5, r_T2): r_N = 1; it sticks with |r_T| = 0.5 if mu >= 0.5."""
    path = write(folder, "a.dat", FRICTION.format(mu=0.5))
    for options in ([], ["--mu", "0.1"], ["--mu", "0"], ["--friction", "polygon:8"],
                    ["--friction", "cone"]):
        (problem,), end = run_json(rigor, path, *options)
        check_equal(end["solved"], 1, f"solved with {options}")
        check_equal(problem["friction"], options != ["--mu", "0"], "friction")
        check_equal(problem["directions"], 8 if "polygon:8" in options else 0, "directions")


def test_exit_codes(rigor, folder):
    good, impossible = write(folder, "good.dat", LCP), write(folder, "impossible.dat", IMPOSSIBLE)
    bad = write(folder, "bad.dat", "2 0 2 2 2 2 1 2 3 nan -1 -1")
    problems, end = run_json(rigor, good, impossible, code=1)
    check_equal([p["results"][0]["status"] for p in problems][0], "solved", "the first")
    check_equal((end["solved"], end["unsolved"]), (1, 1), "counts")
    message = "bad.dat:1:19: 'nan' is not a finite number; here should be number 4 of 4 of the matrix"
    _, end = run_json(rigor, bad, good, code=3, stderr=message)
    check_equal((end["solved"], end["unsolved"], end["unreadable"]), (1, 0, 1), "counts")
    run(rigor, impossible, bad, code=3, stderr=message)
    run(rigor, os.path.join(folder, "none.dat"), code=3, stderr="No such file or directory")
    # A tolerance that no solver reaches.
    mixed = write(folder, "third.dat", "2 0 2 2 2 2 0.3 0.1 0.1 0.7 -0.9 -0.77")
    run(rigor, mixed, "--tolerance", "1e-300", "--solver", "gauss-seidel", "--iterations", "1", code=1)
    # With several solvers one is enough.
    run(rigor, mixed, "--solver", "gauss-seidel,dantzig", "--iterations", "1")


def test_directory(rigor, folder):
    inside = os.path.join(folder, "problems")
    os.makedirs(os.path.join(inside, "deeper"))
    for name in ("b.dat", "a.txt", ".hidden", "README.md", "deeper/c.dat"):
        write(inside, name, LCP)
    problems, end = run_json(rigor, inside + "/")
    check_equal([os.path.basename(p["file"]) for p in problems], ["a.txt", "b.dat"], "files, in order")
    check_equal(end["solved"], 2, "solved")
    os.makedirs(os.path.join(folder, "empty"))
    run(rigor, os.path.join(folder, "empty"), code=3, stderr="a directory without files")


def test_write(rigor, folder):
    source, target = write(folder, "drop.txt", SEQUENCE), os.path.join(folder, "drop.hdf5")
    again = os.path.join(folder, "again.hdf5")
    run(rigor, source, "--solver", "none", "--write", target)
    (problem,), _ = run_json(rigor, target)
    check_equal((problem["format"], problem["form"], problem["title"]),
                ("fclib", "global", "scene drop step 3"), "what was written")
    (original,), _ = run_json(rigor, source)
    check_equal(problem["scale"], original["scale"], "scale")
    check_equal(problem["results"][0]["residual"], original["results"][0]["residual"],
                "the same bits give the same residual")
    run(rigor, target, "--solver", "none", "--write", again)
    with open(target, "rb") as first, open(again, "rb") as second:
        check(first.read() == second.read(), "written again: other bytes")
    lcp = write(folder, "a.dat", LCP)
    run(rigor, lcp, "--write", again, "-f", code=3, stderr="a linear problem; FCLIB holds contact problems only")
    run(rigor, source, "--write", os.path.join(folder, "no", "x.hdf5"), code=4, stderr="cannot be written")
    check(not [name for name in os.listdir(folder) if ".new" in name], "something half-written")
    # What lies where it is made before it is whole stays as it is.
    other = write(folder, "third.hdf5.new", "mine")
    run(rigor, source, "--solver", "none", "--write", os.path.join(folder, "third.hdf5"))
    with open(other, encoding="utf-8") as stream:
        check_equal(stream.read(), "mine", "a file beside")
    check_equal(sorted(name for name in os.listdir(folder) if name.startswith("third")),
                ["third.hdf5", "third.hdf5.new"], "files beside")


# ---- FCLIB files as others write them ----

# Not symmetric, so that rows and columns cannot be mixed up: r = (1, -0.5, 0) sticks.
W = numpy.array([[2, 0, 0], [0.5, 1, 0], [0, 0, 1.0]])


def put_matrix(group, name, matrix, nz):
    """nz as FCLIB has it: -1 compressed columns, -2 compressed rows, otherwise triplets."""
    matrix = numpy.asarray(matrix, float)
    entries = [(i, j) for i, j in numpy.ndindex(matrix.shape) if matrix[i, j]]
    if nz == -1:
        entries.sort(key=lambda e: e[1])
    counts = [sum(e[nz + 2 == 1] < k for e in entries) for k in range(matrix.shape[nz + 2 == 1] + 1)]
    where = group.create_group(name)
    where["m"], where["n"] = numpy.array([matrix.shape[0]], "i4"), numpy.array([matrix.shape[1]], "i4")
    where["nzmax"] = numpy.array([len(entries)], "i4")
    where["nz"] = numpy.array([nz if nz < 0 else len(entries)], "i4")
    where["x"] = numpy.array([matrix[e] for e in entries])
    where["i"] = numpy.array([e[1] if nz == -2 else e[0] for e in entries], "i4")
    where["p"] = numpy.array(counts if nz < 0 else [e[1] for e in entries], "i4")


def write_local(path, nz, **vectors):
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = numpy.array([3], "i4")
        put_matrix(group, "W", W, nz)
        group["vectors/q"] = vectors.get("q", numpy.array([-2, 0, 0.0]))
        group["vectors/mu"] = vectors.get("mu", numpy.array([1.0]))
        file["solution/r"] = numpy.array([1, -0.5, 0])
    return path


def test_fclib(rigor, folder):
    path = os.path.join(folder, "a.hdf5")
    for nz in (-2, -1, 0):
        (problem,), _ = run_json(rigor, write_local(path, nz), "--solver", "none")
        check_equal((problem["format"], problem["form"], problem["contacts"]), ("fclib", "local", 1),
                    "what it is")
        check(problem["known_residual"] < 1e-15, f"storage {nz}: {problem['known_residual']}")
    # Two bodies of two numbers, a joint that holds the second one to the first along the second
    # axis: M = 2, u_N = v2x - v1x - 1. r = 1, l = 0 (planar, no tangential load).
    for nz in (-2, -1, 0):
        with h5py.File(path, "w") as file:
            group = file.create_group("fclib_global")
            group["spacedim"] = numpy.array([2], "i4")
            put_matrix(group, "M", 2 * numpy.eye(4), nz)
            put_matrix(group, "H", [[-1, 0], [0, -1], [1, 0], [0, 1.0]], nz)
            put_matrix(group, "G", [[0], [-1], [0], [1.0]], nz)
            group["vectors/f"] = numpy.array([0, 2, 0, -2.0])
            group["vectors/w"] = numpy.array([-1, 0.0])
            group["vectors/b"] = numpy.array([0.0])
            group["vectors/mu"] = numpy.array([0.25])
            file["solution/r"], file["solution/l"] = numpy.array([1, 0.0]), numpy.array([2.0])
        (problem,), _ = run_json(rigor, path)
        check_equal((problem["form"], problem["joints"], problem["freedom"]), ("global", 1, 4),
                    "what it is")
        check(problem["known_residual"] < 1e-15, f"storage {nz}: {problem['known_residual']}")


def test_bad_fclib(rigor, folder):
    path = os.path.join(folder, "a.hdf5")

    def refuse(change, message):
        write_local(path, -1)
        with h5py.File(path, "r+") as file:
            change(file["fclib_local"])
        run(rigor, path, code=3, stderr=f"rigor: {path}: {message}\n")

    def replace(name, value):
        def change(group):
            del group[name]
            if value is not None:
                group[name] = value
        return change

    for name, value, message in (
            ("W/x", None, "fclib_local/W/x: is missing"),
            ("vectors/mu", None, "fclib_local/vectors/mu: is missing"),
            ("W/m", numpy.array([1.5]), "fclib_local/W/m: must be whole numbers"),
            ("W/x", numpy.array([1, 2, 3, 4], "i4"), "fclib_local/W/x: must be numbers"),
            ("W/m", numpy.array([4], "i4"), "fclib_local/W: is 4 by 3; it must be 3 by 3"),
            ("W/nz", numpy.array([-3], "i4"),
             "fclib_local/W/nz: is -3; it must be from -2 to 2147483647"),
            ("W/i", numpy.array([0, 1, 1, 3], "i4"), "fclib_local/W: an index in i is outside the matrix"),
            ("W/p", numpy.array([0, 3, 2, 4], "i4"), "fclib_local/W: p must ascend"),
            ("W/p", numpy.array([0, 2, 3, 5], "i4"), "fclib_local/W: i and x are shorter than p says"),
            ("vectors/q", numpy.array([1, numpy.nan, 0]),
             "fclib_local/vectors/q: number 1 is not finite; it must be"),
            ("vectors/q", numpy.array([1.0, 0]), "fclib_local/vectors/q: 2; it must be 3"),
            ("vectors/mu", numpy.array([-0.5]),
             "fclib_local/vectors/mu: number 0 is negative; it must not be"),
            ("spacedim", numpy.array([4], "i4"), "fclib_local/spacedim: is 4; it must be from 1 to 3")):
        refuse(replace(name, value), message)
    # A dataset that claims more than the file can hold.
    def change(group):
        del group["vectors/q"]
        group.create_dataset("vectors/q", shape=(1 << 40,), dtype="f8", chunks=(1 << 20,))
    refuse(change, "fclib_local/vectors/q: is larger than the file can hold")
    with h5py.File(path, "w") as file:
        file["other"] = 1
    run(rigor, path, code=3, stderr="an HDF5 file without fclib_local or fclib_global")
    with open(write_local(path, -1), "r+b") as file:
        file.truncate(1000)
    run(rigor, path, code=3, stderr=f"rigor: {path}: is not an HDF5 file, or is cut short or damaged")


# ---- solutions, laws ----

def read_solution(path):
    """Heads by name, and the rows (force, velocity)."""
    with open(path, encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    check_equal(lines[0], "# rigor solution 1", "first line")
    heads = dict(line[2:].split(" ", 1) for line in lines[1:] if line.startswith("#"))
    return heads, [[float(word) for word in line.split()] for line in lines if line[0] != "#"]


def check_rows(rows, expected, what):
    check_equal(len(rows), len(expected), f"{what}: rows")
    for row, right in zip(rows, expected):
        check(all(abs(a - b) <= 1e-14 * 20 for a, b in zip(row, right)), f"{what}: {rows}, not {expected}")


def test_out(rigor, folder):
    lcp, out = write(folder, "a.dat", LCP), os.path.join(folder, "z.txt")
    run(rigor, lcp, "--solver", "dantzig", "--out", out)
    heads, rows = read_solution(out)
    check_equal((heads["problem"], heads["solver"], heads["status"], heads["rows"]),
                (lcp, "dantzig", "solved", "2"), "heads")
    check(float(heads["residual"]) <= 1e-15, f"residual {heads['residual']}")
    check_rows(rows, [[4 / 3, 0], [7 / 3, 0]], "an LCP")
    (problem,), _ = run_json(rigor, lcp, "--start", out)
    check_equal(problem["results"][0]["attempts"][0]["solver"], "warm-start", "read back")
    check_equal(len(problem["results"][0]["attempts"]), 1, "and found good")
    # A ball of mass 2 at -20 / 1 m/s: what stops it.
    run(rigor, write(folder, "drop.txt", SEQUENCE), "--out", out, "-f")
    heads, rows = read_solution(out)
    check_equal(heads["rows"], "3", "rows of a contact")
    missing = os.path.join(folder, "no", "z.txt")
    run(rigor, lcp, "--out", missing, code=4,
        stderr=f"rigor: solve: --out: {missing} cannot be written: No such file or directory")
    for text, message in (("", "is not a solution file: it does not begin with '# rigor solution 1'"),
                          ("1 2\n3 4\n", "is not a solution file: it does not begin with"),
                          ("# rigor solution 1\n1 2\n", "has 1 rows; the problem has 2"),
                          ("# rigor solution 1\n1 2\n1 2\n1 2\n", "has 3 rows; the problem has 2"),
                          ("# rigor solution 1\n1 2\n3\n", ":3: a force and a velocity were expected"),
                          ("# rigor solution 1\nx 2\n3 4\n", ":2: a force and a velocity were expected")):
        run(rigor, lcp, "--start", write(folder, "bad.txt", text), code=3, stderr=message)
    run(rigor, lcp, "--start", missing, code=3, stderr=f"{missing} cannot be read: No such file")


def test_relay(rigor, folder):
    path, out = write(folder, "relay.dat", RELAY), os.path.join(folder, "z.txt")
    for text in (RELAY + "A remark.\n", RELAY):
        write(folder, "relay.dat", text)
        (problem,), _ = run_json(rigor, path, "--out", out, "-f")
        check_equal(problem["format"], "relay", "format")
        check_rows(read_solution(out)[1], [[1, -0.5], [2.5, 0]], "a relay problem")
    solved, _ = run_json(rigor, path, "--solver", "dantzig,lemke,gauss-seidel,enumerate")
    check_equal([r["status"] for r in solved[0]["results"]], ["solved"] * 4, "by solvers with bounds")
    run(rigor, path, "--format", "lcp", code=3,
        stderr=":9:1: 4 more numbers behind q; an lcp ends there, a relay problem has 2 lower and 2 upper")
    run(rigor, write(folder, "cut.dat", RELAY[:-3]), code=3, stderr="the upper bounds")
    run(rigor, write(folder, "turned.dat", RELAY.replace("1 9", "1 -9")), code=3, stderr="row 1")


def test_laws(rigor, folder):
    out = os.path.join(folder, "z.txt")
    several = write(folder, "several.dat", SEVERAL)
    for policy, expected in (("smallest", [[0, 1], [0, 10]]), ("largest", [[15, 0], [-8, 0]])):
        run(rigor, several, "--policy", policy, "--out", out, "-f")
        check_rows(read_solution(out)[1], expected, f"--policy {policy}")
    # W = [1 1; 1 2], q = (-1, 1), mu = 1: without friction r_N = 1, u_T = 2. Coulomb: stuck, r = (3, -2).
    # Bound 1: sliding with r_T = -1, r_N = 2, u_T = 2 - 2 + 1.
    tied = write(folder, "tied.dat", "2\n1\n0\n2\n2\n2 2\n1 1 1 2\n-1 1\n1\n")
    for law, expected in (("coulomb", [[3, 0], [-2, 0]]), ("lotstedt", [[2, 0], [-1, 1]])):
        run(rigor, tied, "--law", law, "--out", out, "-f")
        check_rows(read_solution(out)[1], expected, f"--law {law}")


def test_vanishing(rigor, folder):
    lcp, out = write(folder, "a.dat", LCP), os.path.join(folder, "z.txt")
    result = rigor("solve", lcp, "--vanishing", "none", "--out", out, "-f")
    if "is not built in" in result.stderr:
        check_equal(result.returncode, 2, "exit code without rigor-lp")
        return
    check_rows(read_solution(out)[1], [[4 / 3, 0], [7 / 3, 0]], "no contact breaks")
    check_equal(read_solution(out)[0]["solver"], "lp-given", "named")
    text = run(rigor, lcp, "--vanishing", "0,1", code=1)
    check("infeasible" in text and "no forces have f = 0" in text, text)
    run(rigor, lcp, "--vanishing", "2", code=3,
        stderr="rigor: solve: --vanishing: '2': give rows from 0 to 1 with commas, or none")
    run(rigor, lcp, "--vanishing", "1", "--solver", "lp", code=2,
        stderr="rigor: solve: --vanishing takes the place of a solver; leave out --solver")
    run(rigor, write(folder, "f.dat", SEVERAL), "--vanishing", "none", code=3, stderr="linear problems")


# ---- a folder of many files ----

def random_lcp(generator, n):
    """M = B B' + 1 is positive definite, q such that z is the solution."""
    b = [[generator.gauss(0, 1) for _ in range(n)] for _ in range(n)]
    m = [[sum(x * y for x, y in zip(b[i], b[j])) + (i == j) for j in range(n)] for i in range(n)]
    z = [generator.uniform(0.5, 2) if i % 2 else 0 for i in range(n)]
    q = [-sum(m[i][j] * z[j] for j in range(n)) + (0 if i % 2 else generator.uniform(0, 1)) for i in range(n)]
    numbers = [repr(m[i][j]) for j in range(n) for i in range(n)] + [repr(x) for x in q]
    return f"{n}\n0\n{n}\n{n}\n{n} {n}\n" + "\n".join(numbers) + "\n"


def test_folder(rigor, folder):
    """Every file is solved, but for the one that has no solution; so it is without friction."""
    generator = random.Random(1)
    for n in range(1, 17):
        write(folder, f"lcp_{n:02}.dat", random_lcp(generator, n))
    for mu in (0, 0.2, 0.4, 0.6):
        write(folder, f"friction_{mu}.dat", FRICTION.format(mu=mu))
    write(folder, "sequence.txt", SEQUENCE)
    write(folder, "without_solution.dat", IMPOSSIBLE)
    write(folder, "README.md", "Not a problem.\n")
    write_local(os.path.join(folder, "local.hdf5"), -1)
    for options in ((), ("--mu", "0")):
        problems, end = run_json(rigor, folder, *options, "--tolerance", 1e-8, code=1)
        check_equal(len(problems), 23, f"problems in {folder}")
        for problem in problems:
            (result,) = problem["results"]
            name = os.path.basename(problem["file"])
            if name == "without_solution.dat":
                check(result["status"] in ("infeasible", "ray"), f"{name}: {result['status']}")
            else:
                check_equal(result["status"], "solved", f"{name} {options}, residual {result['residual']}")
                check(result["residual"] <= 1e-8, f"{name}: residual {result['residual']}")
        check_equal((end["solved"], end["unsolved"]), (22, 1), "solved and unsolved")


def test_foreign_fclib(rigor, folder):
    """A problem that would make rigor read another file is refused, whichever way it asks for it."""
    path = os.path.join(folder, "a.hdf5")
    for way in foreign.WAYS:
        for name in ("fclib_local/W/x", "fclib_local/vectors/q", "solution/r"):
            write_local(path, -1)
            with h5py.File(path, "r+") as file:
                way(file, name, os.path.join(folder, "secret"))
            with h5py.File(path) as file:
                check(len(file[name][:]) > 0, f"{way.__name__}: h5py follows it")
            run(rigor, path, code=3, stderr=f"rigor: {path}: has data in another file; a problem must be one "
                "file that holds all of its data\n")

    write_local(path, -1)
    with h5py.File(path, "r+") as file:
        file["fclib_local/again"] = file["fclib_local"]  # a group in itself: the search ends all the same
    run(rigor, path, code=3, stderr=f"rigor: {path}: is damaged: what is in it cannot be listed\n")


def main():
    rigor = Command(sys.argv[1])
    for test in (test_help, test_usage, test_table, test_json, test_friction, test_exit_codes,
                 test_directory, test_write, test_fclib, test_bad_fclib, test_foreign_fclib, test_out, test_relay,
                 test_laws, test_vanishing, test_folder):
        with scratch_directory() as folder:
            test(rigor, folder)

if __name__ == "__main__":
    main()
