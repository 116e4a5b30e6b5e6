#!/usr/bin/python3
"""`rigor run` killed with SIGKILL at random moments and resumed.

After every kill the recording must be readable, by h5py (FILE alone, a whole HDF5 file at every
moment) and by `rigor export` (FILE and journal); resumed, the run must end in the state of the
undisturbed run, bit for bit, and leave the same frames, certificates and contacts.
"""
import os
import random
import sys
import time

import h5py
import numpy

from record_script_support import Command, check, check_equal, scratch_directory

LONG = os.environ.get("RIGOR_LONG", "0") not in ("", "0")
# Many checkpoints, so that runs are resumed from many places. (Kills in the middle of folding the
# journal into FILE, at every single operation, are the business of tests/record/test_fold.c.) In the
# scenes with contacts the solver starts from the forces of the step before, which a resumed run
# must have, too.
SCENES = [
    (["projectiles", "count=250", "--duration", "4", "--checkpoint", "0.02"], 100 if LONG else 6),
    (["dominoes", "count=5", "--duration", "4", "--checkpoint", "0.01"], 4),
    (["pile", "count=10", "--duration", "1", "--checkpoint", "0.01"], 4),
]


def kill_after(rigor, seconds, *arguments):
    """Whether the kill came before the end."""
    process = rigor.start(*arguments)
    time.sleep(seconds)
    process.kill()
    process.communicate()
    return process.returncode == -9


def count_csv_lines(rigor, path):
    """Lines of the exports of a recording, which must succeed, without the headers: of bodies, of
    contacts and of certificates."""
    paths = [path + end for end in (".csv", ".contacts.csv", ".certificate.csv")]
    result = rigor("export", path, "--csv", paths[0], "--contacts-csv", paths[1],
                   "--certificate-csv", paths[2])
    check_equal(result.returncode, 0, f"export after a kill: {result.stderr}")
    lines = []
    for csv in paths:
        with open(csv) as file:
            lines.append(sum(1 for _ in file) - 1)
        os.remove(csv)
    return lines


def read_frames(path):
    """Every dataset but those of the checkpoint, whose bytes hold times of the processor."""
    found = {}
    with h5py.File(path, "r") as file:
        def take(name, thing):
            if isinstance(thing, h5py.Dataset) and not name.startswith("checkpoint"):
                found[name] = thing[()]
        file.visititems(take)
    return found


def check_readable(rigor, path, truth):
    """The frames that FILE holds are those of the undisturbed run."""
    found = read_frames(path)
    count, bodies = found["poses/position"].shape[:2]
    check(1 <= count <= len(truth["time"]), f"{count} frames")
    for name, values in found.items():
        group = name.split("/")[0]
        rows = (int(found[f"{group}/start"][-1] + found[f"{group}/count"][-1])
                if name.endswith("/table") else count)
        if not name.startswith(("bodies", "scene")):
            check_equal(len(values), rows, f"rows of {name}")
            check(values.tobytes() == truth[name][:rows].tobytes(), f"{name} differs")
    lines, contact_lines, certificate_lines = count_csv_lines(rigor, path)
    check(lines % bodies == 0 and lines // bodies >= count, f"{lines} lines of CSV")
    check_equal(certificate_lines, lines // bodies, "lines of certificates")
    check(contact_lines >= len(found["contacts/table"]), "contacts are missing")


def check_equal_frames(path, truth):
    found = read_frames(path)
    check_equal(sorted(found), sorted(truth), "datasets")
    for name, values in found.items():
        check(values.tobytes() == truth[name].tobytes(), f"{name} differs after resuming")


def kill_and_resume(rigor, scene, path, moment, again, truth, undisturbed):
    """Whether there was anything to resume."""
    while not kill_after(rigor, moment, "run", *scene, "--out", path, "--overwrite"):
        moment *= 0.8  # it was faster this time
    if not os.path.exists(path):  # killed before the first frame: nothing to resume
        process = rigor.start("run", *scene, "--out", path)
        process.communicate()
    check_readable(rigor, path, truth)
    if again:
        kill_after(rigor, again, "run", "--resume", path)
        check_readable(rigor, path, truth)
    with h5py.File(path, "r") as file:
        before = file["checkpoint"].attrs["step"]
    journal = os.path.exists(path + ".journal") and os.path.getsize(path + ".journal") > 60000
    report = rigor.report("run", "--resume", path, "--quiet")
    for key in ("state_hash", "steps", "simulated_s", "certificate", "energy", "measures"):
        check_equal(report[key], undisturbed[key], f"{key} after the kill at {moment:.3f} s")
    with h5py.File(path, "r") as file:
        check(file.attrs["finished"], "the resumed run is not finished")
    check_equal_frames(path, truth)
    check(not os.path.exists(path + ".journal"), "a journal is left")
    check(not os.path.exists(path + ".new"), "a temporary file is left")
    os.remove(path)
    return journal or before > 0


def check_scene(rigor, directory, scene, kills):
    chance = random.Random(20)
    path = os.path.join(directory, "undisturbed.h5")
    start = time.monotonic()
    undisturbed = rigor.report("run", *scene, "--out", path)
    whole = time.monotonic() - start
    truth = read_frames(path)
    os.remove(path)
    if scene[0] != "projectiles":
        check(len(truth["contacts/table"]) > 100, "too few contacts")
        check(numpy.any(truth["contacts/table"]["force"] != 0), "no force")
    print(f"{scene[0]}, undisturbed: {whole:.2f} s, {len(truth['contacts/table'])} contacts, "
          f"hash {undisturbed['state_hash']}")
    resumed = number = 0
    # How far a run comes until it is killed depends on how busy the machine is: if too few came as far as
    # a checkpoint, more are tried.
    while number < kills or (resumed < kills // 2 and number < 4 * kills):
        path = os.path.join(directory, f"killed{number}.h5")
        moment = whole * chance.uniform(0.02, 1.0)
        # Every other run is killed once more while it resumes.
        again = chance.uniform(0, 0.5) * whole if number % 2 else 0
        resumed += kill_and_resume(rigor, scene, path, moment, again, truth, undisturbed)
        number += 1
    print(f"{number} runs killed, {resumed} after a checkpoint; all ended in the same state")
    check(resumed >= kills // 2, "too few of the runs had anything to resume")


def main():
    rigor = Command(sys.argv[1])
    with scratch_directory() as directory:
        for scene, kills in SCENES:
            check_scene(rigor, directory, scene, kills)


main()
