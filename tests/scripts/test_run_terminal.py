#!/usr/bin/python3
"""test_run_terminal.py COMMAND: names from files on their way to a terminal and to a spreadsheet.

A scene, a robot, a recording and a problem whose names try to command the terminal (set its title, clear it,
move the cursor, C1 controls) and the spreadsheet (formulas) go through the commands; what is printed has no
control character but line breaks and tabs, also where it is an error or a file's own name, and no cell of
CSV begins a formula."""
import csv
import io
import json
import os
import sys

from record_script_support import Command, check, check_equal, expect, scratch_directory

TITLE = "\x1b]0;owned\x07"  # sets the title of xterm
HOSTILE = f"{TITLE}\x1b[2J\r\x08\x9b31m\x7f"
SCENE = {
    "gravity": [0, 0, -9.81], "duration": 0.1, "method": {"name": "stepping", "step": 0.01},
    "materials": {f"steel{HOSTILE}": {"friction": 0.4}},
    "bodies": [
        {"name": f"floor{HOSTILE}", "motion": "fixed", "shape": {"halfspace": {}}},
        {"name": f"=1+1{HOSTILE}", "shape": {"box": [1, 1, 1]}, "position": [0, 0, 0.6], "material": f"steel{HOSTILE}"},
        {"name": f"ball{HOSTILE}", "shape": {"sphere": 0.2}, "position": [2, 0, 0.2]},
    ],
    "joints": [{"name": f"hinge{HOSTILE}", "kind": "hinge", "bodies": ["world", f"=1+1{HOSTILE}"],
                "frame_a": {"position": [0, 0, 0.6]}}],
}


def is_control(character):
    return (ord(character) < 0x20 and character not in "\n\t") or 0x7f <= ord(character) <= 0x9f


def look(rigor, *arguments):
    """Runs it, whatever it says, and looks at every character."""
    result = rigor(*arguments)
    check(result.returncode in (0, 1, 2, 3, 4), f"{arguments}: {result.returncode}: {result.stderr}")
    for name, text in (("stdout", result.stdout), ("stderr", result.stderr)):
        found = [hex(ord(character)) for character in text if is_control(character)]
        check(not found, f"rigor {arguments[0]}: {name} has control characters {found[:8]}: {text!r:.600}")
    return result


def write(directory, name, content):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(content if isinstance(content, str) else json.dumps(content))
    return path


def check_scene(rigor, directory):
    scene, recording = write(directory, "scene.json", SCENE), os.path.join(directory, f"scene{TITLE}.h5")
    seen = look(rigor, "check", scene)
    look(rigor, "check", scene, "--json")
    seen = look(rigor, "run", scene, "--out", recording, "--profile")
    check_equal(seen.returncode, 0, f"run: {seen.stderr}")
    look(rigor, "run", scene, "--json")
    look(rigor, "run", scene, "--method", "analytic", "--dump-problem", f"1:{directory}/{TITLE}.h5")
    for more in ([], ["--body", "bell"], ["--body", f"ball{HOSTILE}"]):
        seen = look(rigor, "explain", recording, *more)
    check("\\x1b]0;owned\\x07" in seen.stdout, f"explain: {seen.stdout}")
    for table in ("csv", "contacts-csv", "events-csv", "impulses-csv", "joints-csv", "loads-csv", "certificate-csv"):
        look(rigor, "export", recording, f"--{table}", "-")
    look(rigor, "strip", recording)
    look(rigor, "compare", scene, "--steps", "0.01,0.005")
    look(rigor, "run", recording + "none")
    look(rigor, "view", recording + "none", "--no-browser")
    look(rigor, "distance", scene, f"ball{HOSTILE}", f"=1+1{HOSTILE}")
    look(rigor, "convert", scene, "--out", "-")
    look(rigor, "convert", scene, "--to", "urdf")
    look(rigor, HOSTILE)
    look(rigor, "run", "tower", f"--{HOSTILE}")
    look(rigor, "run", "tower", f"{HOSTILE}=1")
    return recording


def check_mistakes(rigor, directory):
    """Keys, values, names that do not exist, in YAML, JSON and XML: all of it is quoted in messages."""
    for name, text in (
            ("key.json", {"bodies": [{HOSTILE: 1}]}),
            ("word.json", {"bodies": [{"name": "a", "motion": HOSTILE, "shape": {"sphere": 1}}]}),
            ("kind.json", {"bodies": [{"name": "a", "shape": {HOSTILE: 1}}]}),
            ("number.json", {"duration": HOSTILE}),
            ("body.json", {"bodies": [], "joints": [{"kind": "hinge", "bodies": ["world", HOSTILE]}]}),
            ("twice.json", {"bodies": [{"name": HOSTILE, "shape": {"sphere": 1}}] * 2}),
            ("mesh.json", {"bodies": [{"name": "a", "shape": {"mesh": {"file": HOSTILE}}}]}),
            ("text.yaml", "bodies: [}"),
            ("robot.urdf", '<robot name="r"><link name="a\x9b"/><joint name="\x9b31m" type="\x9b"/></robot>')):
        for command in ("check", "run"):
            result = look(rigor, command, write(directory, name, text))
            check(result.returncode == 3, f"{name}: exit {result.returncode}: {result.stderr}")


def check_csv(rigor, recording):
    """No cell begins a formula; numbers do as before; plot finds the body by its own name."""
    for table in ("csv", "contacts-csv", "joints-csv"):
        text = expect(rigor, ["export", recording, f"--{table}", "-"], 0).stdout
        for row in csv.reader(io.StringIO(text)):
            for cell in row:
                try:
                    float(cell)
                except ValueError:
                    check(not cell.startswith(tuple("=+-@\t\r")), f"{table}: a cell is {cell!r}")
        check(("'=1+1" in text) == (table != "contacts-csv"), f"{table}: what is guarded: {text[:400]}")


def check_plot(rigor, directory):
    """The apostrophe is of the file, not of the name."""
    scene = write(directory, "plain.json", {"duration": 0.1, "bodies": [{"name": "=1+1", "shape": {"sphere": 1}}]})
    recording, table = os.path.join(directory, "plain.h5"), os.path.join(directory, "plain.csv")
    expect(rigor, ["run", scene, "--out", recording], 0)
    expect(rigor, ["export", recording, "--csv", table], 0)
    expect(rigor, ["plot", table, "--x", "time", "--y", "pz", "--where", "body==1+1", "--out",
                   os.path.join(directory, "plain.svg")], 0)


def main():
    rigor = Command(sys.argv[1])
    with scratch_directory() as directory:
        recording = check_scene(rigor, directory)
        check_csv(rigor, recording)
        check_mistakes(rigor, directory)
        check_plot(rigor, directory)
        check_equal(is_control("\x9b"), True, "C1")


if __name__ == "__main__":
    main()
