#!/usr/bin/python3
"""The stepping method converges to the analytic one: every scene of the table in docs/analytic-benchmark.md is run
by `rigor converge` with the steps of the table, its differences are those that stand there, they shrink
with the step by an order of at least 0.8, and the finest of them is small. Scenes whose table has no order
must agree up to rounding at every step. Both methods share the narrow phase and the contact rows, but
neither forces, impacts, integration nor events."""
import os
import re
import subprocess
import sys

from record_script_support import Command, check, check_equal, scratch_directory

LEAST_ORDER = 0.8
# What the table rounds to, and what the last bits of the analytic method may change.
TABLE = 0.06
# Metres. Rounding, and the gap at which the analytic method keeps resting bodies (docs/analytic-benchmark.md).
SMALL, ROUNDING = 3e-3, 1e-9
LEAST_SCENES = 10


def section_of(root):
    with open(os.path.join(root, "docs", "analytic-benchmark.md")) as file:
        text = file.read()
    parts = re.split(r"^## ", text, flags=re.M)
    (section,) = [part for part in parts if part.startswith("Agreement")]
    return section


def rows_of(section):
    """(arguments, {step: difference}, order or None) of every line of the table."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in section.splitlines() if line.startswith("|")]
    head, rows = lines[0], []
    for line in lines[2:]:
        check_equal(len(line), len(head), f"cells of {line}")
        (arguments,) = re.findall(r"`([^`]*)`", line[0])
        figures = {step: float(cell) for step, cell in zip(head, line) if "/" in step and cell}
        rows.append((arguments.split(), figures, None if line[-1] == "rounding" else float(line[-1])))
    return rows


def check_scene(rigor, arguments, figures, order):
    what = " ".join(arguments)
    report = rigor.report("converge", *arguments, "--steps", ",".join(figures), "--reference", "analytic")
    check_equal((report["method"], report["reference"], report["failed"]), ("stepping", "analytic", 0), what)
    (series,) = report["series"]
    rows = series["rows"]
    differences = [row["difference_m"] for row in rows]
    print(f"{what}: {differences}, order {series['difference_order']}")
    for row in rows:
        check_equal(row["solver_failures"], 0, f"{what}: failures")
    if order is None:
        check(max(differences) < ROUNDING, f"{what}: {differences} is more than rounding")
        check(all(row["difference_rounding"] for row in rows), f"{what}: rounding is not named")
        check_equal(series["difference_order"], None, f"{what}: order of rounding")
        return
    for step, row in zip(figures, rows):
        check(abs(row["difference_m"] / figures[step] - 1) < TABLE,
              f"{what}: {row['difference_m']} at {step}, {figures[step]} in the table")
    for coarse, fine in zip(rows, rows[1:]):
        check(fine["difference_m"] < coarse["difference_m"], f"{what}: {differences}")
        check(fine["difference_order"] >= LEAST_ORDER, f"{what}: order {fine['difference_order']}")
    check(abs(series["difference_order"] - order) < 0.05,
          f"{what}: order {series['difference_order']}, {order} in the table")
    check(differences[-1] < SMALL, f"{what}: {differences[-1]} m at the finest step")


def check_default_method(rigor):
    """The analytic method is not compared with itself, unless that is asked for; --solver is not its."""
    steps = ["--steps", "0.01,0.005", "--reference", "analytic"]
    check_equal(rigor.report("converge", "bead", "--duration", "0.1", *steps)["method"], "stepping", "method")
    report = rigor.report("converge", "bead", "--duration", "0.1", *steps, "--method", "analytic")
    check_equal(report["method"], "analytic", "method that was asked for")
    check(report["series"][0]["rows"][0]["difference_m"] < ROUNDING, "the analytic method and itself")
    check_equal(rigor.report("converge", "bead", "--duration", "0.1", *steps, "--solver", "newton")["failed"],
                0, "a solver that the analytic method has not")


def check_failed_reference(rigor):
    """A reference that cannot go on is told of."""
    with open("broken.yaml", "w") as file:
        file.write("{rigor: 1, duration: 20, bodies: [{name: mote, shape: {sphere: 0.5}, mass: 1}], forces: "
                   "[{kind: constant, body: mote, force: [1.0e+50, 0, 0]}]}")
    arguments = ["converge", "broken.yaml", "--steps", "0.5,0.1", "--reference", "analytic"]
    result = rigor(*arguments)
    check_equal(result.returncode, 1, "exit code")
    check("the run by the analytic method could not continue at t = " in result.stdout, result.stdout)
    result = rigor(*arguments, "--json")
    check('"reference_failure": "at t = ' in result.stdout, result.stdout)


def check_commands(rigor, root, section):
    """The commands that the section shows run as shown."""
    os.symlink(os.path.join(root, "scenes"), "scenes")
    os.makedirs("build/release")
    os.symlink(rigor.path, "build/release/rigor")
    blocks = re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S)
    check(blocks, "docs/analytic-benchmark.md shows no command")
    for block in blocks:
        result = subprocess.run(["sh", "-e"], input=block, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, universal_newlines=True, timeout=300)
        check_equal(result.returncode, 0, f"docs/analytic-benchmark.md: {block}: {result.stderr}")
        check("by the analytic method" in result.stdout, f"docs/analytic-benchmark.md: {block}: {result.stdout}")


def main():
    rigor, root = Command(sys.argv[1]), os.path.abspath(sys.argv[2])
    section = section_of(root)
    rows = rows_of(section)
    check(sum(order is not None for _, _, order in rows) >= LEAST_SCENES, "too few scenes have an order")
    with scratch_directory() as name:
        os.chdir(name)
        check_commands(rigor, root, section)
        for arguments, figures, order in rows:
            check_scene(rigor, arguments, figures, order)
        check_default_method(rigor)
        check_failed_reference(rigor)
        os.chdir("/")


main()
