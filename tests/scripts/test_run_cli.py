#!/usr/bin/python3
"""The command line: help, exit codes, messages, the JSON report, requirements, signals."""
import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import time

from record_script_support import Command, check, check_equal, expect, scratch_directory

GOOD = """
rigor: 1
bodies:
  - {name: floor, shape: {halfspace: {normal: [0, 0, 1], offset: 0}}, motion: fixed}
  - {name: ball, shape: {sphere: 0.5}, position: [0, 0, 2], velocity: [1, 0, 3]}
duration: 0.5
"""
EXTREME = """
rigor: 1
bodies:
  - {name: mote, shape: {sphere: 0.001}, density: 1}
  - {name: moon, shape: {sphere: 100}, position: [0, 0, 200]}
"""
LOOSE = """
bodies:
  - {name: a, shape: {box: [0.1, 0.1, 1]}, position: [0.1, 0, 1]}
  - {name: b, shape: {box: [0.1, 0.1, 1]}, position: [0.6, 0, 0.3],
     orientation: {axis: [0, 1, 0], degrees: 70}}
joints:
  - {kind: hinge, bodies: [world, a], frame_a: {position: [0, 0, 1.5]}, frame_b: {position: [0, 0, 0.5]}}
  - {kind: ball, name: knee, bodies: [a, b], frame_a: {position: [0, 0, -0.5]},
     frame_b: {position: [0, 0, 0.5]}}
"""
CONTRADICTORY = """
bodies:
  - {name: a, shape: {box: [1, 1, 1]}}
joints:
  - {kind: fixed, name: left, bodies: [world, a], frame_a: {position: [-0.1, 0, 0]}, frame_b: {}}
  - {kind: fixed, bodies: [world, a], frame_a: {position: [0.1, 0, 0]}, frame_b: {}}
  - {kind: hinge, bodies: [world, a], point: [0, 0, 0], axes: {motor: {velocity: 1}}}
"""
BAD = """
rigor: 1
bodies:
  - {name: ball, shape: {sphere: -0.5}}
"""
ROWS = """
rigor: 1
method: analytic
gravity: [0, 0, 0]
duration: 0.5
materials:
  ivory: {friction: 0, restitution: 1, impact: propagation}
  steel: {friction: 0, restitution: 1}
bodies:
  - {name: ivory, shape: {sphere: 0.1}, position: [-0.5, 0, 0], velocity: [1, 0, 0], material: ivory}
  - {name: "ivory{i}", repeat: 2, shape: {sphere: 0.1}, position: ["0.2*i", 0, 0], material: ivory}
  - {name: steel, shape: {sphere: 0.1}, position: [-0.5, 1, 0], velocity: [1, 0, 0], material: steel}
  - {name: "steel{i}", repeat: 2, shape: {sphere: 0.1}, position: ["0.2*i", 1, 0], material: steel}
"""
LONG = ["projectiles", "count=200", "--duration", "10"]


def check_profile(rigor):
    """The stages of a step sum to the step within 2 %, by both methods."""
    for scene in (["pyramid"], ["slide-to-roll"]):
        profile = rigor.report("run", *scene, "--duration", "0.5")["profile"]
        check_equal(list(profile), ["step_ms", "passes", "parts", "stages_ms"], "keys of the profile")
        check(profile["passes"] > 0 if scene == ["pyramid"] else profile["passes"] == 0, f"passes: {profile}")
        check_equal(list(profile["stages_ms"]),
                    "forces pairs points events rows islands solve apply move judge store".split(), "stages")
        total = sum(profile["stages_ms"].values())
        check(abs(total / profile["step_ms"] - 1) < 0.02, f"{scene}: stages {total}, {profile}")
    text = expect(rigor, ["run", "pyramid", "--duration", "0.5", "--profile"], 0).stdout
    rows = re.findall(r"^    (\w+) +([0-9.]+) +([0-9.]+) %$", text, re.M)
    check_equal([row[0] for row in rows], [*profile["stages_ms"], "sum", "step"], "rows of the table")
    check(abs(sum(float(row[2]) for row in rows[:-2]) - 100) < 2.6, f"shares: {text}") # as rounded
    check(float(dict((row[0], row[2]) for row in rows)["solve"]) > 5, f"solving takes time: {text}")
    text = expect(rigor, ["run", "pyramid", "--duration", "0.1"], 0).stdout
    check("stages" not in text, "a profile that was not asked for")


def check_integrators(rigor):
    """The integrator of the analytic method: in the report, and fewer evaluations where motion is smooth."""
    plain = rigor.report("run", "euler-disc", "--duration", "0.2")
    check_equal(plain["integrator"], "dormand-prince", "integrator of a scene that names none")
    adams = rigor.report("run", "euler-disc", "--duration", "0.2", "--integrator", "adams")
    check_equal(adams["integrator"], "adams", "integrator of the command line")
    check(adams["evaluations"] * 5 < plain["evaluations"],
          f"evaluations: {adams['evaluations']} beside {plain['evaluations']}")
    check(adams["evaluations"] > adams["substeps"] > 0, "steps of the integrator")
    finders = {finder: rigor.report("run", "bounce", "--duration", "1", "--root-finder", finder)
               for finder in ("itp", "illinois", "bisection")}
    for finder, report in finders.items():  # dropped from 1 m: down after sqrt(2 / 9.81) s
        check(abs(report["measures"]["first_bounce_s"] - 0.4515236409857309) < 1e-10, f"bounce by {finder}")
    check_equal(finders["itp"]["state_hash"],
                rigor.report("run", "bounce", "--duration", "1")["state_hash"], "itp is the default")
    check(finders["itp"]["state_hash"] != finders["bisection"]["state_hash"], "bisection is not heard")
    check_equal(rigor.report("run", "tennis-racket", "--method", "stepping")["integrator"], None,
                "integrator of a method that has none")
    check("integrator       adams to 1e-09, " in
          expect(rigor, ["run", "euler-disc", "--duration", "0.1", "--integrator", "adams"], 0).stdout,
          "the summary names the integrator")


def check_events(rigor):
    """Laws of impact, and what the event-driven method says that happened."""
    report = rigor.report("run", "bounce", "e=0.5", "--duration", "2")
    check_equal(report["impact"], "simultaneous", "law of a scene that names none")
    check_equal(report["events"]["accumulation"], 1, "accumulations of bounces")
    check(report["events"]["impact"] > 3, "no impacts of a ball that bounces")
    check(len(report["event_texts"]) == 1 and "without end" in report["event_texts"][0],
          f"what happened, in words: {report['event_texts']}")
    check("\"ball\" bounces on \"floor\" without end" in
          expect(rigor, ["run", "bounce", "e=0.5", "--duration", "2"], 0).stdout,
          "the summary says what happened")
    report = rigor.report("run", "billiard", "--impact", "poisson")
    check_equal(report["impact"], "poisson", "law of the command line")
    check_equal(rigor.report("run", "tennis-racket", "--method", "stepping")["impact"], None,
                "law of a method that has none")
    expect(rigor, ["run", "billiard", "--impact", "poison"], 2, stdout="",
           stderr="--impact: unknown impact 'poison'; did you mean poisson?")
    expect(rigor, ["run", "billiard", "law=poison"], 3, stdout="",
           stderr="billiard: parameter law=poison: must be one of: simultaneous, propagation")


def check_material_laws(rigor):
    """A material's own law of impact: in the summary, past --impact, and in recordings that go on."""
    with open("rows.yaml", "w") as file:
        file.write(ROWS)
    text = expect(rigor, ["run", "rows.yaml"], 0).stdout
    check("impacts simultaneous; materials: propagation\n" in text, text)
    check("materials:" not in expect(rigor, ["run", "billiard"], 0).stdout, "a law that nothing names")

    def final_speeds(*arguments):
        expect(rigor, [*arguments, "--out", "rows.h5", "-f"], 0)
        lines = expect(rigor, ["export", "rows.h5", "--csv", "-"], 0).stdout.split()[-6:]
        return [float(line.split(",")[10]) for line in lines]

    def check_speeds(speeds, expected, what):
        check(all(abs(v - e) < 1e-12 for v, e in zip(speeds, expected)), f"{what}: {speeds}")

    at_once = [-1 / 3, 2 / 3, 2 / 3]
    check_speeds(final_speeds("run", "rows.yaml"), [0, 0, 1, *at_once], "each its law")
    check_speeds(final_speeds("run", "rows.yaml", "--impact", "propagation"), [0, 0, 1, 0, 0, 1],
                 "--impact for steel, which names none")
    check_speeds(final_speeds("run", "rows.yaml", "--impact", "poisson"), [0, 0, 1, *at_once],
                 "ivory keeps its law")
    whole = rigor.report("run", "rows.yaml")
    expect(rigor, ["run", "rows.yaml", "--duration", "0.2", "--out", "rows.h5", "-f"], 0)
    os.remove("rows.yaml")
    check_equal(rigor.report("run", "--resume", "rows.h5", "--duration", "0.5")["state_hash"],
                whole["state_hash"], "hash of a run that went on before the impacts")


def test_help(rigor):
    expect(rigor, [], 2, stderr="Usage: rigor COMMAND", stdout="")
    version = expect(rigor, ["--version"], 0, stderr="").stdout
    check(re.fullmatch(r"rigor \d+\.\d+\.\d+\n", version), f"version {version!r}")
    for words in (["--help"], ["-h"], ["help"]):
        expect(rigor, words, 0, stderr="", stdout="Commands:\n  run ")
    for command in ("run", "view", "new", "check", "convert", "decompose", "scenes", "explain", "export", "distance", "solve", "bench",
                    "completion", "sweep", "strip", "plot"):
        text = expect(rigor, [command, "--help"], 0, stderr="", stdout=f"Usage: rigor {command}").stdout
        check_equal(expect(rigor, ["help", command], 0).stdout, text, "help in two ways")
        check_equal(expect(rigor, [command, "-h"], 0).stdout, text, "help in two ways")
        for part in ("\nOptions:\n", "\nExit codes: ", "\nExamples:\n"):
            check(part in text, f"help of {command} lacks {part!r}")
        for line in text.splitlines():
            check(len(line) <= 90 and line == line.rstrip(), f"help of {command}: {line!r}")


def test_usage(rigor):
    for arguments, message in (
            (["rnu"], "rigor: unknown command 'rnu'; did you mean run?"),
            (["xyzzy"], "rigor: unknown command 'xyzzy'; see `rigor --help`"),
            (["view"], "rigor: view: which SCENE or RECORDING? `rigor scenes` lists the built-in scenes"),
            (["decompose"], "rigor: decompose: which FILE? see `rigor decompose --help`"),
            (["decompose", "x", "--parts", "1.5"],
             "rigor: decompose: --parts: '1.5' is not a whole number from 1 to 1000000"),
            (["decompose", "x", "--out", "y.stl"],
             "rigor: decompose: --out: 'y.stl' must end in .yaml or .obj"),
            (["--frobnicate"], "rigor: unknown option '--frobnicate'; see `rigor --help`"),
            (["run"], "rigor: run: which SCENE? `rigor scenes` lists the built-in ones"),
            (["run", "tennis-racket", "--stpe", "1"],
             "rigor: run: unknown option --stpe; did you mean --step?"),
            (["run", "tennis-racket", "--zzz"],
             "rigor: run: unknown option --zzz; see `rigor run --help`"),
            (["run", "tennis-racket", "-x"], "rigor: run: unknown option -x; see `rigor run --help`"),
            (["run", "tower", "--solver", "danzig"],
             "rigor: run: --solver: unknown solver 'danzig'; did you mean dantzig?"),
            (["run", "tower", "--solver", "xyzzy"],
             "rigor: run: --solver: unknown solver 'xyzzy'; known are auto, dantzig, lemke, qp, "
             "gauss-seidel, newton, interior-point, admm, enumerate"),
            (["run", "tower", "--gamma=1.5"],
             "rigor: run: --gamma: '1.5' is not a number from 0 to 1"),
            (["run", "tower", "--friction", "pyramid"],
             "rigor: run: --friction: 'pyramid' is neither cone nor polygon:K with K even, from 4 to "
             "256"),
            (["run", "tower", "--friction", "polygon:7"],
             "rigor: run: --friction: 'polygon:7' is neither cone nor polygon:K with K even, from 4 "
             "to 256"),
            (["run", "tower", "--points", "few"],
             "rigor: run: --points: 'few' is neither all nor a number of contact points"),
            (["run", "tower", "--detection", "late"],
             "rigor: run: --detection: 'late' is neither continuous nor discrete"),
            (["run", "tower", "--tolerance", "-1"],
             "rigor: run: --tolerance: '-1' is not a number above 0, such as 0.5 or 1/240"),
            (["run", "tower", "--dump-problem", "0"],
             "rigor: run: --dump-problem: '0' is not STEP or STEP:FILE, with steps counted from 1"),
            (["run", "tower", "--dump-problem", "3:"],
             "rigor: run: --dump-problem: '3:' is not STEP or STEP:FILE, with steps counted from 1"),
            (["run", "tower", "count=2", "--duration", "0.1", "--dump-problem", "25"],
             "rigor: run: --dump-problem: step 25 is not one of the steps 1 to 24 of this run"),
            (["run", "tennis-racket", "--impact", "magic"],
             "rigor: run: --impact: unknown impact 'magic'; known are simultaneous, propagation, "
             "poisson, energetic, reflection, dissipative"),
            (["run", "tennis-racket", "--integrator", "adam"],
             "rigor: run: --integrator: unknown integrator 'adam'; did you mean adams?"),
            (["run", "tennis-racket", "--method", "penality"],
             "rigor: run: --method: unknown method 'penality'; did you mean penalty?"),
            (["run", "tennis-racket", "--method", "analitic"],
             "rigor: run: --method: unknown method 'analitic'; did you mean analytic?"),
            (["run", "bounce", "--root-finder", "bisecton"],
             "rigor: run: --root-finder: unknown root-finder 'bisecton'; did you mean bisection?"),
            (["run", "tennis-racket", "--step"],
             "rigor: run: --step needs a value; see `rigor run --help`"),
            (["run", "tennis-racket", "--step", "0"],
             "rigor: run: --step: '0' is not a number above 0, such as 0.5 or 1/240"),
            *((["run", "tennis-racket", "--step", word],
               f"rigor: run: --step: '{word}' is not a number above 0, such as 0.5 or 1/240")
              for word in ("1/0", "1/", "/240", "1/2/3", "1/ 240", "1 /240", "-1/240", "1/x")),
            (["run", "tennis-racket", "--step", "nan"],
             "rigor: run: --step: 'nan' is not a number above 0, such as 0.5 or 1/240"),
            (["run", "tennis-racket", "--duration", "1s"],
             "rigor: run: --duration: '1s' is not a number above 0, such as 0.5 or 1/240"),
            (["run", "tennis-racket", "--threads", "1.5"],
             "rigor: run: --threads: '1.5' is not a whole number from 1 to 1024"),
            (["run", "tennis-racket", "--checkpoint", "-1"],
             "rigor: run: --checkpoint: '-1' is not a number of seconds, 0 or more"),
            (["run", "tennis-racket", "--step", "1", "--step", "2"],
             "rigor: run: --step is given twice; give it once"),
            (["run", "tennis-racket", "--json=yes"], "rigor: run: --json takes no value; write the option alone"),
            (["run", "tennis-racket", "-qf"], "rigor: run: -qf: one-letter options stand alone; write them apart, as in -q -f"),
            (["run", "tennis-racket", "spin"],
             "rigor: run: 'spin' is neither an option nor NAME=VALUE; see `rigor run --help`"),
            (["run", "tennis-racket", "-f"], "rigor: run: --overwrite goes with --out or --dump-problem; add --out FILE.h5"),
            (["run", "--resume", "a.h5", "tennis-racket"],
             "rigor: run: --resume takes the scene from the recording; leave out SCENE and parameters"),
            (["run", "--resume", "a.h5", "--step", "1"],
             "rigor: run: --step does not go with --resume: the run keeps what it was started with"),
            (["run", "--resume", "a.h5", "--gamma", "1"],
             "rigor: run: --gamma does not go with --resume: the run keeps what it was started with"),
            (["run", "tennis-racket", "--require", ""],
             "rigor: run: --require: is empty; an example is 'momentum_error_rel<1e-9'"),
            (["run", "tennis-racket", "--require", "closure<1"],
             "rigor: run: --require: unknown figure 'closure'; did you mean closure_rel?"),
            (["run", "tennis-racket", "--require", "closure_rel=1"],
             "rigor: run: --require: 'closure_rel=1' is not NAME<LIMIT (or <=, >, >=)"),
            (["run", "tennis-racket", "--require", "closure_rel<tiny"],
             "rigor: run: --require: 'closure_rel<tiny': the limit 'tiny' is not a number"),
            (["run", "tennis-racket", "--require", "closure_rel<1 0"],
             "rigor: run: --require: 'closure_rel<1 0': the limit '1 0' is not a number"),
            (["run", "tennis-racket", "--require", "closure_rel<1" + 60 * "0"],
             "rigor: run: --require: 'closure_rel<1" + 60 * "0" + "' is longer than 63 characters; "
             "NAME<LIMIT is shorter"),
            (["check"], "rigor: check: which SCENE? see `rigor check --help`"),
            (["scenes", "a", "b"], "rigor: scenes: one NAME at a time; see `rigor scenes --help`"),
            (["export"], "rigor: export: which RECORDING? see `rigor export --help`"),
            (["export", "a.h5"], "rigor: export: which format? --html FILE, --gltf FILE, --mp4 FILE, "
             "--csv FILE ..."),
            (["export", "a.h5", "--vtk", "a.vtk"],
             "rigor: export: --vtk is not in this version; --gltf, --html and --csv are"),
            (["export", "a.h5", "b.h5", "--csv", "-"],
             "rigor: export: one RECORDING at a time; only --html takes several"),
            (["export", "a.h5", "b.h5", "--html", "a.html", "--gltf", "a.glb"],
             "rigor: export: one RECORDING at a time; only --html takes several"),
            (["export", "a.h5", "--csv", "a", "--gltf", "a"],
             "rigor: export: two exports into one file, a; give each a FILE of its own"),
            (["export", "a.h5", "--mp4", "-"],
             "rigor: export: --mp4 needs a file; films cannot go to standard output"),
            (["export", "a.h5", "--png", "a", "--size", "640"],
             "rigor: export: --size: '640' is not WIDTHxHEIGHT, each from 16 to 8192"),
            (["export", "a.h5", "--png", "a", "--size", "640x480x3"],
             "rigor: export: --size: '640x480x3' is not WIDTHxHEIGHT, each from 16 to 8192"),
            (["export", "a.h5", "--png", "a", "--size", "9000x10"],
             "rigor: export: --size: '9000x10' is not WIDTHxHEIGHT, each from 16 to 8192"),
            (["export", "a.h5", "--png", "a", "--theme", "pink"],
             "rigor: export: --theme: 'pink' is neither light nor dark"),
            (["export", "a.h5", "--png", "a", "--view", "behind"],
             "rigor: export: --view: there is no view 'behind'; there are corner, x, -x, y, -y, z (above)"),
            (["export", "a.h5", "--png", "a", "--hide", "grid,arrows"],
             "rigor: export: --hide: 'arrows' is none of contacts, edges, forces, grid, joints, shadows"),
            (["export", "a.h5", "--png", "a", "--from", "x"],
             "rigor: export: --from: 'x' is not a number of seconds"),
            (["export", "a.h5", "--gltf", "a", "--fps", "0"],
             "rigor: export: --fps: '0' is not a number above 0, such as 0.5 or 1/240")):
        result = expect(rigor, arguments, 2, stdout="")
        check_equal(result.stderr, message + "\n", f"rigor {arguments}: message")


def test_assembly(rigor):
    with open("loose.yaml", "w") as file:
        file.write(LOOSE)
    with open("contradictory.yaml", "w") as file:
        file.write(CONTRADICTORY)
    expect(rigor, ["check", "loose.yaml"], 3, stdout="",
           stderr="loose.yaml:7:5: joints[0]: the frames of the joint are 0.1 (m and rad) apart")
    expect(rigor, ["check", "loose.yaml", "--assemble", "closed.yaml"], 0, stderr="",
           stdout="loose.yaml: assembled: joints are closed to ")
    expect(rigor, ["check", "closed.yaml"], 0, stderr="", stdout="closed.yaml: good: 2 bodies")
    with open("absurd.yaml", "w") as file:
        file.write("rigor: 1\nmethod: {name: stepping, step: 100}\nduration: 1000\n"
                   "bodies: [{name: sheet, shape: {box: [1e12, 1e-12, 1]}}]\n")
    result = expect(rigor, ["check", "--strict", "absurd.yaml"], 1, stderr="")
    check("sheet is 1e+24 times as long as it is thick" in result.stdout, "a thin sheet is warned of")
    with open("slow.yaml", "w") as file:
        file.write("rigor: 1\nmethod: {name: stepping, step: 100}\nduration: 1000\n"
                   "bodies: [{name: ball, shape: {sphere: 1}}]\n")
    result = expect(rigor, ["check", "--strict", "slow.yaml"], 1, stderr="")
    check("in a step of 100 s a body falls by 4.9e+04 m" in result.stdout, "a long step is warned of")
    expect(rigor, ["check", "--strict", "four-bar"], 0, stderr="",
           stdout="joint 2 (hinge) of left and coupler: force along z, torque about x y not determined")
    expect(rigor, ["check", "loose.yaml", "good.yaml", "--assemble", "x.yaml"], 2, stdout="",
           stderr="rigor: check: --assemble takes one SCENE")
    warnings = expect(rigor, ["check", "contradictory.yaml", "--assemble", "between.yaml"], 0, stderr="").stdout
    check('warning: joint "left" of the world and a is 0.1 (m and rad) apart: it contradicts others' in warnings,
          warnings)
    check("warning: joint 1 (fixed) of the world and a is 0.1 (m and rad) apart" in warnings, warnings)
    check("warning: 1 motor without a limit of force; set max_force" in warnings, warnings)
    with open("closed.yaml") as file:
        falling = file.read().replace("bodies: [world,", "bodies: [b,", 1)
    with open("falling.yaml", "w") as file:
        file.write(falling)
    warnings = expect(rigor, ["check", "falling.yaml", "--assemble", "x.yaml"], 0, stderr="").stdout
    check("warning: the bodies that are joined hang on nothing" in warnings, warnings)


def test_scenes_and_check(rigor):
    listing = expect(rigor, ["scenes"], 0, stderr="").stdout
    for name in ("spinning-top", "tennis-racket", "projectiles"):
        check(re.search(rf"^{name} ", listing, re.M), f"{name} is not listed")
        expect(rigor, ["scenes", name], 0, stderr="", stdout=f"rigor run {name}")
        expect(rigor, ["check", name], 0, stderr="", stdout=f"{name}: good: ")
    check("count=1000" in listing, "parameters are not listed")
    expect(rigor, ["scenes", "projectile"], 3, stdout="",
           stderr="rigor: scenes: there is no built-in scene 'projectile'; did you mean projectiles?")
    for name, text in (("good.yaml", GOOD), ("bad.yaml", BAD), ("extreme.yaml", EXTREME)):
        with open(name, "w") as file:
            file.write(text)
    check_equal(expect(rigor, ["check", "good.yaml"], 0, stderr="").stdout,
                "good.yaml: good: 2 bodies (1 dynamic, 1 fixed, 0 kinematic), 2 shapes, 0 forces, "
                "523.599 kg, stepping, 0.5 s in steps of 0.00416667 s\n", "check")
    result = expect(rigor, ["check", "bad.yaml", "good.yaml", "nothing.yaml"], 3,
                    stdout="good.yaml: good: 2 bodies")
    check(result.stderr.startswith("bad.yaml:4:"), result.stderr)
    check("\nnothing.yaml: " in result.stderr, result.stderr)
    warnings = expect(rigor, ["check", "extreme.yaml"], 0, stderr="").stdout
    check("extreme.yaml: warning: masses from 4.19e-09 kg (mote) to 4.19e+09 kg (moon)" in warnings,
          warnings)
    test_assembly(rigor)
    check("extreme.yaml: warning: sizes from 0.001 m (mote) to 100 m (moon)" in warnings, warnings)
    with open("single.yaml", "w") as file:
        file.write("rigor: 1\nbodies: [{shape: {sphere: 1}}]\n")
    expect(rigor, ["check", "single.yaml"], 0, stderr="",
           stdout="good: 1 body (1 dynamic, 0 fixed, 0 kinematic), 1 shape, 0 forces, ")
    expect(rigor, ["check", "-q", "good.yaml"], 0, stderr="", stdout="")
    expect(rigor, ["run", "bad.yaml"], 3, stdout="", stderr="rigor: bad.yaml:4:")
    expect(rigor, ["run", "nothing.yaml"], 3, stdout="", stderr="rigor: nothing.yaml: ")
    expect(rigor, ["run", "tennis-racket", "spinn=1"], 3, stdout="", stderr="spinn")


KEYS = ["scene", "method", "solver", "impact", "integrator", "steps", "simulated_s", "wall_s", "cpu_ms_per_step",
        "profile", "bodies", "contacts_max", "certificate", "energy", "solves", "solver_iterations", "substeps",
        "evaluations", "solver_failures", "fallbacks", "impacts", "passed_through", "state_hash", "events", "event_texts", "measures"]
CERTIFICATE = ["min_gap_m", "max_penetration_m", "complementarity", "cone_violation",
               "joint_error_m", "momentum_error_rel"]
ENERGY = ["initial_J", "final_J", "impact_loss_J", "friction_work_J", "stabilisation_J",
          "integration_J", "external_J", "prescribed_J", "closure_rel"]


def test_mixed_up(rigor):
    """A scene where a recording is wanted, and so on: the message says what to type."""
    with open("good.yaml", "w") as file:
        file.write(GOOD)
    rigor.report("run", "good.yaml", "--out", "mixed.h5", "--duration", "0.05")
    for arguments, code, message in (
            (["explain", "good.yaml"], 3, "`rigor run good.yaml --out FILE.h5` makes one"),
            (["explain", "tower"], 3, "`rigor run tower --out FILE.h5` makes one"),
            (["export", "good.yaml", "--csv", "x.csv"], 3, "`rigor run good.yaml --out FILE.h5` makes one"),
            (["explain", "none.yaml"], 3, "none.yaml: cannot be read: No such file or directory"),
            (["plot", "mixed.h5", "--x", "time", "--y", "px"], 3, "`rigor export mixed.h5 --csv FILE.csv`"),
            (["good.yaml"], 2, "to run a scene: rigor run good.yaml"),
            (["tower"], 2, "to run a scene: rigor run tower"),
            (["mixed.h5"], 2, "to look at a recording: rigor view mixed.h5")):
        expect(rigor, arguments, code, stdout="", stderr=message)


def test_mistakes(rigor):
    """All mistakes of a file, each on a line, in their order; what follows from another is left out."""
    with scratch_directory() as directory:
        path = os.path.join(directory, "wrong.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("duration: -1\nbodies:\n  - {name: a, mass: 0, positon: [0, 0, 0]}\n"
                       "forces: [{kind: drag, body: a}, {kind: drag, body: b}]\n")
        expected = [f"{path}:1:11: duration: a duration must be positive, not -1",
                    f"{path}:3:21: bodies[0].mass: a mass must be positive, not 0",
                    f"{path}:3:24: bodies[0].positon: unknown key; did you mean \"position\"?",
                    f"{path}:4:52: forces[1].body: there is no body \"b\"; give the name of a body"]
        check_equal(expect(rigor, ["check", path], 3).stderr.splitlines(), expected, "check")
        for command in (["run", path], ["convert", path, os.path.join(directory, "out.yaml")],
                        ["view", path, "--no-browser"], ["compare", path]):
            lines = expect(rigor, command, 3).stderr.splitlines()
            check_equal(lines, [f"rigor: {line}" for line in expected], " ".join(command))
        with open(path, "w", encoding="utf-8") as file:
            file.write("bodies:\n" + "".join(f"  - {{mass: -{i + 1}}}\n" for i in range(30)))
        lines = expect(rigor, ["check", path], 3).stderr.splitlines()
        check_equal(len(lines), 21, "mistakes and a word of more")
        check_equal(lines[20], f"{path}: reading ended after 20 mistakes; there may be more", "a word of more")


def test_columns(rigor):
    """Tables fit lines of COLUMNS, of the terminal, else of 80; what they say is the same."""
    compare = ["compare", "tower", "count=3", "--solvers", "auto,gauss-seidel", "--duration", "0.05", "-q"]
    converge = ["converge", "tower", "count=2", "--steps", "1/60,1/120,1/240", "--duration", "0.1", "-q"]
    grid = [*converge, "--gammas", "0,0.5,1"]
    words = {}
    for columns in (40, 60, 80, 120, 200, None):
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        if columns:
            environment["COLUMNS"] = str(columns)
        for command in (compare, converge, grid, ["scenes"], ["scenes", "arch"]):
            out = subprocess.run([rigor.path, *command], env=environment, check=True, text=True,
                                 capture_output=True).stdout
            prose = ("infeasibility:", "trajectory:", "orders by", "by rigor", "in all of them", "the infeasibility",
                     "rigor run", "from that")
            for line in out.splitlines():
                check(len(line) <= (columns or 80) or any(text in line for text in prose),
                      f"{columns}: {' '.join(command)}: {line!r}")
            titles = {word for line in out.splitlines() for word in line.split()
                      if word.isalpha()}
            check_equal(titles, words.setdefault(" ".join(command), titles), f"words in {columns} columns: {command}")


def test_numbers(rigor):
    """A fraction is a number in every option that takes one."""
    tower = ["tower", "count=2"]
    for command in (["run", *tower, "--step", "1/100", "--duration", "1/50", "--tolerance", "1/100000", "--gamma",
                     "1/2", "--threads", "2/2", "--checkpoint", "5/2", "--require", "min_gap_m>-1/1000", "-q"],
                    ["run", "incline", "angle=61/2", "--duration", "1/100", "-q"],
                    ["compare", *tower, "--steps", "1/100,1/50", "--gammas", "1/2", "--duration", "1/10", "--threads",
                     "2/2", "-q"],
                    ["converge", *tower, "--steps", "1/100,1/50", "--duration", "1/10", "--gammas", "1/2,1", "-q"],
                    ["distance", "box:1/2,1,1", "sphere:1/3", "--pose", "1/2,0,0", "--repeat", "2/2"],
                    ["run", *tower, "--duration", "1/10", "--out", "fraction.h5", "-q"],
                    ["explain", "fraction.h5", "--at", "1/20", "--most", "4/2"]):
        expect(rigor, command, 0)
    # What is refused is refused for its size, or for what is missing here, not as no number.
    for command, message in ((["view", "tower", "--step", "1/240", "--speed", "1/2", "--port", "1/2"], "--port: '1/2'"),
                             (["export", "fraction.h5", "--fps", "61/2", "--from", "1/20", "--to", "1/10"],
                              "which format?"),
                             (["strip", "tower", "--at", "1/10,1/5", "--step", "1/240", "--columns", "4/2", "--size",
                               "1x1"], "--size"),
                             (["decompose", "none.obj", "--parts", "4/2", "--error", "1/100", "--scale", "1/1000",
                               "--resolution", "1/1000"], "none.obj"),
                             (["solve", "none.dat", "--tolerance", "1/100000", "--mu", "1/2", "--iterations", "4/2",
                               "--repeat", "2/2"], "none.dat"),
                             (["sweep", "none.yaml", "--jobs", "2/2"], "none.yaml")):
        result = subprocess.run([rigor.path, *command], check=False, text=True, capture_output=True)
        check(result.returncode in (2, 3) and message in result.stderr, f"{command}: {result.stderr}")


def test_warnings(rigor):
    """Steps and sizes that nobody means are told by run, too."""
    result = rigor("run", "tower", "count=2", "--step", "100")
    check("rigor: tower: warning: in a step of 100 s a body falls by" in result.stderr, result.stderr)
    check("warning: the duration, 10 s, is shorter than a step of 100 s" in result.stderr, result.stderr)
    check("warning" not in rigor("run", "tower", "count=2", "--step", "100", "-q").stderr, "quiet")
    check("warning" not in expect(rigor, ["run", "tower", "count=2", "--duration", "0.1"], 0).stderr, "good")
    with open("thin.yaml", "w") as file:
        file.write("bodies: [{name: wire, shape: {box: [1.0e+12, 1, 1.0e-12]}}]\n")
    for command in ("check", "run"):
        result = expect(rigor, [command, "thin.yaml", *(["--duration", "0.1"] if command == "run" else [])], 0)
        check("wire is 1e+24 times as long as it is thick" in result.stdout + result.stderr, result.stderr)
    with open("many.yaml", "w") as file:
        file.write("bodies: [{repeat: {i: 250, j: 201}, shape: {sphere: 0.1}, position: [i, j, 1]}]\n")
    expect(rigor, ["check", "many.yaml"], 0, stderr="50250 shapes: the search for overlaps takes a while")


def test_report(rigor):
    report = rigor.report("run", "tennis-racket")
    check_equal(list(report), KEYS, "keys")
    check_equal(list(report["certificate"]), CERTIFICATE, "keys of certificate")
    check_equal(list(report["energy"]), ENERGY, "keys of energy")
    check_equal((report["scene"], report["steps"], report["simulated_s"], report["bodies"]),
                ("tennis-racket", 2400, 10.0, 1), "figures")
    check(report["wall_s"] > 0 and report["cpu_ms_per_step"] > 0, "times")
    check(report["certificate"]["min_gap_m"] is None, "NaN is not null")
    check(report["certificate"]["momentum_error_rel"] < 1e-9, "momentum error")
    check(report["energy"]["closure_rel"] < 1e-9, "closure")
    check(re.fullmatch("[0-9a-f]{16}", report["state_hash"]), "state hash")
    check(report["measures"], "no measures")
    human = expect(rigor, ["run", "tennis-racket"], 0, stdout=report["state_hash"],
                   stderr="rigor: nothing was recorded; --out FILE.h5 records")
    for text in ("2400 steps", "certificate", "momentum error", "energy", "closure", "measures",
                 *[name for name in report["measures"] if not name.endswith("_expected")]):
        check(text in human.stdout, f"the summary lacks {text}")
    expect(rigor, ["run", "tennis-racket", "--quiet"], 0, stdout="", stderr="")
    check("\r" not in human.stderr, "a progress bar without a terminal")

    # Steps: the nearest whole number of them; options over the scene's own.
    for options, steps in ((["--duration", "1"], 240), (["--duration", "0.3", "--step", "0.1"], 3),
                           (["--duration", "3/10", "--step", "1/480"], 144),
                           (["--duration", "1", "--step", "0.3"], 3),
                           (["--duration", "1e-9"], 1)):
        report = rigor.report("run", "tennis-racket", *options)
        check_equal(report["steps"], steps, f"steps with {options}")
    hashes = [rigor.report("run", "tennis-racket", "--duration", "1", *options)["state_hash"]
              for options in ([], ["--step", "1/240"], ["--step", repr(1 / 240)])]
    check_equal(len(set(hashes)), 1, f"state hashes with the step as a fraction: {hashes}")
    check_equal(rigor.report("run", "tennis-racket", "--method", "stepping")["method"], "stepping",
                "method")
    one = rigor.report("run", *LONG[:2], "--duration", "1", "--threads", "1")
    two = rigor.report("run", *LONG[:2], "--duration", "1", "--threads", "2")
    check_equal(one["state_hash"], two["state_hash"], "hash with two threads")
    check_equal(one["bodies"], 200, "parameter")
    expect(rigor, ["run", "tennis-racket", "--duration", "1e300"], 3, stdout="",
           stderr="more steps than can be counted")

    check_profile(rigor)
    check_integrators(rigor)
    check_events(rigor)
    check_material_laws(rigor)
    for words in (["run", "tennis-racket", "--json"], ["scenes"], ["--help"]):
        with open("/dev/full", "w") as full:
            result = subprocess.run([rigor.path, *words], stdout=full, stderr=subprocess.PIPE,
                                    universal_newlines=True)
        check_equal(result.returncode, 4, f"{words} on a full disk")
        check_equal(result.stderr,
                    "rigor: standard output: cannot be written: No space left on device\n", "message")


OVERLAPPING = """
rigor: 1
bodies:
  - {name: floor, shape: {halfspace: {normal: [0, 0, 1], offset: 0}}, motion: fixed}
  - {name: ball, shape: {sphere: 0.5}, position: [0, 0, 0.4]}
  - {name: lower, shape: {box: [1, 1, 1]}, position: [5, 0, 0.5]}
  - {name: upper, shape: {box: [1, 1, 1]}, position: [5, 0, 1.25]}
  - {shape: {box: [1, 1, 1]}, position: [5, 0, 2.25]}
  - {name: glider, position: [-5, 0, 1],
     shape: {compound: [{shape: {sphere: 0.5}}, {shape: {box: [0.2, 0.2, 2.004]}}]}}
  - {name: eye, sensor: true, shape: {sphere: 3}, mass: 1, inertia: [1, 1, 1], gravity_scale: 0}
"""


def test_overlaps(rigor):
    """`check` names bodies that are in each other, and how deep; they separate when run."""
    with open("overlapping.yaml", "w") as file:
        file.write(OVERLAPPING)
    lines = expect(rigor, ["check", "overlapping.yaml"], 0, stderr="").stdout.splitlines()
    overlap = [f"overlapping.yaml: warning: {pair} overlap at the start, {depth} m deep: they will "
               "push each other out" for pair, depth in (("lower and upper", "0.25"),
                                                         ("floor and ball", "0.1"),
                                                         ("floor and glider", "0.002"))]
    check_equal(lines[1:], overlap, "warnings, deepest first, without what touches and sensors")
    expect(rigor, ["check", "--strict", "overlapping.yaml"], 1, stderr="", stdout=overlap[0])
    expect(rigor, ["check", "--strict", "-q", "overlapping.yaml"], 1, stderr="", stdout="")
    expect(rigor, ["check", "--strict", "-q", "overlapping.yaml", "bad.yaml"], 3)
    expect(rigor, ["check", "--strict", "good.yaml", "tower", "pyramid", "dominoes"], 0, stderr="")
    many = "bodies: [{repeat: 12, name: 'b{i}', shape: {sphere: 1}, position: ['10*floor(i/2)', 0, 0]}, " \
           "{repeat: 24, name: 'c{i}', shape: {sphere: 1}, position: ['0.1*i', 50, 0]}]\n"
    with open("many.yaml", "w") as file:
        file.write(many)
    lines = expect(rigor, ["check", "many.yaml"], 0, stderr="").stdout.splitlines()
    check_equal(len(lines), 12, "ten of them are shown, and how many more there are")
    check(re.search(r"and \d+ more pairs overlap, none deeper$", lines[-1]), lines[-1])
    # They come apart, and nothing flies: 0.25 m deep is worth a jump of about as much.
    report = rigor.report("run", "overlapping.yaml", "--duration", "2",
                          "--require", "solver_failures<1")
    energy = report["energy"]
    check(energy["final_J"] < energy["initial_J"] + 9.81 * 1000 * 2, f"exploded: {energy}")
    check(report["certificate"]["max_penetration_m"] < 0.2501, "deeper than at the start")


def test_contacts(rigor):
    """Options of the stepping method, what is reported of contacts, limits on it."""
    tower = ["run", "tower", "count=3", "--duration", "0.25"]
    report = rigor.report(*tower)
    check_equal((report["solver"], report["contacts_max"], report["solves"]), ("auto", 12, 60),
                "figures of contacts")
    check_equal(report["solver_failures"], 0, "failures")
    check(report["solver_iterations"] > 0 and report["certificate"]["max_penetration_m"] < 1e-9 and
          report["certificate"]["complementarity"] < 1e-8 and
          report["certificate"]["cone_violation"] < 1e-8, "certificate")
    human = expect(rigor, tower, 0).stdout
    for text in ("solver           auto to 1e-08, exact friction cone, gamma 1\n", "most at once",
                 "problems solved", "solves that failed", "error of integration"):
        check(text in human, f"the summary lacks {text}")
    check_equal(rigor.report("run", "tennis-racket", "--duration", "1")["solver"], "dantzig",
                "the solver that the analytic method takes by itself")
    settings = ["--solver", "gauss-seidel", "--friction", "polygon:8", "--gamma", "0.5",
                "--detection", "discrete", "--tolerance", "1e-7"]
    human = expect(rigor, [*tower, *settings], 0).stdout
    check("gauss-seidel to 1e-07, friction polygon of 8 sides, gamma 0.5, discrete detection" in human,
          human)
    check_equal(rigor.report(*tower, *settings)["solver"], "gauss-seidel", "solver")
    expect(rigor, [*tower, "--tolerance", "0.5"], 3, stderr="solver tolerance: 0.5 is outside")

    # gamma is heard: a step without it leaves a penetration as it is.
    with open("sunk.yaml", "w") as file:
        file.write("bodies: [{name: floor, shape: {halfspace: {normal: [0, 0, 1]}}, motion: fixed},"
                   " {shape: {box: [1, 1, 1]}, position: [0, 0, 0.499]}]")
    for gamma, low, high in (("0", 0.00099, 0.00101), ("1", 0, 0.001)):
        report = rigor.report("run", "sunk.yaml", "--duration", "0.2", "--gamma", gamma)
        gap = report["certificate"]["max_penetration_m"]
        check(low <= gap <= high, f"penetration {gap} with gamma {gamma}")
        check_equal(report["energy"]["stabilisation_J"] > 1, gamma == "1", f"push with gamma {gamma}")

    # A cube that goes through a pane within a step: the run fails, and says why.
    with open("pane.yaml", "w") as file:
        file.write("gravity: [0, 0, 0]\nmethod: {name: stepping}\nbodies: [{shape: {box: [0.001, 4, 4]}, "
                   "position: [1, 0, 0], motion: fixed}, {shape: {box: [0.05, 0.05, 0.05]}, "
                   "position: [0.1, 0.1, 0.2], velocity: [100, 0, 0]}]")
    pane = ["run", "pane.yaml", "--step", "1/240", "--duration", "8/240", "-q"]
    limits = ["--require", "min_gap_m>-1e-6,passed_through<1"]
    expect(rigor, [*pane, *limits], 0)
    expect(rigor, [*pane, "--detection", "discrete"], 1,
           stderr="the run ends badly: pairs that passed through each other: 1")
    expect(rigor, [*pane, "--detection", "discrete", "--accept-failures"], 0)
    expect(rigor, [*pane, "--detection", "discrete", "--accept-failures", *limits], 1,
           stderr="rigor: requirement min_gap_m>-1e-6 broken at step 3")

    # Limits: every figure and every count has a name; a broken one is an exit code.
    every = ",".join(f"{name}<1e300" for name in [*CERTIFICATE, *ENERGY, "contacts_max", "solves",
                                                  "solver_iterations", "substeps", "evaluations",
                                                  "solver_failures", "fallbacks", "impacts", "passed_through"])
    expect(rigor, [*tower, "--require", every], 0, stderr="joint_error_m<1e300: there was nothing")
    expect(rigor, [*tower, "--require",
                   "max_penetration_m<1e-6,complementarity<1e-8,cone_violation<1e-8,min_gap_m>-1e-6,"
                   "solver_failures<1,closure_rel<1e-9"], 0)
    expect(rigor, ["run", "overlapping.yaml", "--duration", "0.1", "--require",
                   "complementarity<1e-8,max_penetration_m<1e-3"], 1,
           stderr="rigor: requirement max_penetration_m<1e-3 broken at step 1: max_penetration_m = 0.2")

    # A run that goes on keeps its settings, and the measures of its scene.
    settings = ["--solver", "gauss-seidel", "--friction", "polygon:8", "--gamma", "0.5"]
    expect(rigor, [*tower, *settings, "--out", "tower.h5"], 0)
    longer = rigor.report("run", "--resume", "tower.h5", "--duration", "0.5")
    whole = rigor.report("run", "tower", "count=3", "--duration", "0.5", *settings)
    for key in ("solver", "impact", "steps", "state_hash", "events", "event_texts", "measures", "solves", "certificate"):
        check_equal(longer[key], whole[key], f"{key} of a run that went on")
    other = rigor.report("run", "tower", "count=3", "--duration", "0.5")
    check(other["state_hash"] != whole["state_hash"], "the settings change nothing")


def test_dump(rigor):
    """The problems of a step as files that `rigor solve` reads."""
    run = ["run", "dominoes", "count=3", "--duration", "0.1", "--dump-problem"]
    result = expect(rigor, [*run, "5"], 0, stderr="rigor: the 3 contact problems of step 5 are in "
                                                  "dominoes-step5-0.h5 and so on\n")
    check("certificate" in result.stdout, "no report")
    names = [f"dominoes-step5-{island}.h5" for island in range(3)]
    check_equal(sorted(name for name in os.listdir(".") if "-step5" in name), names, "files")
    solved = expect(rigor, ["solve", *names], 0).stdout
    check_equal(len(re.findall(r"fclib, 3D, [24] contacts, 6 degrees of freedom; dominoes, step 5, "
                               r"island \d", solved)), 3, solved)
    check("3 solved to" in solved or solved.count(" solved ") >= 3, solved)
    expect(rigor, [*run, "5"], 4, stdout="",
           stderr="rigor: run: dominoes-step5-0.h5 exists; add -f (--overwrite) to replace it, or choose another name\n")
    expect(rigor, [*run, "5", "-f"], 0)
    # Dumping changes nothing of the run.
    plain = rigor.report("run", "dominoes", "count=3", "--duration", "0.1")
    os.mkdir("d.x")
    dumped = rigor.report("run", "dominoes", "count=3", "--duration", "0.1", "--threads", "2",
                          "--dump-problem", "24:d.x/p.h5")
    check_equal(plain["state_hash"], dumped["state_hash"], "hash of a run that dumps")
    check_equal(sorted(os.listdir("d.x")), ["p-0.h5", "p-1.h5", "p-2.h5"], "files with a name")
    expect(rigor, ["run", "tower", "count=2", "--duration", "0.1", "--dump-problem", "24:d.x/q"], 0,
           stderr="rigor: the contact problem of step 24 is in d.x/q-0\n")
    expect(rigor, ["run", "brick-stack", "--duration", "0.1", "--dump-problem", "1:d.x/planar.h5"], 0)
    expect(rigor, ["solve", "d.x/planar-0.h5"], 0, stdout="fclib, 2D, ")
    expect(rigor, ["run", "good.yaml", "--duration", "0.1", "--dump-problem", "2"], 0,
           stderr="rigor: note: step 2 has no contact problem to dump\n")
    expect(rigor, ["run", "tower", "count=2", "--duration", "0.1", "--dump-problem", "2:no/p.h5"], 4,
           stdout="", stderr="no/p-0.h5: ")


def test_heuristic(rigor):
    """--solver lp: how often the guesses of 1989 are right, beside forces that are exact all the same."""
    run = ["run", "brick-stack", "mu=0", "--method", "analytic", "--duration", "0.2"]
    lp = [*run, "--solver", "lp"]
    result = rigor(*lp)
    if "not built in" in result.stderr:
        print("skipped: lp is not built in")
        return
    check_equal((result.returncode, result.stderr), (0, ""), "a run by lp")
    check(re.search(r"\n    none does: right +\d+ +9\d\.\d{4} %\n", result.stdout), result.stdout)
    report, other = rigor.report(*lp), rigor.report(*run)
    check_equal(report["solver"], "lp", "solver")
    counts = report["heuristic"]
    check_equal(list(counts), ["problems", "empty_right", "predicted_right", "mispredicted",
                               "infeasible", "without_force", "with_friction", "fallbacks"], "counts")
    check_equal(sum(counts[name] for name in ("empty_right", "predicted_right", "mispredicted",
                                              "infeasible")), counts["problems"], "sum of the counts")
    check(counts["problems"] > 500, f"few problems: {counts}")
    check(counts["empty_right"] > 0.9 * counts["problems"], f"V = {{}} is seldom right: {counts}")
    check(counts["empty_right"] < counts["problems"], f"two contacts break at the beginning: {counts}")
    ledge = rigor.report("run", "ledge", "--solver", "lp", "--duration", "0.1")["heuristic"]
    check(ledge["predicted_right"] > 0, f"one contact breaks, as predicted (Figure 9): {ledge}")
    check_equal((counts["infeasible"], counts["with_friction"]), (0, 0), "counts of nothing")
    check(counts["fallbacks"] == report["fallbacks"] >= counts["mispredicted"], f"fallbacks: {counts}")
    check_equal(report["solver_failures"], 0, "failures")
    check(report["certificate"]["complementarity"] < 1e-9, "forces are not exact")
    check("heuristic" not in other, "counts of another solver")
    for name, value in other["measures"].items():
        check(abs(report["measures"][name] - value) < 1e-6, f"{name} by lp and by dantzig")
    counts = rigor.report("run", "block-stop", "--solver", "lp", "--duration", "0.05")["heuristic"]
    check(counts["problems"] == 0 < counts["with_friction"], f"friction: {counts}")
    expect(rigor, [*lp, "--out", "lp.h5"], 2, stdout="",
           stderr="rigor: run: --solver: lp does not go with --out, as a recording cannot name it; leave one out\n")
    expect(rigor, ["run", "tower", "--solver", "lp"], 2, stdout="",
           stderr="rigor: run: --solver: lp is for the contact forces of the method analytic; add "
                  "--method analytic\n")
    expect(rigor, [*run, "--dump-problem", "1"], 2, stdout="",
           stderr="rigor: run: --dump-problem: the method analytic has no problems with a form in "
                  "FCLIB; it goes with --method stepping\n")


def test_requirements(rigor):
    run = ["run", "tennis-racket", "--duration", "1", "--require"]
    expect(rigor, [*run, "momentum_error_rel<1e-9, closure_rel<=1e-9"], 0)
    expect(rigor, [*run, " momentum_error_rel < 1e-9 , closure_rel <= 1e-9 "], 0)
    expect(rigor, [*run, "closure_rel<0." + 48 * "0" + "1"], 1, stderr="broken")  # 63 characters
    result = expect(rigor, [*run, "closure_rel<1,momentum_error_rel<0", "--json"], 1,
                    stderr="rigor: requirement momentum_error_rel<0 broken at step 1: "
                           "momentum_error_rel = ")
    check_equal(json.loads(result.stdout)["steps"], 240, "the run goes on to its end")
    # The first step stays below, so that the run as a whole or a later step is the first to break.
    expect(rigor, [*run, "impacts>0"], 1, stderr="requirement impacts>0 broken at step 1: impacts = 0")
    expect(rigor, [*run, "min_gap_m>0"], 0,
           stderr="rigor: note: min_gap_m>0: there was nothing to measure, so nothing broke it\n")


CLOSING_WALLS = """\
rigor: 1
method: {name: stepping, step: 1/60}
duration: 0.5
bodies:
  - {name: left, shape: {box: [1, 4, 4]}, position: [-1.1, 0, 0], motion: kinematic, velocity: [0.8, 0, 0]}
  - {name: right, shape: {box: [1, 4, 4]}, position: [1.1, 0, 0], motion: kinematic, velocity: [-0.8, 0, 0]}
  - {name: ball, shape: {sphere: 0.5}, position: [0, 0, 0]}
"""


def test_bad_ends(rigor):
    """Walls that close on a body: there is no answer that keeps them apart, and the last line and the exit code
    say so. The problems have one with other gaps, and forces that press: they are solved, by another way."""
    with open("walls.yaml", "w") as file:
        file.write(CLOSING_WALLS)
    result = expect(rigor, ["run", "walls.yaml"], 1,
                    stderr='rigor: the run ends badly: at t = 0.5 s "left" and "ball" overlap by 0.3 m, 60 % of '
                           "the size of the smaller one, more than 5 %; take a smaller step (--step); "
                           "--accept-failures exits with 0\n")
    check("ends badly" in result.stderr.splitlines()[-1] and "not solved" not in result.stderr, result.stderr)
    figures = json.loads(expect(rigor, ["run", "walls.yaml", "--json"], 1).stdout)
    check(figures["fallbacks"] > 0 and figures["solver_failures"] == 0, figures)
    expect(rigor, ["run", "walls.yaml", "-q"], 1, stdout="", stderr="the run ends badly")
    expect(rigor, ["run", "walls.yaml", "--duration", "0.1"], 0)
    result = expect(rigor, ["run", "walls.yaml", "--accept-failures"], 0)
    check("ends badly" not in result.stderr, result.stderr)


SWINGING_PLATE = """\
rigor: 1
method: {name: METHOD, step: 1/240}
duration: 0.5
gravity: [0, 0, 0]
bodies:
  - name: plate
    shape: {box: [1, 1, 0.02]}
    motion: {kinematic: {oscillate: {amplitude: [0, 0, 0.2], frequency: FREQUENCY}}}
  - {name: ball, shape: {sphere: {radius: 0.05}}, density: 1000, position: [0, 0, HEIGHT]}
"""

TURNING_BLADE = """\
rigor: 1
method: {name: stepping, step: 1/240}
duration: 0.1
gravity: [0, 0, 0]
bodies:
  - {name: blade, shape: {box: [1, 0.04, 0.2]}, motion: kinematic, angular_velocity: [0, 0, "2*pi*20"]}
  - {name: ball, shape: {sphere: {radius: 0.05}}, density: 1000, position: [0.3, 0.3, 0], velocity: [0, -1, 0]}
"""

HEAP = """\
rigor: 1
method: {name: stepping, step: 1/240}
duration: 0.1
parameters: {a: 0.1}
bodies:
  - {name: floor, shape: {halfspace: {normal: [0, 0, 1]}}, motion: fixed}
  - {repeat: {i: 3, j: 3, k: 3}, name: "cube{i}{j}{k}", shape: {box: [a, a, a]}, density: 1000,
     position: ["2*a*(i-1)+0.1*a*k", "2*a*(j-1)+0.2*a*k", "a*(1+2*k)"],
     orientation: {axis: [1, "0.3*i", 1], degrees: "10+20*j+7*k"}}
"""

BENT_LIFT = """\
rigor: 1
method: {name: analytic, step: 1/240}
duration: 1.1
bodies:
  - {name: lift, shape: {box: [4, 1, 0.02]}, motion: {kinematic: {move: [0, 0, "table(t, 0, 0, 1, 1)"]}}}
  - {name: ball, shape: {sphere: {radius: 0.05}}, density: 1000, position: [0, 0, 0.06]}
"""

JUMPING_PLATE = """\
rigor: 1
method: {name: METHOD, step: 1/240}
duration: 1
gravity: [0, 0, 0]
bodies:
  - {name: plate, shape: {box: [1, 1, 0.02]}, motion: {kinematic: {move: [0, 0, "MOVE"]}}}
  - {name: ball, shape: {sphere: {radius: 0.05}}, density: 1000, position: [0, 0, 0.5]}
"""


def write_with(name, text, **values):
    for key, value in values.items():
        text = text.replace(key, str(value))
    with open(name, "w") as file:
        file.write(text)


def test_deep_overlaps(rigor):
    """What was deep in something at any time ends badly, however the run ends; so does what a prescribed
    motion passes through between the ends of steps."""
    within = 'where the prescribed motion of "plate" is not that which the step takes; take a smaller step'
    # At 120 Hz the plate stands still at the ends of all steps, at 80 Hz it is never seen near the ball, at
    # 30 Hz it strikes late.
    for frequency, height in ((120, 0.15), (80, 0.24), (30, 0.15)):
        for method, code in (("stepping", 1), ("analytic", 0)):
            write_with("plate.yaml", SWINGING_PLATE, METHOD=method, FREQUENCY=frequency, HEIGHT=height)
            result = expect(rigor, ["run", "plate.yaml", "-q"], code, stdout="")
            if code:
                line = result.stderr
                check(line.startswith("rigor: the run ends badly: at t = ") and within in line and
                      '"plate" and "ball" overlap by 0.0' in line, line)
    expect(rigor, ["run", "plate.yaml", "-q", "--method", "stepping", "--step", "1/7680"], 0)
    expect(rigor, ["run", "plate.yaml", "-q", "--method", "stepping", "--accept-failures"], 0, stderr="")

    # Worse in the middle than at the end.
    write_with("blade.yaml", TURNING_BLADE)
    expect(rigor, ["run", "blade.yaml", "-q"], 1, stdout="", stderr='"blade" and "ball" overlap by 0.00855 m, 17.1 %')
    write_with("heap.yaml", HEAP)
    expect(rigor, ["run", "heap.yaml", "-q"], 0, stderr="")
    expect(rigor, ["run", "heap.yaml", "a=0.001", "-q"], 1, stderr="overlap by 0.000136 m, 15.7 % of the size")
    expect(rigor, ["run", "heap.yaml", "a=0.00001", "-q"], 1, stderr="more than 5 %")

    # A table that stops while a ball lies on it: the forces of that instant are none.
    write_with("bent.yaml", BENT_LIFT)
    expect(rigor, ["run", "bent.yaml", "-q"], 1, stdout="",
           stderr="rigor: the run ends badly: in a step contact forces were off by 1.22e+04 times what was at "
                  "stake (complementarity), more than 1; --accept-failures exits with 0\n")
    expect(rigor, ["run", "bent.yaml", "-q", "--duration", "0.9"], 0, stderr="")

    # Jumps are errors in words, before and in the run; what is merely fast is followed.
    for method in ("stepping", "analytic", "penalty"):
        write_with("jump.yaml", JUMPING_PLATE, METHOD=method, MOVE="floor(t+0.4987)")
        words = 'the prescribed motion of body 0 "plate" jumps by 1 m at t = 0.5013'
        expect(rigor, ["check", "jump.yaml"], 3, stdout="", stderr=f"jump.yaml: {words}")
        expect(rigor, ["run", "jump.yaml", "-q"], 1, stdout="", stderr=f"rigor: {words}")
        write_with("ramp.yaml", JUMPING_PLATE, METHOD=method, MOVE="table(t, 0.5, 0, 0.501, 1)")
        expect(rigor, ["check", "ramp.yaml"], 0)
        expect(rigor, ["run", "ramp.yaml", "-q"], 0 if method == "analytic" else 1)


def test_recording(rigor):
    run = ["run", "tennis-racket", "--duration", "1", "--out", "a.h5"]
    expect(rigor, run, 0, stderr="", stdout="recording        a.h5\n")
    with open("a.h5", "rb") as file:
        before = file.read()
    expect(rigor, run, 4, stdout="",
           stderr="rigor: run: a.h5 exists; add -f (--overwrite) to replace it, --resume a.h5 to go on with it, or "
           "choose another name\n")
    with open("a.h5", "rb") as file:
        check_equal(file.read(), before, "the recording that was there")
    expect(rigor, [*run, "-f"], 0)
    lines = expect(rigor, ["export", "a.h5", "--csv", "-"], 0, stderr="").stdout.splitlines()
    check_equal(len(lines), 62, "lines of CSV")
    expect(rigor, ["export", "a.h5", "--csv", "a.csv"], 0, stderr="", stdout="")
    with open("a.csv") as file:
        check_equal(file.read().splitlines(), lines, "CSV in a file")
    check_equal(sorted(name for name in os.listdir(".") if name.startswith("a.")),
                ["a.csv", "a.h5"], "files")
    expect(rigor, ["export", "good.yaml", "--csv", "-"], 3, stdout="",
           stderr="rigor: good.yaml: is not a recording; of a scene, `rigor run good.yaml --out "
                  "FILE.h5` makes one\n")
    expect(rigor, ["export", "nothing.h5", "--csv", "-"], 3, stdout="",
           stderr="rigor: nothing.h5: cannot be read: No such file or directory\n")
    expect(rigor, ["export", "a.h5", "--csv", "no/where.csv"], 4, stdout="",
           stderr="rigor: no/where.csv: cannot be written: No such file or directory\n")
    expect(rigor, ["export", "a.h5", "--gltf", "no/where.glb"], 4, stdout="",
           stderr="rigor: no/where.glb: cannot be written: No such file or directory\n")
    expect(rigor, ["export", "good.yaml", "--gltf", "a.glb"], 3, stdout="",
           stderr="rigor: good.yaml: is not a recording; of a scene, `rigor run good.yaml --out "
                  "FILE.h5` makes one\n")
    check(not os.path.exists("a.glb"), "a file of an export that failed")
    expect(rigor, ["run", "--resume", "good.yaml"], 3, stdout="", stderr="is not a whole recording")
    expect(rigor, ["run", "tennis-racket", "--out", "no/where.h5"], 4, stdout="",
           stderr="rigor: no/where.h5: cannot be written: No such file or directory\n")
    # A finished one is at its end, and goes beyond it if it is told to.
    expect(rigor, ["run", "--resume", "a.h5"], 0, stdout="240 steps", stderr="resumed a.h5 at t = 1 s")
    longer = rigor.report("run", "--resume", "a.h5", "--duration", "2")
    whole = rigor.report("run", "tennis-racket", "--duration", "2")
    check_equal((longer["steps"], longer["state_hash"]), (480, whole["state_hash"]), "going on")


def content_of(path):
    with open(path, "rb") as file:
        return file.read()


def expect_untouched(paths, rigor, arguments, code, **texts):
    """A command that is refused and leaves these files as they were, and no others."""
    before, names = [content_of(path) for path in paths], sorted(os.listdir("."))
    expect(rigor, arguments, code, stdout="", **texts)
    for path, content in zip(paths, before):
        check(content_of(path) == content, f"rigor {' '.join(arguments)} changed {path}")
    check_equal(sorted(os.listdir(".")), names, f"files after rigor {' '.join(arguments)}")


def test_nothing_is_lost(rigor):
    """Commands that would destroy what they were given, and recordings that are not good."""
    expect(rigor, ["run", "tennis-racket", "--duration", "2", "--out", "g.h5"], 0)
    # The run must be possible before the old recording goes.
    expect_untouched(["g.h5"], rigor, ["run", "tennis-racket", "--duration", "1e300", "--out", "g.h5",
                                       "-f"], 3, stderr="more steps than can be counted")
    # The source of an export, by its name, another name, or its journal's.
    os.link("g.h5", "other.h5")
    os.symlink("g.h5", "soft.h5")
    os.link("g.h5", "h.new")
    for recording, csv in (("g.h5", "g.h5"), ("g.h5", "./g.h5"), ("g.h5", "other.h5"),
                           ("g.h5", "soft.h5"), ("g.h5", "g.h5.journal")):
        expect_untouched(["g.h5"], rigor, ["export", recording, "--csv", csv], 4,
                         stderr=f"rigor: {csv}: would overwrite the recording that is exported; "
                                "choose another name\n")
    # Where the export is made before it is whole, everything else stays as it is.
    with open("h.new-1", "w") as file:
        file.write("mine")
    kept = ["g.h5", "h.new", "h.new-1"]
    before, names = [content_of(name) for name in kept], sorted(os.listdir("."))
    expect(rigor, ["export", "h.new", "--csv", "h"], 0, stdout="")
    check(content_of("h").startswith(b"time,step,body,"), "an export beside others")
    os.remove("h")
    check_equal(sorted(os.listdir(".")), names, "files beside an export")
    check([content_of(name) for name in kept] == before, "what lies beside an export")
    os.remove("h.new-1")
    # The scene of a run.
    for name in ("s.yaml", "t.new", "t.journal", "t.journal.new"):
        with open(name, "w") as file:
            file.write(GOOD)
        out = name if name == "s.yaml" else "t"
        expect_untouched([name], rigor, ["run", name, "--out", out, "--overwrite"], 2,
                         stderr=f"rigor: run: --out: recording into {out} would overwrite the scene "
                                f"{name}; choose another name\n")
        os.remove(name)
    # A built-in scene is no file, whatever files there are.
    for _ in range(2):
        expect(rigor, ["run", "tennis-racket", "--duration", "0.1", "--out", "tennis-racket", "-f"], 0)
    os.remove("tennis-racket")
    # Going on to a time that is past, or never comes.
    expect_untouched(["g.h5"], rigor, ["run", "--resume", "g.h5", "--duration", "1"], 3,
                     stderr="rigor: g.h5: is already at t = 2 s, past a duration of 1 s; leave the "
                            "duration out or make it longer\n")
    expect_untouched(["g.h5"], rigor, ["run", "--resume", "g.h5", "--duration", "1e300"], 3,
                     stderr="rigor: g.h5: 1e+300 s in steps of ")
    expect(rigor, ["run", "--resume", "g.h5", "--duration", "2"], 0, stdout="480 steps")

    # A damaged frame in a recording that is otherwise good.
    whole = content_of("g.h5")
    damaged = bytearray(whole)
    lines = expect(rigor, ["export", "g.h5", "--csv", "-"], 0).stdout.splitlines()
    check(len(lines) > 100, "frames")
    damaged[len(damaged) // 2] ^= 1
    with open("d.h5", "wb") as file:
        file.write(damaged)
    for words in (["export", "d.h5", "--csv", "-"], ["run", "--resume", "d.h5"],
                  ["run", "--resume", "d.h5", "--duration", "3"]):
        expect_untouched(["d.h5"], rigor, words, 3, stderr="rigor: d.h5: is damaged: its bytes are "
                                                           "not those that were written\n")


def test_pipes(rigor):
    """Nobody waits for a pipe in place of a recording, and a signal ends who waits for a scene."""
    os.mkfifo("pipe.h5")
    for words in (["run", "--resume", "pipe.h5"], ["export", "pipe.h5", "--csv", "-"]):
        expect(rigor, words, 3, stdout="",
               stderr="rigor: pipe.h5: cannot be read: it is not a regular file\n")
    expect(rigor, ["run", "tennis-racket", "--duration", "1", "--out", "p.h5"], 0)
    os.mkfifo("p.h5.journal")
    expect(rigor, ["run", "--resume", "p.h5"], 4, stdout="",
           stderr="rigor: p.h5.journal: cannot be written: it is not a regular file\n")
    expect(rigor, ["export", "p.h5", "--csv", "-"], 0, stderr="")
    os.mkfifo("scene.yaml")
    process = rigor.start("run", "scene.yaml")
    time.sleep(0.2)
    check(process.poll() is None, "a scene comes from a pipe")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    check_equal(process.returncode, -signal.SIGTERM, "SIGTERM while it waits for the scene")


def test_pipes_within(rigor):
    """A file that is named by another file must be a regular one: nobody waits for a pipe."""
    os.mkfifo("in.pipe.yaml")
    os.mkfifo("in.pipe.stl")
    os.mkfifo("in.pipe.xml")
    os.mkfifo("in.pipe.csv")
    files = {
        "mesh.yaml": "rigor: 1\nbodies: [{name: b, shape: {hull: {file: in.pipe.stl}}}]\n",
        "mesh.urdf": '<robot name="r"><link name="l"><collision><geometry><mesh filename="in.pipe.stl"/>'
                     "</geometry></collision></link></robot>\n",
        "include.xml": '<mujoco><include file="in.pipe.xml"/></mujoco>\n',
        "table.yaml": "study: 1\nscene: dominoes\ntable: in.pipe.csv\nduration: 0.1\n",
        "study.yaml": "study: 1\nscene: in.pipe.yaml\nparameters: {count: [2, 3]}\nduration: 0.1\n",
    }
    for name, text in files.items():
        with open(name, "w") as file:
            file.write(text)
    sentence = "is not a regular file; must be a readable file"
    for words, pipe in ((["run", "mesh.yaml"], "in.pipe.stl"), (["run", "mesh.urdf"], "in.pipe.stl"),
                        (["run", "include.xml"], "in.pipe.xml"), (["sweep", "table.yaml"], "in.pipe.csv"),
                        (["sweep", "study.yaml"], "in.pipe.yaml")):
        process = rigor.start(*words)
        try:
            _, stderr = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            check(False, f"{words} waits for {pipe}")
        check_equal(process.returncode, 3, f"{words}: {stderr}")
        check(f"{pipe}: {sentence}" in stderr, f"{words}: {stderr}")
    os.mkfifo("in-pipe.yaml")
    process = rigor.start("run", "in-pipe")
    _, stderr = process.communicate(timeout=60)
    check('did you mean "in-pipe.yaml"?' in stderr, stderr)


def test_blow_up(rigor):
    """The scene is good, but the run cannot go on."""
    with open("blow.yaml", "w") as file:
        file.write("rigor: 1\ngravity: [1.0e50, 0, 0]\nduration: 10\n"
                   "method: {name: stepping, step: 1}\nbodies: [{name: b, shape: {sphere: 1}}]\n")
    for words in ([], ["--out", "blow.h5"]):
        expect(rigor, ["run", "blow.yaml", *words], 1, stdout="",
               stderr='rigor: body 0 "b": its motion became infinite or not a number')


def test_json_text(rigor):
    """JSON is UTF-8 whatever the names are."""
    for name, text in ((b"\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e", "\u00e9\u20ac\U0001d11e"),
                       (b"a\xff\xc3", "a\ufffd\ufffd"),
                       (b"\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82", 11 * "\ufffd")):
        with open(name + b".yaml", "w") as file:
            file.write(GOOD)
        result = subprocess.run([os.fsencode(rigor.path), b"run", name + b".yaml", b"--json"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check_equal(result.returncode, 0, f"run of {name}: {result.stderr}")
        check_equal(json.loads(result.stdout.decode("utf-8"))["scene"], text, f"{name} in JSON")


def heed_interrupts():
    """Shells start what they run in the background with SIGINT ignored, and tests inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_full_disk(rigor):
    """A limit on the size of files stands for it: what is there stays good and can be resumed."""
    whole = rigor.report("run", *LONG)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000000, 2000000))

    result = expect(rigor, ["run", *LONG, "--out", "full.h5", "--checkpoint", "0"], 4, stdout="",
                    stderr="rigor: full.h5.journal: cannot be written: File too large\n",
                    preexec_fn=limit)
    check("continue with `rigor run --resume full.h5`" in result.stderr, result.stderr)
    expect(rigor, ["export", "full.h5", "--csv", "-"], 0, stderr="note: full.h5 is not finished")
    report = rigor.report("run", "--resume", "full.h5")
    check_equal(report["state_hash"], whole["state_hash"], "state hash after a full disk")
    check(not os.path.exists("full.h5.journal") and not os.path.exists("full.h5.new"), "leftovers")


def test_stop_within_a_step(rigor):
    """A signal does not wait for the end of a step, nor does the limit of time; the step is undone."""
    endless = ["tower", "count=100", "--method", "analytic", "--step", "100", "--duration", "100"]
    for words, number, name in ((endless, signal.SIGTERM, "SIGTERM"), (endless, signal.SIGINT, "SIGINT"),
                                (endless + ["--out", "within.h5"], signal.SIGTERM, "SIGTERM"),
                                (endless + ["--time-limit", "1"], None, "its time limit")):
        process = rigor.start("run", *words, "--quiet", preexec_fn=heed_interrupts)
        time.sleep(1 if number else 0)
        if number:
            process.send_signal(number)
        try:
            stderr = process.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            check(False, f"{words}: {name} waits for the end of a step")
        check_equal(process.returncode, 128 + (number or signal.SIGALRM), f"{name}: {stderr}")
        check(f"rigor: stopped by {name} at t = 0 s" in stderr, stderr)
    expect(rigor, ["export", "within.h5", "--csv", "-"], 0)
    expect(rigor, ["run", "--resume", "within.h5", "--time-limit", "0.5", "--quiet"], 142)
    for text in ("0", "-1", "nan", "1e300"):
        expect(rigor, ["run", "tower", "--time-limit", text], 2, stdout="",
               stderr=f"rigor: run: --time-limit: '{text}' is not a number of seconds above 0, up to 1e+09")


def test_signals(rigor):
    slow = [*LONG[:2], "--duration", "2.5", "--step", "0.0005"]
    undisturbed = rigor.report("run", *slow)
    for number, name in ((signal.SIGTERM, "SIGTERM"), (signal.SIGINT, "SIGINT")):
        path = f"{name}.h5"
        process = rigor.start("run", *slow, "--out", path,
                              preexec_fn=heed_interrupts)
        while not os.path.exists(path + ".journal"):
            check(process.poll() is None, "the run ended before the signal")
            time.sleep(0.002)
        time.sleep(0.05)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=300)
        check_equal(process.returncode, 128 + number, f"exit code after {name}")
        check_equal(stdout, "", "no report of half a run")
        check(re.search(rf"^rigor: stopped by {name} at t = [0-9.e-]+ s; continue with "
                        rf"`rigor run --resume {path}`$", stderr, re.M), stderr)
        check(not os.path.exists(path + ".journal"), "a journal is left")
        expect(rigor, ["export", path, "--csv", "-"], 0, stderr="is not finished")
        report = rigor.report("run", "--resume", path)
        check_equal(report["state_hash"], undisturbed["state_hash"], f"state hash after {name}")
        check_equal(report["steps"], 5000, "steps")
    coarse = rigor.report("run", *LONG[:2], "--duration", "2.5")
    check(coarse["state_hash"] != undisturbed["state_hash"], "the hash depends on the step")
    # One that was ignored when the process started stays so.
    process = rigor.start("run", *slow, "--json", "--out", "ignored.h5",
                          preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN))
    while not os.path.exists("ignored.h5.journal"):
        check(process.poll() is None, "the run ended before the signal")
        time.sleep(0.002)
    process.send_signal(signal.SIGTERM)
    stdout, stderr = process.communicate(timeout=300)
    check_equal(process.returncode, 0, f"exit code with SIGTERM ignored: {stderr}")
    check_equal(json.loads(stdout)["steps"], 5000, "steps with SIGTERM ignored")


def test_distance(rigor):
    """Two shapes close up: closed forms, files, and what is refused."""
    report = json.loads(rigor("distance", "box:1,1,1", "box:2,2,2", "--pose", "3,0,0.5", "--json").stdout)
    check_equal((report["r"], report["gap_m"], report["distance_m"]), (2, 1.5, 1.5), "boxes apart")
    check_equal(report["normal"], [1, 0, 0], "normal")
    check(max(report["certificate"].values()) <= 1e-12, f"certificate {report['certificate']}")
    report = json.loads(rigor("distance", "box:1,1,1", "box:1,1,1", "--pose", "0.3,0.2,1,0,0,1,45",
                              "--json").stdout)
    check(abs(report["gap_m"]) < 1e-12 and len(report["points"]) >= 4, f"turned boxes: {report}")
    die = ("distance", "box:4,4,0.002", "box:0.016,0.016,0.016", "--pose", "1,0.3,0.004", "--json")
    report = json.loads(rigor(*die).stdout)
    check(abs(report["gap_m"] + 0.005) < 1e-15, f"a die in a sheet: {report['gap_m']}")
    check_equal(report["normal"], [0, 0, 1], "its way out")
    report = json.loads(rigor(*die, "--metric", "ratio").stdout)
    check(abs(report["gap_m"] + 1.008) < 1e-14, f"by the ratio metric: {report['gap_m']}")
    result = rigor("distance", "box:1,1,1", "cylinder:1,1")
    check("smallest translation" in result.stdout, f"an overlap in {result.stdout}")
    with open("tetra.obj", "w") as file:
        file.write("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    result = rigor("distance", "tetra.obj", "sphere:0.5", "--pose", "2,0,0")
    check_equal(result.returncode, 0, "a mesh and a sphere")
    for words in ("ratio metric", "certificate", "Euclidean distance", "closest on A", "contact points"):
        check(words in result.stdout, f"{words!r} missing in {result.stdout}")
    check("0.5 m" in result.stdout, "the distance")
    for arguments, code, words in [
            (["box:1,1", "sphere:1"], 2, "box takes 3 numbers"),
            (["sphere:1"], 2, "two shapes"),
            (["sphere:1", "sphere:1", "--metric", "size"], 2, "neither depth nor ratio"),
            (["sphere:1", "sphere:1", "--pose", "1,2"], 2, "X,Y,Z"),
            (["sphere:1", "sphere:1", "--pose", "0,0,0,0,0,0,45"], 2, "no length"),
            (["sphere:-1", "sphere:1"], 3, "sphere"),
            (["nowhere.obj", "sphere:1"], 3, "nowhere.obj")]:
        result = rigor("distance", *arguments)
        check_equal(result.returncode, code, f"distance {arguments}: {result.stderr}")
        check(words in result.stderr, f"{words!r} missing in {result.stderr}")
    check_equal(rigor("bench").returncode, 2, "bench without a part")
    result = rigor("bench", "narrow", "--duration", "1")
    check_equal((result.returncode, result.stderr), (2, "rigor: bench: --duration goes with analytic: rigor bench analytic --duration 0.5\n"),
                "an option of another part")
    result = rigor("bench", "analytic", "--duration", "0.02")
    check_equal(result.returncode, 0, f"bench analytic: {result.stderr}")
    for method in ("stepping", "analytic"):
        rows = re.findall(rf"^(brick-stack|dominoes count=20|pile count=20) +{method} +0\.02", result.stdout,
                          re.M)
        check_equal(len(rows), 3, f"scenes by {method} in {result.stdout}")


def test_progress(rigor):
    """On a terminal: a bar with the time that is left, which goes away; not with --quiet."""
    for words in ([], ["--quiet"]):
        try:
            terminal, other = pty.openpty()
        except OSError as error:  # a chroot without /dev/pts
            print(f"skipped: the progress bar needs a terminal, and there is none: {error}")
            return
        duration = "1" if words else "10"  # the first is interrupted
        process = subprocess.Popen([rigor.path, "run", *LONG[:2], "--duration", duration, "--step",
                                    "0.0002", *words], stdout=subprocess.DEVNULL, stderr=other,
                                   preexec_fn=heed_interrupts)
        os.close(other)
        text, stopped = b"", bool(words)
        try:
            while True:
                text += os.read(terminal, 65536)
                if b"left" in text and not stopped:
                    process.send_signal(signal.SIGINT)
                    stopped = True
        except OSError:  # the other end is closed
            pass
        os.close(terminal)
        if words:
            check_equal((process.wait(), text), (0, b""), "a bar in spite of --quiet")
            continue
        check(re.search(rb"\r\[[#.]{30}\] +\d+ %  \d+ of 50000 steps, [0-9.e+]+ a second, [0-9a-z ]+ left\x1b\[K", text),
              f"progress: {text[:200]}")
        check_equal(process.wait(), 130, "exit code")
        check(text.rindex(b"\r\x1b[K") > text.rindex(b"left"), "the bar stays")


def main():
    rigor = Command(sys.argv[1])
    with scratch_directory() as directory:
        os.chdir(directory)
        for test in (test_help, test_usage, test_scenes_and_check, test_mixed_up, test_mistakes, test_columns,
                     test_numbers, test_warnings, test_report, test_overlaps,
                     test_contacts, test_dump, test_heuristic, test_requirements,
                     test_bad_ends, test_deep_overlaps, test_recording, test_nothing_is_lost, test_pipes,
                     test_pipes_within, test_blow_up,
                     test_json_text, test_full_disk, test_signals, test_stop_within_a_step, test_distance,
                     test_progress):
            test(rigor)
            print(f"{test.__name__}: good", flush=True)


main()
