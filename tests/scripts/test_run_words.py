#!/usr/bin/python3
"""Commands that help people along: `rigor new`, `explain`, `plot`, `strip`, `completion`."""
import os
import re
import shutil
import subprocess
import sys

from record_script_support import Command, check, check_equal, expect, scratch_directory


def check_new(rigor, directory):
    """A first scene is written once, is right, runs, and is never replaced."""
    name = os.path.join(directory, "mine")
    text = expect(rigor, ["new", name], 0).stdout
    check(f"rigor view {name}.yaml" in text, text)
    expect(rigor, ["check", f"{name}.yaml"], 0)
    report = rigor.report("run", f"{name}.yaml", "--require", "complementarity<1e-8,joint_error_m<1e-9",
                          "speed=2", "bricks=3", "--duration", "1")
    check_equal(report["bodies"], 7, "bodies of the first scene")
    with open(f"{name}.yaml", "a", encoding="utf-8") as file:
        file.write("# mine\n")
    check("exists" in expect(rigor, ["new", f"{name}.yaml"], 4).stderr, "no word of the file that exists")
    with open(f"{name}.yaml", encoding="utf-8") as file:
        check(file.read().endswith("# mine\n"), "the file was replaced")
    check(expect(rigor, ["new", "-"], 0).stdout.startswith("# A scene"), "standard output")
    expect(rigor, ["new"], 2)
    expect(rigor, ["new", "a", "b"], 2)
    expect(rigor, ["new", os.path.join(directory, "no", "such", "folder")], 4)


def check_explain(rigor, directory):
    """Figures of recordings with closed forms: a ball that bounces, boxes that stand."""
    bounce, stack = os.path.join(directory, "bounce.h5"), os.path.join(directory, "stack.h5")
    rigor.report("run", "bounce", "--out", bounce)
    text = expect(rigor, ["explain", bounce], 0).stdout
    check("1 of 2 bodies moved; 0 of these are at rest" in text, text)
    check("t = 0.451523641 s" in text, text)  # sqrt(2 h / g)
    check("and 12 more; in all 22 impact" in text, text)
    farthest = float(re.search(r"ball: .* up to ([0-9.]+) m from its start", text).group(1))
    check(0.98 < farthest <= 1, f"falls by 1 m between frames: {farthest}")
    check_equal(text.count("meet at"), 10, "events listed")
    check_equal(expect(rigor, ["explain", bounce, "--most", "100"], 0).stdout.count("meet at"), 22, "all events")
    check_equal(expect(rigor, ["explain", bounce, "--body", "floor"], 0).stdout.count("did not move"), 1, "floor")
    check("did you mean ball?" in expect(rigor, ["explain", bounce, "--body", "bell"], 3).stderr, "nearest name")
    expect(rigor, ["explain", bounce, "--at", "soon"], 2)
    expect(rigor, ["explain", bounce, "--most", "0"], 2)
    expect(rigor, ["explain"], 2)
    expect(rigor, ["explain", os.path.join(directory, "none.h5")], 3)

    with open(os.path.join(directory, "rope.yaml"), "w", encoding="utf-8") as file:
        file.write("""bodies: [{name: bob, shape: {sphere: 0.1}}]
joints: [{kind: distance, bodies: [world, bob], frame_a: {position: [0, 0, 0]}, axes: {upper: 0.2}}]
duration: 0.3
""")
    rope = os.path.join(directory, "rope.h5")
    rigor.report("run", os.path.join(directory, "rope.yaml"), "--out", rope)
    text = expect(rigor, ["explain", rope], 0).stdout
    check('joint 0 of "world" and "bob" reaches its limit' in text, text)

    rigor.report("run", "tower", "count=3", "--duration", "0.5", "--out", stack)
    text = expect(rigor, ["explain", stack], 0).stdout
    check("0 of 4 bodies moved" in text and "no impact" in text, text)
    text = expect(rigor, ["explain", stack, "--at", "0.2"], 0).stdout
    check("nothing moves" in text, text)
    forces = [float(f) for f in re.findall(r"pushed with ([0-9.e+-]+) N \(0, 0, ", text)]
    check_equal(len(forces), 3, f"contacts of three boxes: {text}")
    weight = min(forces)
    for force, boxes in zip(sorted(forces), (1, 2, 3)):
        check(abs(force / (boxes * weight) - 1) < 1e-3, f"weights above each other: {forces}")


def check_plot(rigor, directory):
    """Curves of a table, with their titles; what is no number is left out."""
    table, plot = os.path.join(directory, "t.csv"), os.path.join(directory, "t.svg")
    with open(table, "w", encoding="utf-8") as file:
        file.write('h,error,"the law, named"\n0.1,1e-2,"a, b"\n0.01,1e-4,"a, b"\n0.1,2e-2,c\n0.01,,c\n0.02,8e-4,c\n')
    result = rigor("plot", table, "--x", "h", "--y", "error", "--by", "the law, named", "--log", "xy", "--lines", "other,error")
    if "gnuplot is missing" in result.stderr:
        print("gnuplot is not here: nothing is plotted")
    else:
        check_equal(result.returncode, 0, result.stderr)
        check("1 points have no numbers" in result.stderr, result.stderr)
        with open(plot, encoding="utf-8") as file:
            text = file.read()
        for title in ("the law, named = a, b", "the law, named = c", ">h<", ">error<"):
            check(title in text, f"no {title!r} in the plot")
        check(f"wrote {plot}" in result.stderr, result.stderr)
        points = os.path.join(directory, "points.csv")
        with open(points, "w", encoding="utf-8") as file:
            file.write("t,f\n0,3\n1,30\n0,4\n1,50\n")
        for arguments, largest in ((["--sum"], 80), ([], 50)):
            expect(rigor, ["plot", points, "--x", "t", "--y", "f", "--out", plot, "-f", *arguments], 0, stderr="")
            with open(plot, encoding="utf-8") as file:
                labels = [int(label) for label in re.findall(r">\s*(\d+)\s*<", file.read())]
            check_equal(max(labels), largest, f"top of the axis {arguments}")
    expect(rigor, ["plot", table, "--x", "h", "--y", "nothing"], 3, stderr="it has h, error, the law, named")
    expect(rigor, ["plot", table, "--x", "h", "--y", "eror"], 3, stderr="did you mean error?")
    expect(rigor, ["plot", table, "--x", "h", "--y", "error", "--where", "error=3"], 3, stderr="no numbers")
    expect(rigor, ["plot", table, "--x", "h", "--y", "error", "--log", "z"], 2)
    expect(rigor, ["plot", table, "--x", "h"], 2)
    expect(rigor, ["plot", os.path.join(directory, "none.csv"), "--x", "h", "--y", "e"], 3)


def check_strip(rigor, directory):
    """Pictures at the times that were asked for, of a scene and of its recording."""
    strip, recording = os.path.join(directory, "strip.svg"), os.path.join(directory, "fall.h5")
    words = ["--at", "0,0.1,0.25", "--size", "64x48", "--columns", "2", "--out", strip]
    result = rigor("strip", "bounce", *words)
    if result.returncode == 1:
        check("hromium" in result.stderr or "page" in result.stderr, result.stderr)
        print(f"no strip: {result.stderr.strip()}")
        return
    check_equal(result.returncode, 0, result.stderr)
    rigor.report("run", "bounce", "--duration", "0.3", "--out", recording)
    for number in range(2):
        with open(strip, encoding="utf-8") as file:
            text = file.read()
        check_equal(text.count("data:image/png;base64,"), 3, "pictures")
        check_equal(re.findall(r"t = ([0-9.]+) s", text), ["0", "0.1", "0.25"], "captions")
        check('width="136" height="148"' in text, text[:200])
        if number == 0:
            expect(rigor, ["strip", recording, *words, "--overwrite"], 0)
    expect(rigor, ["strip", "bounce", "--at", "0.2,0.1"], 2)
    expect(rigor, ["strip", "bounce"], 2)
    expect(rigor, ["strip", "no-such", *words, "--overwrite"], 3)


def options_of(rigor, command):
    """The options that a command's help lists."""
    text = expect(rigor, [command, "--help"], 0).stdout
    return set(re.findall(r"^ {2,6}(?:-[a-z], )?(--[a-z][a-z0-9-]*)", text, re.M))


def check_completion(rigor, directory):
    """Every command, option and scene is completed, in the shells that are here."""
    commands = re.findall(r"^  ([a-z]+) +[a-z]", expect(rigor, ["--help"], 0).stdout.split("Options:")[0], re.M)
    check(len(commands) > 10 and "completion" in commands, f"commands: {commands}")
    scripts = {}
    for shell in ("bash", "zsh", "fish"):
        scripts[shell] = os.path.join(directory, f"rigor.{shell}")
        with open(scripts[shell], "w", encoding="utf-8") as file:
            file.write(expect(rigor, ["completion", shell], 0).stdout)

    def bash(*words):
        line = " ".join(f"'{word}'" for word in words)
        done = subprocess.run(["bash", "-c", f"source {scripts['bash']}; COMP_WORDS=({line}); "
                               f"COMP_CWORD={len(words) - 1}; _rigor; printf '%s\\n' \"${{COMPREPLY[@]}}\""],
                              capture_output=True, text=True, check=True, cwd=directory)
        return done.stdout.split()

    check_equal(set(bash("rigor", "")), set(commands) | {"--help", "--version"}, "commands in bash")
    check_equal(bash("rigor", "converg"), ["converge"], "a command in bash")
    for command in commands[:-1]:
        check_equal(set(bash("rigor", command, "--")), options_of(rigor, command), f"options of {command} in bash")
    check("dominoes" in bash("rigor", "run", "dom"), "a scene in bash")
    check_equal(bash("rigor", "run", "dominoes", "--method", "a"), ["analytic"], "a method in bash")
    check_equal(bash("rigor", "completion", "fi"), ["fish"], "a shell in bash")
    with open(scripts["zsh"], encoding="utf-8") as file:
        zsh = file.read()
    for command in commands[:-1]:
        check(f"{command})" in zsh or f"{command}:" in zsh, f"{command} in zsh")
        for option in options_of(rigor, command):
            check(option in zsh, f"{option} of {command} in zsh")
    for shell in ("zsh", "fish"):
        if shutil.which(shell) is None:
            print(f"{shell} is not here: its script is not tried")
        else:
            subprocess.run([shell, "-n", scripts[shell]], check=True)
    if shutil.which("fish"):
        def fish(line):
            done = subprocess.run(["fish", "-c", f"source {scripts['fish']}; complete -C '{line}'"],
                                  capture_output=True, text=True, check=True, cwd=directory)
            return [row.split("\t")[0] for row in done.stdout.splitlines()]
        check_equal(fish("rigor converg"), ["converge"], "a command in fish")
        for command in commands[:-1]:
            check_equal(set(fish(f"rigor {command} --")), options_of(rigor, command), f"options of {command} in fish")
        check_equal(fish("rigor run --meth"), ["--method"], "an option in fish")
        check("dominoes" in fish("rigor run dom"), "a scene in fish")
    expect(rigor, ["completion"], 2)
    expect(rigor, ["completion", "csh"], 2)


def main():
    rigor = Command(sys.argv[1])
    with scratch_directory() as directory:
        check_new(rigor, directory)
        check_explain(rigor, directory)
        check_plot(rigor, directory)
        check_strip(rigor, directory)
        check_completion(rigor, directory)


if __name__ == "__main__":
    main()
