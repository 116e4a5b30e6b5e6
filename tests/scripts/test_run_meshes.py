#!/usr/bin/python3
"""`rigor decompose` and `rigor check` of mesh files: figures, what is written reads back and runs, bad
triangles by name, mending, messages."""
import json
import os
import sys

from record_script_support import Command, check, check_equal, expect, scratch_directory

CUBE = """v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 0 0 1
v 1 0 1
v 1 1 1
v 0 1 1
f 4 3 2 1
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
"""
LAST = "f 4 1 5 8\n"


def write(name, text):
    with open(name, "w") as file:
        file.write(text)
    return name


def test_decompose(rigor, data):
    mesh = os.path.join(data, "l_prism.obj")
    figures = json.loads(expect(rigor, ["decompose", mesh, "--json", "--out", "l.yaml"], 0).stdout)
    check_equal((figures["parts"], figures["notches"], figures["cuts"]), (2, 1, 1), "an L")
    check(figures["error"] < 1e-12 and abs(figures["volume"] - 3) < 1e-12, f"figures {figures}")
    check(figures["distance_least"] <= 1e-12 and figures["distance_most"] <= 2e-3, f"distance {figures}")
    one = json.loads(expect(rigor, ["decompose", mesh, "--parts", "1", "--json"], 0).stdout)
    check(abs(one["error"] - 0.5 / 3) < 1e-12, "the hull of an L")
    check(one["distance_least"] <= 0.5 + 1e-9 <= one["distance_most"] + 2e-9, "0.5 m beyond an L")
    # What is written is a scene, whose body has the mass of the mesh and stays where it is put.
    expect(rigor, ["run", "l.yaml", "--duration", "0.1", "--require", "max_penetration_m<1e-9"], 0)
    check_equal(expect(rigor, ["decompose", mesh, "--out", "l.yaml"], 4).stderr,
                "rigor: decompose: l.yaml exists; add -f (--overwrite) to replace it, or choose another name\n", "what is there stays")
    expect(rigor, ["decompose", mesh, "--out", "l.obj", "-f"], 0)
    with open("l.obj") as file:
        lines = file.read().splitlines()
    check_equal([line for line in lines if line.startswith("g ")], ["g part0", "g part1"], "groups")
    expect(rigor, ["decompose", os.path.join(data, "cube_open.stl")], 3, stderr="3 open")
    expect(rigor, ["decompose", "not-there.obj"], 3, stderr="not-there.obj")


def test_check(rigor):
    write("cube.obj", CUBE + LAST)
    expect(rigor, ["check", "cube.obj"], 0, stdout="closed, nothing wrong")
    write("open.obj", CUBE + "f 1 1 2\n")
    text = expect(rigor, ["check", "open.obj"], 3).stdout
    for part in ("1 degenerate: leave it out\n  triangle 10 at (0, 0, 0)", "4 open edges",
                 "triangle 1 at (0, 0.5, 0)"):
        check(part in text, f"{part!r} is not in {text!r}")
    text = expect(rigor, ["check", "open.obj", "--repair", "mended.obj"], 0).stdout
    check("1 degenerate and 0 duplicate triangles left out, 0 turned round, 1 holes closed with 4 triangles"
          in text, text)
    expect(rigor, ["check", "mended.obj"], 0, stdout="closed, nothing wrong")
    check_equal(expect(rigor, ["check", "open.obj", "--repair", "mended.obj"], 4).stderr,
                "rigor: check: mended.obj exists; add -f (--overwrite) to replace it, or choose another name\n", "what is there stays")
    expect(rigor, ["check", "open.obj", "--repair", "mended.obj", "--overwrite"], 0)
    write("nan.obj", CUBE.replace("v 1 1 1", "v 1 nan 1"))
    expect(rigor, ["check", "nan.obj"], 3, stderr="nan.obj:7:5")
    expect(rigor, ["check", write("empty.stl", "")], 3, stderr="the file is empty; must be OBJ, STL, PLY or glTF")
    expect(rigor, ["check", "cube.obj", "cube.obj", "--repair", "x.obj"], 2, stderr="one mesh file")


def test_equal_faces(rigor):
    """Any number of faces in one place: minutes if each looked at each other one, the limit of the test."""
    count = 400_000
    write("equal.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n" + count * "f 1 2 3\n")
    found = expect(rigor, ["check", "equal.obj"], 3).stdout
    check(f"{count - 1} duplicates" in found, found)
    # A face that goes through them crosses one place.
    write("crossed.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.2 0.2 -1\nv 0.2 0.2 1\nv 2 2 0\n" +
          9 * "f 1 2 3\n" + "f 4 5 6\n")
    found = expect(rigor, ["check", "crossed.obj"], 3).stdout
    check("1 crossing" in found and "8 duplicates" in found, found)


def test_depth(rigor):
    text = expect(rigor, ["bench", "depth", "--most", "60"], 0).stdout
    check("crossover" in text, text)
    rows = [line.split() for line in text.splitlines()[1:4]]
    check(all(float(row[4]) < 1e-9 for row in rows), "two exact depths are the same")


def main():
    rigor = Command(os.path.abspath(sys.argv[1]))
    data = os.path.abspath(sys.argv[2])
    with scratch_directory() as name:
        os.chdir(name)
        test_decompose(rigor, data)
        test_check(rigor)
        test_equal_faces(rigor)
        test_depth(rigor)
        os.chdir("/")


main()
