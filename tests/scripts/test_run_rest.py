#!/usr/bin/python3
"""A heap of dominoes comes to rest by the analytic method, though the friction of its contacts changes faster than can
be followed: mean forces take it there. What is averaged is told; nothing overlaps, the ledger closes, no solve fails,
and once at rest nothing happens and nothing moves any more. A body between a press and the floor, which nothing can
save, is named at once."""
import csv
import os
import sys

from record_script_support import Command, check, check_equal, scratch_directory

# Metres: 1e-9 of the dominoes' circumradius. Relative: of mean forces, of the ledger. Joules: by which the potential
# energy may change.
OVERLAP, COMPLEMENTARITY, CLOSURE, STILL = 5e-10, 1e-6, 1e-8, 1e-9
# Relative: of the forces of an instant; a contact at its limit may turn back by that (docs/analytic.md).
TURNS_BACK = 1.001e-3
# Frames of four steps in which that, or what projection turns, may be more than COMPLEMENTARITY.
FRAMES_OFF = 4
PRESS = """
method: {name: analytic}
duration: 1
materials: {default: {friction: 0}}
bodies:
  - {name: floor, motion: fixed, shape: {halfspace: {normal: [0, 0, 1], offset: 0}}}
  - {name: box, shape: {box: [0.2, 0.2, 0.2]}, position: [0, 0, 0.1]}
  - name: press
    motion: {kinematic: {oscillate: {amplitude: [0, 0, 0.001], frequency: 0.5, phase: 1.57}}}
    shape: {box: [0.4, 0.4, 0.1]}
    position: [0, 0, 0.2505]
"""


def heap(rigor, duration):
    report = rigor.report("run", "dominoes", "count=10", "--method", "analytic", "--duration", duration,
                          "--out", "heap.h5", "--overwrite")
    what = f"dominoes after {duration} s"
    print(what, report["certificate"], report["events"])
    check_equal(report["measures"]["fallen"], 10, what)
    check_equal(report["solver_failures"], 0, what)
    check(report["certificate"]["min_gap_m"] > -OVERLAP, what)
    check(report["certificate"]["complementarity"] < TURNS_BACK, what)
    check_equal(rigor("export", "heap.h5", "--certificate-csv", "heap.csv", "-f").returncode, 0, "export")
    with open("heap.csv") as file:
        frames = list(csv.DictReader(file))
    off = [frame["time"] for frame in frames if float(frame["complementarity"] or 0) > COMPLEMENTARITY]
    print(f"{len(off)} of {len(frames)} frames with complementarity above {COMPLEMENTARITY}: {off}")
    check(len(frames) > 100 and len(off) <= FRAMES_OFF, what)
    check(report["energy"]["closure_rel"] < CLOSURE, what)
    check_equal(report["events"]["inconsistent"] + report["events"]["unsolved"], 0, what)
    return report


def main():
    rigor = Command(sys.argv[1])
    with scratch_directory() as directory:
        os.chdir(directory)
        early, late = heap(rigor, "3.2"), heap(rigor, "4")
        check(early["events"]["averaged"] > 0, "nothing was averaged: the test shows nothing")
        check_equal(early["events"], late["events"], "events at rest")
        moved = abs(late["energy"]["final_J"] - early["energy"]["final_J"])
        check(moved < STILL, f"the energy changes by {moved} J at rest")
        with open("press.yaml", "w") as file:
            file.write(PRESS)
        result = rigor("run", "press.yaml", "-q")
        check(result.returncode != 0, "a squeezed body is not refused")
        check('no impulse keeps "box" and "press" from approaching' in result.stderr, result.stderr)


main()
