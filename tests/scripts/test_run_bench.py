#!/usr/bin/python3
"""`rigor bench engines` and `rigor bench scale`: what the judge finds in scenes whose figures are known, by
rigor and by every engine that is built; tables, CSV, plot, records, messages. Nothing here asserts a time."""
import csv
import os
import re
import shutil
import sys

from record_script_support import Command, check, check_equal, expect, scratch_directory

PEERS = {"bullet": "Bullet", "ode-quick": "ODE quick", "ode-exact": "ODE exact", "mujoco": "MuJoCo"}
STAGES = ["forces", "pairs", "points", "events", "rows", "islands", "solve", "apply", "move", "judge", "store"]

# Two boxes, one of them as a hull whose centre of mass is not its origin, that overlap by 1 cm along x.
OVERLAP = """
rigor: 1
gravity: [0, 0, 0]
bodies:
  - {name: left, shape: {box: [1, 1, 1]}, position: [0, 0, 0]}
  - name: right
    shape: {hull: [[0, -1, -1], [0, 1, -1], [0, -1, 1], [0, 1, 1],
                   [2, -1, -1], [2, 1, -1], [2, -1, 1], [2, 1, 1]]}
    position: [0.49, 0, 0]
duration: 1
"""

# A box and a sphere far apart that fly and spin at constant velocity: the box 3 m/s, the sphere 1 m/s.
FLIGHT = """
rigor: 1
gravity: [0, 0, 0]
bodies:
  - {name: box, shape: {box: [1, 1, 1]}, velocity: [1, -2, 2], angular_velocity: [0, 0, 5]}
  - {name: ball, shape: {sphere: 0.5}, position: [0, 0, 90], velocity: [0, 0, 1]}
duration: 1
"""

BROKEN = """
rigor: 1
bodies:
  - {name: mote, shape: {sphere: 0.5}, mass: 1}
forces:
  - {kind: constant, body: mote, force: [1.0e+50, 0, 0]}
duration: 20
"""


def write(name, text):
    with open(name, "w") as file:
        file.write(text)
    return name


def table(rigor, *arguments):
    """The rows of --csv by engine, for one scene."""
    text = expect(rigor, ["bench", "engines", *arguments, "--csv", "-"], 0, stderr="").stdout
    rows = list(csv.DictReader(text.splitlines()))
    check(rows, f"no rows: {text}")
    return {row["engine"]: row for row in rows}


def figure(row, name):
    check(row[name] != "", f"{row['scene']}, {row['engine']}: no {name}: {row['note']}")
    return float(row[name])


def test_help(rigor):
    for part in ("engines", "scale"):
        text = expect(rigor, ["bench", part, "--help"], 0, stderr="", stdout=f"Usage: rigor bench {part}").stdout
        check(f"rigor bench {part} --help" in expect(rigor, ["bench", "--help"], 0).stdout, f"{part} is not listed")
        for words in ("\nOptions:\n", "\nExit codes: ", "\nExamples:\n"):
            check(words in text, f"help of {part} lacks {words!r}")
        for line in text.splitlines():
            check(len(line) <= 95 and line == line.rstrip(), f"help of {part}: {line!r}")


def test_usage(rigor):
    write("other.csv", "a,b\n1,2\n")
    for arguments, code, message in (
            (["engines", "--engines", "rigor,hovok"], 2,
             "bench: --engines: unknown engine 'hovok'; known are rigor, rigor-pushed, bullet, ode-quick, "),
            (["engines", "tower", "5"], 2, "bench: '5' is neither an option nor NAME=VALUE of one SCENE"),
            (["engines", "--limit", "0"], 2, "bench: --limit: '0' is not a number above 0"),
            (["engines", "towr"], 3, "bench: towr: neither a built-in scene nor a file; did you mean"),
            (["engines", "tower", "--against", "none.csv"], 3, "bench: --against: none.csv: No such file"),
            (["engines", "tower", "--against", "other.csv"], 3, "bench: --against: other.csv: not a file of"),
            (["engines", "tower", "--record", "no/x.csv"], 4, "bench: --record: no/x.csv cannot be written"),
            (["engines", "tower", "--csv", "no/x.csv"], 4, "bench: --csv: no/x.csv cannot be written"),
            (["scale", "tower"], 2, "bench: scale takes no 'tower'"),
            (["scale", "--threads", "1.5"], 2, "bench: --threads: '1.5' is not a whole number"),
            (["scale", "--quik"], 2, "did you mean --quick?")):
        expect(rigor, ["bench", *arguments], code, stdout="", stderr=message)


def test_judge(rigor):
    """Closed forms of the judge's own figures."""
    row = table(rigor, write("overlap.yaml", OVERLAP), "--engines", "rigor", "--duration", "1/240")["rigor"]
    check(abs(figure(row, "deepest_m") - 0.01) < 1e-12, f"depth of two boxes: {row['deepest_m']}")
    check_equal((row["steps"], row["bodies"]), ("1", "2"), "steps and bodies")
    row = table(rigor, "tower", "count=1", "--engines", "rigor", "--duration", "0.1")["rigor"]
    check(figure(row, "deepest_m") < 1e-12 and figure(row, "drift_m") < 1e-12, f"a box at rest: {row}")
    row = table(rigor, "rolling", "--engines", "rigor", "--duration", "0.05")["rigor"]
    check_equal((row["measure"], row["energy_rise_rel"]), ("velocity_error_sq", ""), "a pushed slab")
    check(figure(row, "value") < 1e-20 and float(row["expected"]) == 0, f"a pushed slab: {row}")
    row = table(rigor, "incline", "mu=0.3", "yaw=30", "--engines", "rigor", "--duration", "0.2")["rigor"]
    check(figure(row, "value") < 1e-8, f"acceleration on a slope: {row}")


def test_flight(rigor):
    """Every engine that is built flies as Newton says: masses, velocities and frames got there and back."""
    rows = table(rigor, write("flight.yaml", FLIGHT))
    for name, row in rows.items():
        if row["steps"] == "0":
            continue
        close = 1e-4 if name == "bullet" else 1e-9  # Bullet computes in floats
        check(abs(figure(row, "drift_m") - 3) < close and abs(figure(row, "creep_m_per_s") - 3) < 10 * close,
              f"{name}: {row['drift_m']} m, {row['creep_m_per_s']} m/s instead of 3")
        check_equal(figure(row, "deepest_m"), 0, f"{name}: depth of bodies far apart")
        check(figure(row, "energy_rise_rel") < close, f"{name}: energy {row['energy_rise_rel']}")
    return {name for name, row in rows.items() if name in PEERS and row["steps"] != "0"}


def test_failures(rigor, built):
    row = table(rigor, write("broken.yaml", BROKEN), "--engines", "rigor")["rigor"]
    check(0 < float(row["steps"]) < 4800 and row["note"], f"a run that cannot go on: {row}")
    row = table(rigor, "brick-stack", "--engines", "rigor,bullet", "--duration", "0.01")
    check_equal(row["rigor"]["steps"], "2", "a planar scene by rigor")
    if "bullet" in built:
        check_equal(row["bullet"]["note"], "the scene has a planar world", "a planar scene by another engine")
    if "mujoco" in built:
        row = table(rigor, "bounce", "--engines", "mujoco", "--duration", "0.01")["mujoco"]
        check_equal(row["note"], "MuJoCo has no coefficient of restitution", "a bounce")
    if "ode-exact" in built:
        row = table(rigor, "pyramid", "base=16", "--engines", "ode-exact", "--limit", "0.5")["ode-exact"]
        check(row["note"].startswith(("stopped: over the limit", "crashed: ", "it could not make a step")), f"no limit: {row}")


# What the engines reach where closed forms or common sense say what is right: far from their best figures,
# near enough to tell that masses, shapes, frames and friction are those of the scene.
SANE = {"incline": ("value", 0.05), "incline mu=0.3 yaw=30": ("value", 2), "rolling": ("value", 1),
        "balls-666": ("deepest_m", 0.005), "funnel count=40": ("deepest_m", 0.05),
        "pile count=20": ("deepest_m", 0.05), "kapla levels=6": ("deepest_m", 0.01)}
OURS = {"incline": ("value", 1e-9), "incline mu=0.3 yaw=30": ("value", 1e-8), "rolling": ("value", 1e-20),
        "balls-666": ("deepest_m", 1e-12), "pyramid base=8": ("deepest_m", 1e-9),
        "tower count=10": ("drift_m", 1e-9), "mass-ratio": ("drift_m", 1e-9), "kapla levels=6": ("drift_m", 1e-9),
        "bounce": ("value", 1e-9), "cradle": ("value", 1e-9)}


def test_quick(rigor, built):
    plot = ["--plot", "quick.svg"] if shutil.which("gnuplot") else []
    if not plot:
        print("skipped: the plot, for which gnuplot is not here")
    text = expect(rigor, ["bench", "engines", "--quick", "--csv", "quick.csv", "--record", "quick.rec", *plot],
                  0, stderr="").stdout
    check(max(map(len, text.splitlines())) <= 100, "the table is wider than 100 columns")
    with open("quick.csv") as file:
        rows = list(csv.DictReader(file))
    scenes = list(dict.fromkeys(row["scene"] for row in rows))
    check(len(scenes) >= 13, f"scenes: {scenes}")
    for scene in scenes:
        check(f"{scene}: " in text, f"{scene} is not in the table")
    for row in rows:
        if row["note"]:
            check(row["note"] in text, f"{row['note']} is not in the table")
        if row["steps"] == "0":
            check(row["engine"] != "rigor" and row["note"], f"no steps: {row}")
            continue
        check(figure(row, "mean_ms") > 0 and figure(row, "worst_ms") >= figure(row, "median_ms"), f"times: {row}")
        if row["engine"] == "rigor":
            check(all(figure(row, f"{stage}_ms") >= 0 for stage in STAGES), f"stages: {row}")
            check_equal(row["failures"], "0", f"failed solves of {row['scene']}")
            name, limit = OURS.get(row["scene"], ("deepest_m", 0.01))
        elif row["engine"] in ("bullet", "ode-quick", "mujoco"):
            name, limit = SANE.get(row["scene"], ("deepest_m", 1))
        else:
            continue
        check(abs(figure(row, name)) <= limit, f"{row['scene']}, {row['engine']}: {name} {row[name]}")
        if row["scene"].startswith("dominoes"):
            check_equal(row["value"], "5", f"dominoes that fell by {row['engine']}")
    if plot:
        with open("quick.svg") as file:
            svg = file.read()
        for words in ("rigor", "deepest penetration of the run (m)", "pyramid base=8", *(PEERS[name] for name in built)):
            check(words in svg, f"the plot lacks {words!r}")
    return scenes


def test_record(rigor):
    """A record has every stage of every scene; compared with itself, every stage has a ratio."""
    with open("quick.rec") as file:
        lines = file.read().splitlines()
    check_equal(lines[0], "scene,stage,ms", "the head of a record")
    check_equal([line.split(",")[1] for line in lines if line.startswith("mass-ratio,")][:12], STAGES + ["step"],
                "stages in a record")
    text = expect(rigor, ["bench", "engines", "tower", "count=10", "--engines", "rigor", "--duration", "0.1",
                          "--against", "quick.rec"], 0, stderr="", stdout="now/before").stdout
    for stage in ("points", "solve", "judge", "step"):
        check(re.search(rf"^ +{stage} +[0-9.e-]+ +[0-9.e-]+ +[0-9.]+$", text, re.M), f"{stage} in {text}")
    expect(rigor, ["bench", "engines", "incline", "mu=0.7", "--engines", "rigor", "--duration", "0.01",
                   "--against", "quick.rec"], 0, stdout="incline mu=0.7: not in quick.rec")


def test_scale(rigor):
    text = expect(rigor, ["bench", "scale", "--quick", "--record", "scale.rec"], 0, stderr="").stdout
    for title in ("separate pyramids", "one pyramid", "one pyramid, pushed", "tower", "dominoes", "pile", "mass ratio"):
        family = re.search(rf"^{title}\n.*\n((?:(?: +[0-9.e+-]+)+\n)+)  slope against .*$", text, re.M)
        check(family, f"{title} in {text}")
        rows = [list(map(float, line.split())) for line in family[1].splitlines()]
        check(len(rows) == 3 and all(row[4] > 0 for row in rows), f"rows of {title}: {rows}")
        check(all(row[6] > 0 for row in rows), f"memory of {title}: {rows}")
        check(title == "pile" or all(row[8] == 0 for row in rows), f"heap calls in steady steps of {title}: {rows}")
    rows = re.findall(r"^ +(\d+) +(\d+) +(\d+) +1e\+00 ", text.split("one pyramid")[0], re.M)
    check_equal(rows, [("15", "140", "1"), ("30", "280", "2"), ("60", "560", "4")],
                "bodies, contacts and islands of separate pyramids")
    check_equal(len(re.findall("slope against bodies", text)), 6, "slopes against bodies")
    check("slope against mass ratio" in text, "slope against mass ratio")
    expect(rigor, ["bench", "scale", "--quick", "--against", "scale.rec"], 0, stdout="now/before")


def main():
    rigor = Command(sys.argv[1])
    with scratch_directory() as name:
        os.chdir(name)
        test_help(rigor)
        test_usage(rigor)
        test_judge(rigor)
        built = test_flight(rigor)
        if len(built) < len(PEERS):
            missing = ", ".join(PEERS[name] for name in PEERS if name not in built)
            print(f"skipped: {missing} beside rigor, not built here (libbullet-dev, libode-dev, libmujoco-dev)")
        test_failures(rigor, built)
        test_quick(rigor, built)
        test_record(rigor)
        test_scale(rigor)
        os.chdir("/")


main()
