#!/usr/bin/python3
"""`rigor sweep`: the same table whatever the processes, shards, kills; closed forms; bad studies."""
import csv
import json
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import h5py

from record_script_support import Command, check, check_equal, expect, scratch_directory

STUDY = """
study: 1
scene: incline
duration: 0.2
parameters:
  mu: [0.2, 0.7]
  angle: {uniform: [5, 40]}
draws: 100
seed: 7
"""


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def check_closed_form(rigor, source):
    """A box on a slope: where it tips and where it slides, everywhere on the grid."""
    for name in os.listdir(os.path.join(source, "studies")):
        if name.endswith((".yaml", ".csv")):
            shutil.copy(os.path.join(source, "studies", name), ".")
    expect(rigor, ["sweep", "tip-or-slide.yaml"], 0, stdout="342 runs")
    rows = rows_of("tip-or-slide.csv")
    check_equal(len(rows), 342, "rows")
    for row in rows:
        tips = abs(float(row["box.qy"])) > 1e-3
        slides = not tips and float(row["box.x"]) > 1e-4
        check_equal((tips, slides), (float(row["aspect"]) < float(row["mu"]), float(row["aspect"]) > float(row["mu"])),
                    f"run {row['run']}: mu {row['mu']}, aspect {row['aspect']}")
        check_equal(row["status"], "done", f"run {row['run']}")
        check_equal(row["tips"], row["tips_expected"], f"run {row['run']}: the closed form in the table")
        check(float(row["complementarity"]) < 1e-8, f"run {row['run']}")


def check_hdf5(name):
    """The columns of the CSV, in their order, with the same numbers and words."""
    rows = rows_of(f"{name}.csv")
    with h5py.File(f"{name}.h5") as file:
        group = file["runs"]
        check_equal(list(group), list(rows[0]), "columns")
        for column, values in group.items():
            cells = [row[column] for row in rows]
            if values.dtype.kind == "S":
                check_equal([value.decode() for value in values], cells, column)
            else:
                check_equal([str(value) for value in values], [str(values.dtype.type(cell or "nan")) for cell in cells],
                            column)
        check_equal((group["run"].dtype.kind, group["angle"].dtype.kind, group["state_hash"].dtype.kind),
                    ("i", "f", "S"), "types")


def slope_of(points):
    """Of the line through them, by least squares."""
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points))
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x)**2 for x, _ in points)


def check_convergence(rigor):
    """First order in every one of the 100 scenes; a throw is exact at any step."""
    stride = int(os.environ.get("RIGOR_STRIDE", "1"))
    write("convergence.yaml", read("convergence.yaml").decode().replace("draws: 100", f"draws: {100 // stride}"))
    expect(rigor, ["sweep", "convergence.yaml"], 0, stdout=f"{100 // stride * 5} done")
    rows, orders = rows_of("convergence.csv"), []
    for scene in range(100 // stride):
        mine = rows[scene::100 // stride]
        orders.append(slope_of([(math.log(float(row["h"])), math.log(float(row["error"]))) for row in mine]))
        check(all(float(row["error_ball"]) < 1e-12 for row in mine), "a throw is not exact")
        check_equal(len({row["mu"] for row in mine}), 1, f"scene {scene} is not the same for all steps")
    print(f"orders {min(orders):.3f} ... {max(orders):.3f}")
    check(all(0.9 < order < 1.1 for order in orders), f"orders {min(orders)} ... {max(orders)}")


def check_dominoes(rigor, source):
    """The table of the theory is that of its script; a short row is as fast as it says, to 2 %."""
    sys.path.insert(0, os.path.join(source, "studies"))
    import dominoes
    for row in rows_of("dominoes-table.csv"):
        check(abs(dominoes.speed(float(row["gap"])) - float(row["predicted"])) < 1e-6, f"table: {row}")
    write("short.csv", "gap,predicted\n0.4,1.766744\n")
    text = read("dominoes.yaml").decode().replace("dominoes-table.csv", "short.csv")
    write("short.yaml", text.replace("50", "10").replace("60", "20") + "parameters: {count: 22}\n")
    expect(rigor, ["sweep", "short.yaml", "--out", "short-row.csv"], 0, stdout="1 condition")
    row = rows_of("short-row.csv")[0]
    check(abs(float(row["deviation"])) < 0.02, f"dominoes: {row}")
    check_equal(row["passed_through"], "0", "dominoes")


def check_same_bytes(rigor):
    """Any number of processes and shards: one table, and each run is what `rigor run` makes of it."""
    write("study.yaml", STUDY)
    expect(rigor, ["sweep", "study.yaml", "--jobs", "1", "--out", "one.csv"], 0, stdout="200 done")
    table = read("one.csv")
    expect(rigor, ["sweep", "study.yaml", "--jobs", "5", "--out", "five.csv"], 0)
    check(read("five.csv") == table, "five processes give another table")
    check(read("five.h5") == read("one.h5"), "five processes give another table in HDF5")
    check_hdf5("one")
    check(not os.path.exists("five.csv.journal"), "the journal of a finished sweep is left")
    journals = []
    for shard in (2, 0, 1):
        expect(rigor, ["sweep", "study.yaml", "--shard", f"{shard}/3", "--out", "s.csv"], 0)
        journals.append(f"s.csv.{shard}-of-3.journal")
    expect(rigor, ["sweep", "study.yaml", "--out", "s.csv", "--merge", *journals[:2]], 1, stderr="67 of 200 runs")
    expect(rigor, ["sweep", "study.yaml", "--out", "s.csv", "--merge", *journals], 0)
    check(read("s.csv") == table, "shards give another table")
    check(read("s.h5") == read("one.h5"), "shards give another table in HDF5")
    for row in rows_of("one.csv")[::67]:
        report = rigor.report("run", "incline", f"mu={row['mu']}", f"angle={row['angle']}", "--duration", "0.2")
        check_equal(report["state_hash"], row["state_hash"], f"run {row['run']}")
    drawn = [float(row["angle"]) for row in rows_of("one.csv")]
    check(min(drawn) >= 5 and max(drawn) < 40 and len(set(drawn)) == 200, "angles drawn")


def children_of(process):
    try:
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def check_kills(rigor):
    """Kills of workers, of the writer and of the whole job at any moment: nothing is lost, nothing
    is done twice."""
    write("kills.yaml", STUDY.replace("duration: 0.2", "duration: 2"))
    expect(rigor, ["sweep", "kills.yaml", "--out", "whole.csv"], 0)
    table = read("whole.csv")
    generator = random.Random(5)
    kills, seen, words = 0, 0, []
    while not os.path.exists("killed.csv"):
        process = rigor.start("sweep", "kills.yaml", "--jobs", "2", "--out", "killed.csv", *words)
        words = ["--resume"]
        while process.poll() is None:
            time.sleep(generator.uniform(0, 0.03))
            what = generator.choice(("worker", "writer", "term"))
            workers = children_of(process.pid)
            if kills >= 30 or (what == "worker" and not workers):
                continue
            try:
                if what == "worker":
                    os.kill(generator.choice(workers), signal.SIGKILL)
                else:
                    process.send_signal(signal.SIGKILL if what == "writer" else signal.SIGTERM)
                kills += 1
            except ProcessLookupError:
                pass
        process.communicate()
        if not os.path.exists("killed.csv.journal"):
            words = [] if not os.path.exists("killed.csv") else words
        else:
            lines = read("killed.csv.journal").count(b"\n")
            check(lines >= seen, "runs that were done are gone")
            seen = lines
        check(kills < 200, "it never ends")
    check(read("killed.csv") == table, "the table is another one after kills")
    check(kills > 10, f"only {kills} kills: no test")
    print(f"{kills} kills")


def kill_workers(process, wanted):
    """Kills the worker of a sweep with one job again and again; how often, until the sweep ended."""
    killed = set()
    while len(killed) < wanted and process.poll() is None:
        for worker in set(children_of(process.pid)) - killed:
            try:
                os.kill(worker, signal.SIGKILL)
                killed.add(worker)
            except ProcessLookupError:  # it was ended in between
                pass
    process.communicate()
    return len(killed)


def check_kills_of_one_run(rigor):
    """One run whose process is killed five times: it is made again, and its row is as ever."""
    duration, kills = 100, 0
    while kills < 5:  # where this test gets too little of the processor, the run ends first: a longer one
        write("one-run.yaml", f"study: 1\nscene: incline\nduration: {duration}\nparameters: {{mu: [0.7]}}\n")
        process = rigor.start("sweep", "one-run.yaml", "--jobs", "1", "--out", "disturbed.csv", "--overwrite")
        kills = kill_workers(process, 5)
        check_equal(process.returncode, 0, "exit code")
        expect(rigor, ["sweep", "one-run.yaml", "--out", "calm.csv", "--overwrite"], 0, stdout="1 done")
        check(read("disturbed.csv") == read("calm.csv"), f"{kills} kills of one run give another row")
        duration *= 4


def check_bad_runs(rigor):
    """Runs that cannot be: too large, endless, crashing, refused. The sweep goes on, and the table has the causes."""
    write("many.yaml", "rigor: 1\nparameters: {count: 3, h: 0.01}\nmethod: {name: stepping, step: h}\n"
                       "bodies: [{repeat: count, name: 'b{i}', shape: {sphere: 0.1}, position: [i, 0, 1]}]\n")
    write("bad.csv", "count,h\n3,0.01\n2000000,0.01\n-1,0.01\n4,0.01\n3,1e-9\n")
    write("bad.yaml", "study: 1\nscene: many.yaml\ntable: bad.csv\nduration: 1\n"
                      "limits: {seconds: 3600, megabytes: 100}\n")
    process = rigor.start("sweep", "bad.yaml", "--jobs", "2", "--out", "ended.csv")
    while not os.path.exists("ended.csv.journal") or read("ended.csv.journal").count(b"\n") < 5:
        check(process.poll() is None, "the sweep ended early")
        time.sleep(0.01)
    while process.poll() is None:  # only the endless run is left, and crashes as often as it is started
        for worker in children_of(process.pid):
            os.kill(worker, signal.SIGSEGV)
        time.sleep(0.05)
    out = process.communicate()[0]
    check_equal(process.returncode, 0, f"exit code: {out}")
    write("long.yaml", "study: 1\nscene: many.yaml\nparameters: {h: [1e-9]}\nduration: 1\nlimits: {seconds: 1}\n")
    expect(rigor, ["sweep", "long.yaml", "--out", "late.csv"], 0, stdout="1 timed-out")
    rows = rows_of("ended.csv") + rows_of("late.csv")
    check_equal([row["status"] for row in rows], ["done", "out-of-memory", "refused", "done", "crashed", "timed-out"],
                "bad runs among good ones")
    causes = {row["status"]: row["cause"] for row in rows}
    check("memory" in causes["out-of-memory"] and "1 s" in causes["timed-out"] and causes["refused"], f"{causes}")
    check("signal 11" in causes["crashed"] or "exit code" in causes["crashed"], f"{causes}")


def check_bad_studies(rigor):
    """Clear errors, with line and column."""
    for text, message in (
            ("study: 1\nscene: incline\nparameters: {mew: [1]}\n", "mew"),
            ("study: 1\nscene: incline\nparameters: {mu: []}\n", "3:18: parameters.mu: an empty list means no runs"),
            ("study: 1\nscene: no-such\n", "2:8: scene: neither a built-in scene nor a file"),
            ("study: 1\nscene: incline\nparametres: {}\n", 'did you mean "parameters"?'),
            ("study: 2\nscene: incline\n", "must be a whole number from 1 to 1"),
            ("scene: incline\n", 'begins with "study: 1"'),
            ("study: 1\nscene: incline\ndraws: 5\n", "no parameter has a distribution"),
            ("study: 1\nscene: incline\nparameters: {mu: {uniform: [1, 0]}}\n", "reversed"),
            ("study: 1\nscene: incline\nparameters: {mu: {log_uniform: [0, 1]}}\n", "positive"),
            ("study: 1\nscene: incline\nparameters: {mu: {from: 0, to: 1}}\n", '"count" is missing'),
            ("study: 1\nscene: incline\nparameters: {mu: {from: 0, to: 1, count: 1000000}, angle: {from: 0, to: 1, "
             "count: 1000000}}\n", "1e+12 runs"),
            ("study: 1\nscene: incline\ntable: t.csv\n", "t.csv:3: fewer columns"),
            ("study: 1\nscene: incline\ntable: none.csv\n", "no such file"),
            ("study: 1\nscene: incline\nstop: {event: impakt}\n", "impact"),
            ("study: 1\nscene: incline\nbodies: [bocks]\n", "no body 'bocks'"),
            ("study: 1\nscene: incline\nstop: {when: tt - 1}\n", 'stop.when: "tt - 1" at column 1: there is no "tt"'),
            ("study: 1\nscene: incline\ncolumns: {a: box_x}\n", 'there is no "box_x"'),
            ("study: 1\nscene: incline\ncolumns: {a: 1 +}\n", "at column"),
            ("study: 1\nscene: incline\ntimes: {2a: t}\n", "no digit first"),
            ("study: 1\nscene: incline\ntimes: [t]\n", "expressions by name"),
    ):
        write("t.csv", "mu,angle\n0.1,20\n0.2\n")
        write("wrong.yaml", text)
        result = expect(rigor, ["sweep", "wrong.yaml"], 3)
        check(message in result.stderr, f"{text!r}: {result.stderr!r} without {message!r}")
    expect(rigor, ["sweep"], 2)
    expect(rigor, ["sweep", "study.yaml", "--shard", "3/3"], 2)
    expect(rigor, ["sweep", "study.yaml", "--jobs", "0"], 2)
    expect(rigor, ["sweep", "study.yaml", "--out", "one.csv"], 4, stderr="one.csv exists")
    write("other.h5", "a recording")
    expect(rigor, ["sweep", "study.yaml", "--out", "other.csv"], 4, stderr="other.h5 exists")
    expect(rigor, ["sweep", "study.yaml", "--out", "none.csv", "--resume"], 3, stderr="nothing to resume")
    expect(rigor, ["sweep", "study.yaml", "--out", "one.csv", "--status"], 0, stdout="the table is written")


def check_tables_and_writers(rigor):
    """Parameters from a table; two sweeps never write the same journal; another study is noticed."""
    write("t.csv", "mu, angle\n0.1,20\n0.9,10\n\n")
    write("table.yaml", "study: 1\nscene: incline\ntable: t.csv\nduration: 0.1\n")
    expect(rigor, ["sweep", "table.yaml"], 0, stdout="2 done")
    check_equal([(row["mu"], row["angle"]) for row in rows_of("table.csv")], [("0.1", "20"), ("0.9", "10")], "table")
    write("long.yaml", STUDY.replace("duration: 0.2", "duration: 100").replace("draws: 100", "draws: 1000"))
    first = rigor.start("sweep", "long.yaml")
    while not os.path.exists("long.csv.journal") or not read("long.csv.journal"):  # written to once it is locked
        time.sleep(0.01)
    expect(rigor, ["sweep", "long.yaml", "--resume"], 4, stderr="another sweep is writing it")
    expect(rigor, ["sweep", "long.yaml", "--status"], 0, stdout="of 2000 runs, being made")
    first.send_signal(signal.SIGTERM)
    check("--resume goes on" in first.communicate()[1], "how to go on")
    check_equal(first.returncode, 143, "exit code")
    expect(rigor, ["sweep", "long.yaml", "--status"], 0, stdout="of 2000 runs, nobody is making them")
    expect(rigor, ["sweep", "long.yaml"], 4, stderr="add --resume to go on with that sweep")
    write("long.yaml", STUDY.replace("seed: 7", "seed: 8"))
    expect(rigor, ["sweep", "long.yaml", "--resume"], 3, stderr="has changed")
    expect(rigor, ["sweep", "long.yaml", "--overwrite"], 0, stdout="200 done")


def data_of(page):
    text = read(page).decode()
    return json.loads(re.search(r'<script type="application/json" id="rigor-study">(.*?)</script>', text, re.S)[1])


def check_page(rigor):
    """Recordings of chosen runs end as the runs of the table did; the page has the table and knows of them."""
    write("page.yaml", STUDY.replace("draws: 100", "draws: 3") + "bodies: [box]\n")
    expect(rigor, ["sweep", "page.yaml", "--page", "page.html"], 0, stdout="6 done")  # makes the sweep
    expect(rigor, ["sweep", "page.yaml", "--record", "1,3-4", "--page", "page.html", "-f"], 0, stdout="3 recordings")
    rows, data = rows_of("page.csv"), data_of("page.html")
    check_equal(data["columns"], list(rows[0]), "columns of the page")
    check_equal(len(data["rows"]), 6, "rows of the page")
    column = data["columns"].index("state_hash")
    check_equal([row[column] for row in data["rows"]], [row["state_hash"] for row in rows], "hashes of the page")
    check_equal([row[2] for row in data["rows"]], [float(row["angle"]) for row in rows], "angles of the page")
    has_viewer = os.path.exists("page.runs/1.html")  # not where the viewer's page is not built
    check_equal((sorted(data["recorded"]), data["folder"], data["parameters"]),
                ([1, 3, 4] if has_viewer else [], "page.runs", ["mu", "angle"]), "recorded runs")
    for run in (1, 3, 4):
        with h5py.File(f"page.runs/{run}.h5") as file:
            check_equal(format(file["state_hash"][-1], "016x"), rows[run]["state_hash"], f"recording of run {run}")
    for wrong in ("", "6", "4-3", "1,,2", "x", "-1", "1;2"):
        expect(rigor, ["sweep", "page.yaml", "--record", wrong], 2, stderr="is not a list of runs")
    write("page.csv", read("page.csv").decode().replace(rows[1]["state_hash"], "0123456789abcdef"))
    expect(rigor, ["sweep", "page.yaml", "--record", "1", "-f"], 1, stderr="another version")
    expect(rigor, ["sweep", "page.yaml", "--page", "no/such/folder.html"], 4)


def check_terminal(rigor):
    """On a terminal a line tells how many runs there are a second and how long it will take."""
    write("shown.yaml", "study: 1\nscene: incline\nduration: 100\nparameters: {mu: {from: 0.1, to: 1, count: 100}}\n")
    try:
        master, terminal = os.openpty()
    except OSError as error:
        print(f"skipped: the progress on a terminal, of which this machine has none ({error})")
        return
    process = subprocess.Popen([rigor.path, "sweep", "shown.yaml", "--jobs", "1"], stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    text = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        text += part
    check_equal(process.wait(), 0, "exit code")
    os.close(master)
    check(re.search(rb"\d+ of 100 runs, [\d.e+-]+ a second, .* left", text), f"no progress: {text!r}")


def main():
    rigor = Command(sys.argv[1])
    source = os.path.abspath(sys.argv[2])
    with scratch_directory() as directory:
        os.chdir(directory)
        check_closed_form(rigor, source)
        check_convergence(rigor)
        check_dominoes(rigor, source)
        check_same_bytes(rigor)
        check_kills(rigor)
        check_kills_of_one_run(rigor)
        check_bad_runs(rigor)
        check_bad_studies(rigor)
        check_tables_and_writers(rigor)
        check_page(rigor)
        check_terminal(rigor)


main()
