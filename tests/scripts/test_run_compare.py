#!/usr/bin/python3
"""`rigor compare` and `rigor converge`: figures, tables, CSV, JSON, plot, messages; and the commands that
docs/compare.md shows."""
import csv
import json
import math
import os
import re
import shutil
import subprocess
import sys

from record_script_support import Command, check, check_equal, expect, scratch_directory

BROKEN = """
rigor: 1
bodies:
  - {name: mote, shape: {sphere: 0.5}, mass: 1}
forces:
  - {kind: constant, body: mote, force: [1.0e+50, 0, 0]}
duration: 20
"""


def test_help(rigor):
    listing = expect(rigor, ["--help"], 0).stdout
    for command in ("compare", "converge"):
        check(f"\n  {command} " in listing, f"{command} is not listed")
        text = expect(rigor, [command, "--help"], 0, stderr="", stdout=f"Usage: rigor {command}").stdout
        check_equal(expect(rigor, ["help", command], 0).stdout, text, "help in two ways")
        for part in ("\nOptions (", "\nExit codes: ", "\nExamples:\n"):
            check(part in text, f"help of {command} lacks {part!r}")
        for line in text.splitlines():
            check(len(line) <= 90 and line == line.rstrip(), f"help of {command}: {line!r}")


def test_usage(rigor):
    for arguments, message in (
            (["compare"], "compare: which SCENE? `rigor scenes` lists the built-in ones"),
            (["compare", "tower", "5"], "compare: '5' is neither an option nor NAME=VALUE"),
            (["compare", "tower", "--solver", "newton", "--x"], None),
            (["compare", "tower", "--solvers", "newtn"],
             "compare: --solvers: unknown solver 'newtn'; did you mean newton?"),
            (["compare", "tower", "--solvers", "newton,"], None),
            (["compare", "tower", "--solvers", "lp"],
             "compare: --solvers: lp is for `rigor solve` and `rigor run` only"),
            (["compare", "tower", "--methods", "penality"],
             "compare: --methods: unknown method 'penality'; did you mean penalty?"),
            (["compare", "tower", "--methods", "steping"],
             "compare: --methods: unknown method 'steping'; did you mean stepping?"),
            (["compare", "tower", "--steps", "0.1,0"], "compare: --steps: '0' is not a number above 0"),
            (["compare", "tower", "--steps", "1/0"], "compare: --steps: '1/0' is not a number above 0"),
            (["compare", "tower", "--steps", ",".join(["1"] * 65)],
             "compare: --steps: more than 64 values; give a shorter list"),
            (["compare", "tower", "--steps", ",".join(["1"] * 64), "--gammas", ",".join(["1"] * 64)],
             "compare: 4096 runs are more than 1024; give shorter lists"),
            (["compare", "tower", "--gammas", "1.5"],
             "compare: --gammas: '1.5' is not a number from 0 to 1"),
            (["compare", "tower", "--friction", "polygon:7"],
             "compare: --friction: 'polygon:7' is neither cone nor polygon:K with K even, from 4 to 256"),
            (["compare", "billiard", "--impacts", "simultaneous,poison"],
             "compare: --impacts: unknown impact law 'poison'; did you mean poisson?"),
            (["compare", "tower", "--threads", "0.5"],
             "compare: --threads: '0.5' is not a whole number from 1 to 1024"),
            (["compare", "tower", "--json", "--csv", "-"],
             "compare: --json and --csv - both want standard output; give --csv FILE"),
            (["converge", "tower"], "converge: which steps? --steps 0.02,0.01,0.005"),
            (["converge", "--steps", "0.1,0.2"],
             "converge: which SCENE? `rigor scenes` lists the built-in ones"),
            (["converge", "tower", "--steps", "0.1"],
             "converge: --steps: one step shows no order; give two or more"),
            (["converge", "tower", "--steps", "0.1,0.2,0.1"], "converge: --steps: 0.1 is there twice; leave one out"),
            (["converge", "tower", "--steps", "0.1,0.2", "--reference", "finst"],
             "converge: --reference: unknown reference 'finst'; did you mean finest?"),
            (["converge", "tower", "--steps", "0.1,0.2", "--solver", "newton,admm"],
             "converge: --solver: one at a time; `rigor compare` takes several"),
            (["converge", "tower", "--steps", "3,4", "--duration", "1"],
             "converge: --steps: 4 and 3 make the same number of steps in 1 s; leave one out, or give a longer --duration")):
        result = expect(rigor, arguments, 2, stdout="")
        if message:
            check_equal(result.stderr, f"rigor: {message}\n", f"rigor {arguments}: message")
        else:
            check(result.stderr.startswith("rigor: compare: "), result.stderr)
    for command in (["compare"], ["converge", "--steps", "0.1,0.2"]):
        expect(rigor, [*command, "nothing.yaml"], 3, stdout="", stderr="rigor: nothing.yaml: ")
        expect(rigor, [*command, "tower", "cuont=3"], 3, stdout="", stderr="cuont")


def runs_of(rigor, *arguments):
    lines = expect(rigor, ["compare", *arguments, "--json"], 0, stderr="").stdout.splitlines()
    *runs, summary = map(json.loads, lines)
    check_equal(summary["runs"], len(runs), "number of runs")
    check_equal([run["run"] for run in runs], list(range(1, len(runs) + 1)), "numbers of runs")
    return runs, summary


def test_compare(rigor):
    tower = ["tower", "count=3", "--duration", "0.25"]
    runs, summary = runs_of(rigor, *tower, "--solvers", "newton,gauss-seidel", "--steps", "1/120,0.005",
                            "--gammas", "0.5,1")
    check_equal([(run["solver"], run["step_s"], run["gamma"]) for run in runs],
                [(solver, step, gamma) for solver in ("newton", "gauss-seidel")
                 for step in (1 / 120, 0.005) for gamma in (0.5, 1)], "combinations")
    for run in runs:
        check_equal((run["method"], run["friction"], run["status"]), ("stepping", "cone", "done"), "run")
        check_equal(run["steps"], round(0.25 / run["step_s"]), "steps")
        check_equal(run["cost"]["solves"], run["steps"], "one solve a step")
        check_equal(run["cost"]["solver_failures"], 0, "failures")
        check(run["certificate"]["max_penetration_m"] < 1e-9, "penetration")
        check(run["certificate"]["complementarity"] < 1e-8, "complementarity")
        check(run["energy"]["closure_rel"] < 1e-9, "closure")
        check(run["measures"]["standing"] is True, "the tower stands")
    check_equal((summary["done"], summary["failed"]), (8, 0), "summary")
    check_equal(summary["fastest_run"],
                1 + min(range(8), key=lambda i: runs[i]["cost"]["wall_s"]), "the fastest")

    # The figures are those of `rigor run`.
    alone = rigor.report("run", "tower", "count=3", "--duration", "0.25", "--step", "0.005")
    (run,), _ = runs_of(rigor, *tower, "--steps", "0.005")
    check_equal(run["state_hash"], alone["state_hash"], "the same run")
    for block in ("certificate", "energy"):
        for name, value in run[block].items():
            if name in alone[block]:
                check_equal(value, alone[block][name], name)
    for name, value in run["measures"].items():
        check_equal(value, alone["measures"][name], name)

    # The same runs again have the same state, and it is said.
    check_equal(runs_of(rigor, *tower, "--solvers", "newton,newton")[1]["same_state"], True, "same state")
    check_equal(summary["same_state"], False, "same state")

    # Friction and methods.
    runs, _ = runs_of(rigor, "incline", "mu=0.3", "yaw=30", "--duration", "0.1",
                      "--friction", "cone,polygon:8", "--methods", "stepping,analytic")
    check_equal([(run["method"], run["friction"]) for run in runs],
                [(method, friction) for method in ("stepping", "analytic")
                 for friction in ("cone", "polygon:8")], "combinations")
    check(runs[0]["measures"] != runs[1]["measures"], "the polygon changes something")


def test_compare_impacts(rigor):
    """Laws of impact side by side: two groups of balls bounce off each other as two bodies."""
    runs, _ = runs_of(rigor, "billiard", "--impacts", "simultaneous,poisson")
    check_equal([run["impact"] for run in runs], ["simultaneous", "poisson"], "laws")
    for run in runs:
        for ball, speed in (("velocity_1", -1 / 3), ("velocity_2", 2 / 3), ("velocity_3", 2 / 3)):
            check(abs(run["measures"][ball] - speed) < 1e-12, f"{ball} of {run['impact']}")
    runs, _ = runs_of(rigor, "rod-impact", "--impacts", "all")
    check_equal(len({run["impact"] for run in runs}), 6, "all laws")
    for run in runs:
        check(run["measures"]["energy_change_J"] < 1e-12, f"energy of {run['impact']}")
    runs, _ = runs_of(rigor, "tower", "count=2", "--duration", "0.1")
    check_equal(runs[0]["impact"], None, "law of a method that has none")
    # What the laws let expect differs, so that it is not printed as if it did not.
    text = expect(rigor, ["compare", "billiard", "--impacts", "simultaneous,propagation"], 0).stdout
    check("expected:" in text and "velocity_1 -0.333" not in text.split("expected:")[1],
          "expected velocities of two laws")


def test_compare_output(rigor):
    arguments = ["compare", "tower", "count=2", "--duration", "0.1", "--solvers", "newton,gauss-seidel",
                 "--steps", "0.01,0.02"]
    table = expect(rigor, arguments, 0, stderr="").stdout
    check(table.startswith("tower by rigor "), table)
    check("4 runs of 0.1 s\n  in all of them: method stepping, gamma 1, friction cone\n" in table, table)
    for title in ("certificate, worst", "energy, J", "cost", "measures", "penetration m", "closure",
                  "fallbacks", "standing"):
        check(title in table, f"the table lacks {title}")
    rows = re.findall(r"^    (newton|gauss-seidel) +(0\.0[12]) .*", table, re.M)
    check_equal(len(rows), 32, "rows: four runs in four tables, of which three are in two parts or three")
    check(all(len(line) <= 80 for line in table.splitlines()), "lines too long")

    expect(rigor, [*arguments, "--csv", "runs.csv"], 0, stderr="", stdout="4 runs")
    with open("runs.csv") as file:
        rows = list(csv.DictReader(file))
    check_equal([(row["run"], row["solver"], row["step_s"], row["status"]) for row in rows],
                [("1", "newton", "0.01", "done"), ("2", "newton", "0.02", "done"),
                 ("3", "gauss-seidel", "0.01", "done"), ("4", "gauss-seidel", "0.02", "done")], "CSV")
    check(all(row["standing"] == "1" and float(row["max_penetration_m"]) < 1e-9 for row in rows), "CSV")
    text = expect(rigor, [*arguments, "--csv", "-"], 0, stderr="").stdout
    check_equal(text.splitlines()[0], ",".join(rows[0]), "CSV on standard output")
    expect(rigor, [*arguments, "--csv", "no/such.csv"], 4, stdout="",
           stderr="rigor: compare: --csv: no/such.csv cannot be written: ")

    # A run that cannot go on is told of, and the others are made.
    with open("broken.yaml", "w") as file:
        file.write(BROKEN)
    result = rigor("compare", "broken.yaml", "--steps", "0.1,0.5", "--json")
    *runs, summary = map(json.loads, result.stdout.splitlines())
    check_equal(len(runs), 2, "runs")
    check_equal(result.returncode, 1, "exit code")
    check_equal((summary["failed"], [run["status"] for run in runs]), (2, ["failed"] * 2), "status")
    check("at t = " in runs[0]["failure"], f"why it failed: {runs[0]['failure']}")


def test_converge(rigor, root):
    rod = os.path.join(root, "scenes", "pivoting-rod.yaml")
    result = expect(rigor, ["converge", rod, "--steps", "0.01,0.02,0.005", "--gammas", "0,0.5,1", "--json"],
                    0, stderr="")
    check_equal(result.stdout.count("\n"), 1, "lines")
    report = json.loads(result.stdout)
    check_equal([series["gamma"] for series in report["series"]], [0, 0.5, 1], "gammas")
    for series in report["series"]:
        rows = series["rows"]
        check_equal([row["step_s"] for row in rows], [0.02, 0.01, 0.005], "steps, sorted")
        order = math.log(rows[1]["infeasibility_m"] / rows[2]["infeasibility_m"], 2)
        check(abs(rows[2]["infeasibility_order"] - order) < 1e-6, f"order of a pair: {rows}")
        check(abs(series["infeasibility_order"] - (2 if series["gamma"] else 1)) < 0.05,
              f"order at gamma {series['gamma']}: {series['infeasibility_order']}")
        check(rows[2]["difference_m"] is None and rows[0]["infeasibility_order"] is None, "ends")
        check(0.9 * rows[0]["constant_per_m"] < rows[2]["constant_per_m"] or not series["gamma"],
              "the constant")
    check(report["series"][2]["difference_order"] > 1.8, "trajectory")

    # The model behind orders of differences, on steps without a common ratio. Steps are changed so that
    # all runs end at the same time; the analytic method is the reference that is known. A ball under a
    # constant force is off by exactly a multiple of h.
    with open("pushed.yaml", "w") as file:
        file.write("{rigor: 1, gravity: [0, 0, 0], duration: 1, bodies: [{name: ball, shape: "
                   "{sphere: 0.5}, mass: 1}], forces: [{kind: constant, force: [2, 0, 0], "
                   "body: ball}]}")
    for reference in ("successive", "finest", "analytic"):
        report = json.loads(expect(rigor, ["converge", "pushed.yaml", "--method", "stepping", "--steps",
                                           "0.1,0.05,0.02,0.011", "--reference", reference, "--json"],
                                   0).stdout)
        (series,) = report["series"]
        check_equal(report["reference"], reference, "reference")
        check_equal([row["steps"] for row in series["rows"]], [10, 20, 50, 91], "steps")
        check(abs(series["difference_order"] - 1) < 1e-3, f"{reference}: {series}")
        if reference == "analytic":
            for row in series["rows"]:
                check(abs(row["difference_m"] - row["step_s"]) < 1e-8, f"error is h: {row}")

    table = expect(rigor, ["converge", rod, "--steps", "0.02,0.01", "--reference", "finest"], 0).stdout
    for text in ("infeasibility m", "trajectory m", "from that with the finest step", "least squares",
                 "gamma 1"):
        check(text in table, f"the table lacks {text!r}: {table}")
    grid = expect(rigor, ["converge", rod, "--steps", "0.02,0.01", "--gammas", "0.5,1"], 0).stdout
    check("infeasibility, relative to gamma 1" in grid and "h=0.02" in grid, grid)
    flat = expect(rigor, ["converge", "tower", "count=2", "--steps", "0.02,0.01", "--duration", "0.1"],
                  0).stdout
    check("rounding" in flat, f"rounding has no order: {flat}")


def test_plot(rigor, root):
    rod = os.path.join(root, "scenes", "pivoting-rod.yaml")
    arguments = ["converge", rod, "--steps", "0.02,0.01", "--gammas", "0.5,1", "--plot"]
    os.mkdir("empty")
    expect(rigor, [*arguments, "x.svg"], 4, stdout="", env={"PATH": os.path.abspath("empty")},
           stderr="rigor: converge: --plot: the program gnuplot is missing (Debian: gnuplot-nox); "
                  "nothing else needs it\n")
    check(not os.path.exists("x.svg"), "a file without a plot")
    with open("empty/gnuplot", "w") as file:
        file.write("#!/bin/sh\nexit 3\n")
    os.chmod("empty/gnuplot", 0o755)
    expect(rigor, [*arguments, "x.svg"], 4, env={"PATH": os.path.abspath("empty") + ":/bin:/usr/bin"},
           stderr="rigor: converge: --plot: gnuplot failed (exit code 3)")
    if not shutil.which("gnuplot"):
        print("skipped: plots, for which gnuplot is not here")
        return
    expect(rigor, [*arguments, "no/such.svg"], 4, stdout="",
           stderr="rigor: converge: --plot: no/such.svg cannot be written: ")
    expect(rigor, [*arguments, "it's a plot.svg"], 0, stderr="", stdout="infeasibility m")
    with open("it's a plot.svg") as file:
        svg = file.read()
    check(svg.startswith("<?xml") and svg.rstrip().endswith("</svg>"), f"no SVG: {svg[:80]!r}")
    for text in ("pivoting-rod", "infeasibility, gamma 0.5, order 2.0", "trajectory", "step (s)"):
        check(text in svg, f"the plot lacks {text!r}")


def test_documentation(rigor, root):
    """Everything that docs/compare.md shows runs as shown."""
    with open(os.path.join(root, "docs", "compare.md")) as file:
        blocks = re.findall(r"^```sh\n(.*?)^```$", file.read(), re.M | re.S)
    check(len(blocks) >= 3, "docs/compare.md shows too little")
    os.mkdir("documentation")
    os.chdir("documentation")
    os.symlink(os.path.join(root, "scenes"), "scenes")
    os.makedirs("build/release")
    os.symlink(rigor.path, "build/release/rigor")
    for block in blocks:
        if "--plot" in block and not shutil.which("gnuplot"):
            print("skipped: the plot of docs/compare.md, for which gnuplot is not here")
            continue
        result = subprocess.run(["sh", "-e"], input=block, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, universal_newlines=True, timeout=300)
        check_equal(result.returncode, 0, f"docs/compare.md: {block}: {result.stderr}")


def main():
    rigor, root = Command(sys.argv[1]), os.path.abspath(sys.argv[2])
    with scratch_directory() as name:
        os.chdir(name)
        test_help(rigor)
        test_usage(rigor)
        test_compare(rigor)
        test_compare_impacts(rigor)
        test_compare_output(rigor)
        test_converge(rigor, root)
        test_plot(rigor, root)
        test_documentation(rigor, root)
        os.chdir("/")


main()
