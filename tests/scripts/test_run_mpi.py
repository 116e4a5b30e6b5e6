#!/usr/bin/python3
"""`mpirun -n N rigor sweep`: one table for any number of ranks; ranks, the writer, workers and whole jobs that
are killed at any moment lose nothing that was done; the same for sweeps without MPI.

RIGOR_LONG=1: 100 kills in sweeps of 2,000 runs."""
import os
import random
import shutil
import signal
import subprocess
import sys
import time

from record_script_support import Command, check, check_equal, expect, scratch_directory

LONG = os.environ.get("RIGOR_LONG", "0") not in ("", "0")
KILLS, RUNS = (100, 2000) if LONG else (10, 200)
RANKS = (1, 2, 4, 8)
STUDY = f"""
study: 1
scene: incline
duration: 2
parameters:
  mu: [0.2, 0.7]
  angle: {{uniform: [5, 40]}}
draws: {RUNS // 2}
seed: 7
"""
# As root, more ranks than processors, no remote shell, no shared pages (which containers forbid). What MPI
# itself never gives back is not for the sanitizers.
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_plm_rsh_agent="",
                  OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl_vader_single_copy_mechanism="none",
                  ASAN_OPTIONS="detect_leaks=0")


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def start(rigor, ranks, *arguments):
    words = ["mpirun", "-n", str(ranks)] if ranks else []
    return subprocess.Popen([*words, rigor.path, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            universal_newlines=True)


def run(rigor, ranks, *arguments):
    process = start(rigor, ranks, *arguments)
    out, error = process.communicate(timeout=500)
    return process.returncode, out, error


def children_of(process):
    found = []
    try:
        for task in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{task}/children", encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        pass
    return sorted(found)


def rank_of(process):
    """Which rank a process is; None if it is none, or gone."""
    try:
        for word in read(f"/proc/{process}/environ").split(b"\0"):
            if word.startswith(b"OMPI_COMM_WORLD_RANK="):
                return int(word.split(b"=")[1])
    except OSError:
        pass
    return None


def family(process, ranks):
    """Ranks in their order (the writer first), and all workers."""
    heads = [child for child in children_of(process.pid) if rank_of(child) is not None] if ranks else [process.pid]
    heads.sort(key=lambda head: rank_of(head) or 0)
    return heads, [worker for head in heads for worker in children_of(head)]


def is_there(process):
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def check_ranks(rigor):
    """The table is that of a sweep without MPI; rank 0 alone speaks."""
    expect(rigor, ["sweep", "study.yaml", "--out", "plain.csv"], 0)
    for ranks in RANKS:
        code, out, error = run(rigor, ranks, "sweep", "study.yaml", "--out", f"{ranks}.csv")
        check_equal(code, 0, f"{ranks} ranks: {error}")
        check_equal(out.count(f"{RUNS} runs"), 1, f"{ranks} ranks: {out}")
        check(read(f"{ranks}.csv") == read("plain.csv"), f"{ranks} ranks give another table")
    code, _, error = run(rigor, 3, "sweep", "study.yaml", "--out", "plain.csv")
    check_equal((code, error.count("plain.csv exists")), (4, 1), f"a table that exists: {error}")
    code, _, error = run(rigor, 2, "sweep", "none.yaml")
    check_equal((code, error.count("none.yaml")), (3, 1), f"no study: {error}")
    code, _, error = run(rigor, 2, "sweep", "study.yaml", "--shard", "4/4")
    check_equal((code, error.count("--shard")), (2, 1), f"usage: {error}")
    code, out, error = run(rigor, 2, "sweep", "study.yaml", "--shard", "1/4", "--jobs", "2", "--out", "part.csv")
    check_equal((code, f"{RUNS // 4} runs" in out), (0, True), f"a shard: {out} {error}")


def check_without_module(rigor):
    """A command without its module says so, and makes nothing."""
    os.mkdir("bare")
    shutil.copy(rigor.path, "bare/rigor")
    bare = Command("bare/rigor")
    environment = dict(os.environ, OMPI_COMM_WORLD_SIZE="2",
                       LD_LIBRARY_PATH=os.path.dirname(rigor.path) + "/src")
    expect(bare, ["sweep", "study.yaml", "--out", "bare.csv"], 1, stderr="built without MPI", env=environment)
    check(not os.path.exists("bare.csv.journal"), "a journal nevertheless")


def check_bad_runs(rigor):
    """Runs that are refused or need too much memory, and one that crashes: rows, in every rank."""
    write("bad.yaml", "study: 1\nscene: pyramid\nparameters: {base: [3, 5000, 4, 900, 2]}\nduration: 0.05\n"
                      "limits: {seconds: 3600, megabytes: 200}\n")
    code, out, error = run(rigor, 3, "sweep", "bad.yaml")
    check_equal(code, 0, f"{out} {error}")
    check("3 done" in out and "1 refused" in out and "1 out-of-memory" in out, out)
    write("endless.yaml", "study: 1\nscene: incline\nduration: 1e9\nparameters: {mu: [0.7, 0.8]}\nstep: 0.001\n"
                          "limits: {seconds: 3600}\n")
    process = start(rigor, 2, "sweep", "endless.yaml")
    struck = []
    while process.poll() is None and len(struck) < 4:
        for worker in family(process, 2)[1]:
            if worker not in struck and is_busy(worker):
                os.kill(worker, signal.SIGABRT)
                struck.append(worker)
        time.sleep(0.01)
    out, error = process.communicate(timeout=500)
    check_equal((process.returncode, "2 crashed" in out), (0, True), f"{out} {error}")
    check(b"ended by signal 6" in read("endless.csv") or b"exit code" in read("endless.csv"), "the cause")


def is_busy(process):
    """Whether it has used the processor for a while: in its run, not on the way to it."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            return int(file.read().rsplit(")", 1)[1].split()[11]) >= 5
    except OSError:
        return False


def kill(generator, process, ranks):
    """One SIGKILL, or one for every process of the job; what was struck."""
    heads, workers = family(process, ranks)
    what = generator.choice(("rank", "writer", "worker", "job"))
    targets = {"rank": heads[1:][-1:] or heads, "writer": heads[:1], "worker": workers[-1:],
               "job": [process.pid, *heads, *workers] if workers else []}[what]
    for target in targets:
        try:
            os.kill(target, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return what if targets else None


def check_journal(seen):
    """Whole lines of the journal: each run once; what was there is there. The runs."""
    runs = [line.split(b"\t")[0] for line in read("killed.csv.journal").split(b"\n")[1:-1]]
    check(len(runs) == len(set(runs)), "a run that was done was made again")
    check(runs[:len(seen)] == seen, "runs that were done are gone")
    return runs


def begin_again(rigor, ranks):
    """Resumes; the last writer may still be on its way out, and holds the journal until then."""
    words = ["--resume"] if os.path.exists("killed.csv.journal") else []
    return start(rigor, ranks, "sweep", "study.yaml", "--jobs", "1" if ranks else "2", "--out", "killed.csv", *words)


def sweep_with_kills(rigor, ranks, generator, most):
    """One sweep to its end with at most so many kills, each after some more runs; how many of which."""
    table, kills, runs, target = read("plain.csv"), [], [], 1
    while not os.path.exists("killed.csv"):
        process = begin_again(rigor, ranks)
        while process.poll() is None:
            lines = read("killed.csv.journal").count(b"\n") if os.path.exists("killed.csv.journal") else 0
            if len(kills) >= most or lines < target:
                time.sleep(0.001)
                continue
            heads, workers = family(process, ranks)
            what = kill(generator, process, ranks)
            if what:
                kills.append(what)
                target = min(lines + generator.randrange(RUNS // KILLS), RUNS - 2)
            if what in ("rank", "writer", "job"):
                break
        _, error = process.communicate(timeout=500)
        while any(map(is_there, [*heads, *workers] if kills else [])):
            time.sleep(0.001)
        check("no journal" not in error and "changed" not in error, error)
        if os.path.exists("killed.csv.journal"):
            runs = check_journal(runs)
    check(read("killed.csv") == table, f"{ranks} ranks: another table after {len(kills)} kills")
    os.remove("killed.csv")
    return kills


def check_kills(rigor):
    generator, kills, sweeps = random.Random(5), [], 0
    while len(kills) < KILLS:
        ranks = (4, 0, 2)[sweeps % 3]
        kills += sweep_with_kills(rigor, ranks, generator, KILLS - len(kills))
        sweeps += 1
    counts = ", ".join(f"{kills.count(what)} of {what}" for what in ("rank", "writer", "worker", "job"))
    print(f"{len(kills)} kills in {sweeps} sweeps of {RUNS} runs: {counts}")


def main():
    rigor = Command(sys.argv[1])
    with scratch_directory() as directory:
        os.chdir(directory)
        write("study.yaml", STUDY)
        check_ranks(rigor)
        check_without_module(rigor)
        check_bad_runs(rigor)
        check_kills(rigor)


main()
