#!/usr/bin/python3
"""test_run_files.py COMMAND SOURCE-DIR: one habit of all commands that write files, and whole numbers.

A file that is there stays as it is, byte for byte; the command says so, names -f and --overwrite, and exits
with 4 before it computes anything. With either spelling it is replaced. The help of every command whose help
says that it writes a FILE has the option."""
import os
import re
import shutil
import sys

from record_script_support import Command, check, check_equal, expect, scratch_directory

STUDY = "study: 1\nscene: incline\nduration: 0.05\nparameters: {mu: [0.3, 0.5]}\n"
MESH = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
# What writes which file; those that need more than the command (gnuplot, Chromium, a browser's page) may fail
# then with 1 or 4, but not because of the file.
OUTPUTS = [
    (["run", "tower", "count=2", "--duration", "0.1", "--out"], "a.h5"),
    (["run", "tower", "count=2", "--duration", "0.1", "--dump-problem", "5:{}"], "p-0.h5"),
    (["new"], "first.yaml"),
    (["check", "mesh.obj", "--repair"], "mended.obj"),
    (["convert", "scene.yaml"], "converted.yaml"),
    (["decompose", "mesh.obj", "--out"], "parts.yaml"),
    (["export", "run.h5", "--csv"], "bodies.csv"),
    (["export", "run.h5", "--contacts-csv"], "contacts.csv"),
    (["export", "run.h5", "--events-csv"], "events.csv"),
    (["export", "run.h5", "--impulses-csv"], "impulses.csv"),
    (["export", "run.h5", "--joints-csv"], "joints.csv"),
    (["export", "run.h5", "--loads-csv"], "loads.csv"),
    (["export", "run.h5", "--certificate-csv"], "certificate.csv"),
    (["export", "run.h5", "--gltf"], "run.glb"),
    (["export", "run.h5", "--usda"], "run.usda"),
    (["export", "run.h5", "--html"], "run.html"),
    (["export", "tower", "--live", "--html"], "live.html"),
    (["export", "run.h5", "--mp4"], "run.mp4"),
    (["strip", "run.h5", "--at", "0", "--out"], "run.svg"),
    (["plot", "table.csv", "--x", "time", "--y", "pz", "--out"], "plot.svg"),
    (["compare", "tower", "count=2", "--duration", "0.05", "--csv"], "compare.csv"),
    (["converge", "tower", "count=2", "--steps", "0.02,0.01", "--duration", "0.1", "--plot"], "converge.svg"),
    (["solve", "problem.h5", "--out"], "forces.txt"),
    (["solve", "problem.h5", "--write"], "problem-again.h5"),
    (["sweep", "study.yaml", "--out"], "sweep.csv"),
    (["sweep", "study.yaml", "--out", "made.csv", "--page"], "made.html"),
    (["bench", "depth", "--most", "20", "--plot"], "depth.svg"),
    (["bench", "engines", "tower", "count=2", "--duration", "0.02", "--engines", "rigor", "--csv"], "engines.csv"),
    (["bench", "engines", "tower", "count=2", "--duration", "0.02", "--engines", "rigor", "--record"], "stages.csv"),
]
NEEDS_MORE = ("--html", "--mp4", "--out", "--plot", "--page")  # of export, strip, plot and others


def command_line(arguments, name):
    """The name is the last argument, or stands in it (of --dump-problem, which adds the island's number)."""
    if "{}" in arguments[-1]:
        return [*arguments[:-1], arguments[-1].format(name.replace("-0", ""))]
    return [*arguments, name]


def read(name):
    with open(name, "rb") as file:
        return file.read()


def check_habit(rigor):
    for arguments, name in OUTPUTS:
        line = command_line(arguments, name)
        with open(name, "wb") as file:
            file.write(b"mine")
        result = expect(rigor, line, 4, f"{name} exists; add -f (--overwrite) to replace it")
        check_equal(read(name), b"mine", f"{line}: what is there")
        check_equal(result.stdout, "", f"{line}: standard output")
        for spelling in ("-f", "--overwrite"):
            with open(name, "wb") as file:
                file.write(b"mine")
            result = rigor(*line, spelling)
            check("exists" not in result.stderr, f"{line} {spelling}: {result.stderr}")
            if result.returncode == 0:
                check(read(name) != b"mine", f"{line} {spelling}: nothing was written")
            else:
                check(line[-2] in NEEDS_MORE, f"{line} {spelling}: exit {result.returncode}: {result.stderr}")


def check_pictures(rigor):
    os.mkdir("pictures")
    with open("pictures/frame-00001.png", "wb") as file:
        file.write(b"mine")
    result = rigor("export", "run.h5", "--png", "pictures")
    if "Chromium" not in result.stderr and "page" not in result.stderr:
        check_equal(result.returncode, 4, result.stderr)
        check("-f (--overwrite)" in result.stderr, result.stderr)
    check_equal(read("pictures/frame-00001.png"), b"mine", "pictures")


def check_not_files(rigor):
    """Standard output and devices are no files that could be lost."""
    expect(rigor, ["export", "run.h5", "--csv", "-"], 0, stderr="")
    expect(rigor, ["compare", "tower", "count=2", "--duration", "0.05", "--csv", "/dev/null"], 0)


def check_help(rigor):
    """-f is in the help wherever a FILE is written, and completed by the shells."""
    commands = set(re.findall(r"^  ([a-z]+) ", expect(rigor, ["--help"], 0).stdout, re.M)) - {"rigor", "help"}
    names = sorted({arguments[0] for arguments, _ in OUTPUTS})
    check(set(names) <= commands, f"{names} of {commands}")
    for name in [[name] for name in names if name != "bench"] + [["bench", "engines"], ["bench", "scale"],
                                                                ["bench", "depth"]]:
        text = expect(rigor, [*name, "--help"], 0).stdout
        check(re.search(r"^  -f, --overwrite +\S", text, re.M), f"{name}: no -f in the help")
    writes = re.compile(r"--(out|csv|html|gltf|mp4|plot|page|write|repair)[ ,]")
    for name in commands - set(names):
        text = expect(rigor, [name, "--help"], 0).stdout
        options = text.split("\nOptions", 1)[-1].split("\n\n")[0]
        check(not writes.search(options) or name == "view", f"{name} writes a file; this test does not know which")
    for shell in ("bash", "zsh", "fish"):
        text = expect(rigor, ["completion", shell], 0).stdout
        check(text.count("overwrite") >= len(names) - 1, f"{shell}: overwrite is completed {text.count('overwrite')} times")


def check_sweep(rigor):
    """--record and --page make the sweep first; recordings stay, too."""
    for more in (["--record", "1"], ["--page", "one.html"]):
        for name in ("one.csv", "one.h5"):
            if os.path.exists(name):
                os.remove(name)
        shutil.rmtree("one.runs", ignore_errors=True)
        expect(rigor, ["sweep", "study.yaml", "--out", "one.csv", *more], 0)
        check_equal(read("one.csv").count(b"\n"), 3, f"{more}: lines of the table")
    table = read("one.csv")
    expect(rigor, ["sweep", "study.yaml", "--out", "one.csv", "--record", "0", "--page", "two.html"], 0)
    recording = read("one.runs/0.h5")
    expect(rigor, ["sweep", "study.yaml", "--out", "one.csv", "--record", "0-1"], 4,
           "one.runs/0.h5 exists; add -f (--overwrite) to replace it")
    check(not os.path.exists("one.runs/1.h5"), "a recording was made")
    check_equal(read("one.runs/0.h5"), recording, "the recording")
    expect(rigor, ["sweep", "study.yaml", "--out", "one.csv", "--record", "0-1", "-f"], 0)
    check(read("one.runs/0.h5") != recording, "the recording was not replaced")
    check_equal(read("one.csv"), table, "the table")
    os.remove("one.csv")
    for more in (["--status"], ["--shard", "0/2"]):
        expect(rigor, ["sweep", "study.yaml", "--out", "one.csv", "--record", "0", "-f", *more], 3,
               "there is no table yet, and --record needs it")
    expect(rigor, ["sweep", "study.yaml", "--out", "none.csv", "--record", "7"], 2, "is not a list of runs from 0 to 1")
    check(not os.path.exists("none.csv"), "a sweep was made for a list that makes no sense")


def check_whole_numbers(rigor):
    for arguments, most in ((["run", "tower", "--threads"], 1024), (["compare", "tower", "--threads"], 1024),
                            (["converge", "tower", "--steps", "0.1,0.2", "--threads"], 1024),
                            (["view", "tower", "--threads"], 1024), (["bench", "scale", "--threads"], 1024),
                            (["sweep", "study.yaml", "--jobs"], 256), (["solve", "problem.h5", "--repeat"], 1000000),
                            (["solve", "problem.h5", "--iterations"], 4000000000),
                            (["decompose", "mesh.obj", "--parts"], 1000000)):
        for value in ("0", "-1", "2.5", "many", str(most + 1)):
            result = expect(rigor, [*arguments, value], 2)
            check_equal(result.stderr, f"rigor: {arguments[0]}: {arguments[-1]}: '{value}' is not a whole number from 1 "
                        f"to {most}\n", f"{arguments}")


def check_missing(rigor):
    """What is neither a file nor built in: said so, with where to look."""
    expect(rigor, ["view", "nofile", "--no-browser"], 3, "rigor: nofile: there is no such file, and no built-in "
           "scene of that name; `rigor scenes` lists those\n")
    expect(rigor, ["view", "towr", "--no-browser"], 3, 'did you mean "tower"?')
    expect(rigor, ["run", "nofile"], 3, "rigor: nofile: there is no such file, and no built-in scene of that name; "
           "`rigor scenes` lists those\n")


def main():
    rigor, source = Command(sys.argv[1]), os.path.abspath(sys.argv[2])
    check(os.path.isdir(source), source)
    with scratch_directory() as directory:
        os.chdir(directory)
        for name, text in (("study.yaml", STUDY), ("mesh.obj", MESH),
                           ("scene.yaml", "bodies: [{name: a, shape: {sphere: 1}}]\n")):
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)
        expect(rigor, ["run", "tower", "count=2", "--duration", "0.1", "--dump-problem", "5:problem.h5"], 0)
        os.rename("problem-0.h5", "problem.h5")
        expect(rigor, ["run", "double-pendulum", "--duration", "0.1", "--out", "run.h5"], 0)
        expect(rigor, ["export", "run.h5", "--csv", "table.csv"], 0)
        expect(rigor, ["sweep", "study.yaml", "--out", "made.csv"], 0)
        check_habit(rigor)
        check_pictures(rigor)
        check_not_files(rigor)
        check_help(rigor)
        check_sweep(rigor)
        check_whole_numbers(rigor)
        check_missing(rigor)


if __name__ == "__main__":
    main()
