#!/usr/bin/python3
"""`rigor run` killed with SIGKILL at random moments and resumed.

After every kill the recording must be readable, by h5py (FILE alone, a whole HDF5 file at every
moment) and by `rigor export` (FILE and journal); resumed, the run must end in the state of the
undisturbed run, bit for bit, and leave the same frames.
"""
import os
import random
import sys
import time

import h5py
import numpy

from record_script_support import Command, check, check_equal, scratch_directory

KILLS = 20
BODIES = 250
# Many checkpoints, so that runs are resumed from many places. (Kills in the middle of folding the
# journal into FILE, at every single operation, are the business of test_record_fold.c.)
SCENE = ["projectiles", f"count={BODIES}", "--duration", "10", "--checkpoint", "0.02"]


def kill_after(rigor, seconds, *arguments):
    """Whether the kill came before the end."""
    process = rigor.start(*arguments)
    time.sleep(seconds)
    process.kill()
    process.communicate()
    return process.returncode == -9


def count_csv_lines(rigor, path):
    """Lines of the export of a recording, which must succeed."""
    result = rigor("export", path, "--csv", path + ".csv")
    check_equal(result.returncode, 0, f"export after a kill: {result.stderr}")
    with open(path + ".csv") as file:
        lines = sum(1 for _ in file)
    os.remove(path + ".csv")
    return lines


def check_readable(rigor, path, truth):
    """The frames that FILE holds are those of the undisturbed run."""
    with h5py.File(path, "r") as file:
        count = len(file["time"])
        check(1 <= count <= len(truth["state_hash"]), f"{count} frames")
        check(numpy.array_equal(file["state_hash"][:], truth["state_hash"][:count]), "hashes differ")
        check(numpy.array_equal(file["poses/position"][count - 1], truth["last"][count - 1]),
              "positions differ")
    lines = count_csv_lines(rigor, path)
    check((lines - 1) % BODIES == 0 and (lines - 1) // BODIES >= count, f"{lines} lines of CSV")


def main():
    rigor = Command(sys.argv[1])
    chance = random.Random(20)
    with scratch_directory() as directory:
        path = os.path.join(directory, "undisturbed.h5")
        start = time.monotonic()
        undisturbed = rigor.report("run", *SCENE, "--out", path)
        whole = time.monotonic() - start
        with h5py.File(path, "r") as file:
            truth = {"state_hash": file["state_hash"][:], "last": file["poses/position"][:]}
        os.remove(path)
        print(f"undisturbed: {whole:.2f} s, hash {undisturbed['state_hash']}")

        resumed_from_middle = 0
        for number in range(KILLS):
            path = os.path.join(directory, f"killed{number}.h5")
            moment = whole * chance.uniform(0.02, 1.0)
            while not kill_after(rigor, moment, "run", *SCENE, "--out", path, "--overwrite"):
                moment *= 0.8  # it was faster this time
            if not os.path.exists(path):  # killed before the first frame: nothing to resume
                process = rigor.start("run", *SCENE, "--out", path)
                process.communicate()
            check_readable(rigor, path, truth)
            # Every other run is killed once more while it resumes.
            if number % 2:
                kill_after(rigor, chance.uniform(0, 0.5) * whole, "run", "--resume", path)
                check_readable(rigor, path, truth)
            with h5py.File(path, "r") as file:
                before = file["checkpoint"].attrs["step"]
            journal = os.path.exists(path + ".journal") and os.path.getsize(path + ".journal") > 60000
            report = rigor.report("run", "--resume", path, "--quiet")
            check_equal(report["state_hash"], undisturbed["state_hash"],
                        f"state hash after the kill at {moment:.3f} s")
            for key in ("steps", "simulated_s", "certificate", "energy", "measures"):
                check_equal(report[key], undisturbed[key], f"{key} after the kill at {moment:.3f} s")
            with h5py.File(path, "r") as file:
                check(file.attrs["finished"], "the resumed run is not finished")
                check(numpy.array_equal(file["state_hash"][:], truth["state_hash"]),
                      "frames differ after resuming")
                check(numpy.array_equal(file["poses/position"][:], truth["last"]),
                      "positions differ after resuming")
            check(not os.path.exists(path + ".journal"), "a journal is left")
            check(not os.path.exists(path + ".new"), "a temporary file is left")
            resumed_from_middle += journal or before > 0
            os.remove(path)
        print(f"{KILLS} runs killed, {resumed_from_middle} after a checkpoint; all ended in the same "
              "state")
        check(resumed_from_middle >= KILLS // 2, "too few of the runs had anything to resume")


main()
