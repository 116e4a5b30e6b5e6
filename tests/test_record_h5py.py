#!/usr/bin/python3
"""The layout of a recording as docs/recording.md has it, read by h5py as a user would."""
import os
import sys

import h5py
import numpy

from record_script_support import Command, check, check_equal, scratch_directory

BODIES = 7
SCENE = """
rigor: 1
name: layout
bodies:
  - {repeat: 7, name: "ball{i}", shape: {box: [0.3, 0.2, 0.1]}, position: ["i", 0, 1],
     velocity: [1, "0.1*i", 9], angular_velocity: ["i", 2, 3]}
duration: 1
"""


def check_layout(file, report):
    frames = len(file["time"])
    attributes = dict(file.attrs)
    check_equal(attributes["format"], "rigor recording", "format")
    check_equal(attributes["format_version"], 1, "format_version")
    check(isinstance(attributes["rigor_version"], str), "rigor_version is not a text")
    check_equal(attributes["scene_name"], "layout", "scene_name")
    check_equal(attributes["method"], report["method"], "method")
    check_equal(bool(attributes["planar"]), False, "planar")
    check_equal(bool(attributes["finished"]), True, "finished")
    check(abs(attributes["step"] - 1 / 240) < 1e-15, "step")
    shapes = {
        "time": ((frames,), "<f8", "s"),
        "step": ((frames,), "<u8", "1"),
        "state_hash": ((frames,), "<u8", "1"),
        "energy": ((frames,), "<f8", "J"),
        "poses/position": ((frames, BODIES, 3), "<f8", "m"),
        "poses/orientation": ((frames, BODIES, 4), "<f8", "1"),
        "velocities/linear": ((frames, BODIES, 3), "<f8", "m/s"),
        "velocities/angular": ((frames, BODIES, 3), "<f8", "rad/s"),
        "bodies/mass": ((BODIES,), "<f8", "kg"),
        "bodies/local_centre": ((BODIES, 7), "<f8", "m, 1"),
    }
    for name, (shape, kind, unit) in shapes.items():
        dataset = file[name]
        check_equal(dataset.shape, shape, f"shape of {name}")
        check_equal(dataset.dtype.str, kind, f"type of {name}")
        check_equal(dataset.attrs["unit"], unit, f"unit of {name}")
        check(len(dataset.attrs["meaning"]) > 2, f"meaning of {name}")
        check(dataset.chunks is not None and dataset.compression == "gzip" and dataset.shuffle and
              dataset.fletcher32, f"storage of {name}")
        if name.count("/") == 0 or name.startswith(("poses", "velocities")):
            check(dataset.maxshape[0] is None, f"{name} does not grow")
    names = file["bodies/name"].asstr()[:]
    check_equal(list(names), [f"ball{i}" for i in range(BODIES)], "names")
    check_equal(h5py.check_enum_dtype(file["bodies/motion"].dtype),
                {"dynamic": 0, "fixed": 1, "kinematic": 2}, "motions")
    check(file["scene"][0].decode().startswith("rigor: 1\n"), "scene")
    check(len(file["checkpoint/state"]) > 100, "checkpoint/state")
    check_equal(file["checkpoint"].attrs["frames"], frames, "checkpoint frames")


def check_numbers(file, report, rigor, path):
    """Physics from the file alone: parabolas, unit quaternions, energy; and the report's figures."""
    time, step = file["time"][:], file["step"][:]
    check(numpy.all(numpy.diff(time) > 0) and time[0] == 0, "time")
    check(numpy.allclose(time, step * file.attrs["step"], rtol=1e-14), "time is not steps")
    norm = numpy.linalg.norm(file["poses/orientation"][:], axis=2)
    check(numpy.all(abs(norm - 1) < 1e-12), "quaternions are not of unit length")
    velocity = file["velocities/linear"][:]
    falling = velocity[:, :, 2] - (velocity[0, :, 2] - 9.81 * time[:, None])
    check(numpy.all(abs(falling) < 1e-10), "bodies do not fall")
    energy = file["energy"][:]
    check(abs(energy[-1] / energy[0] - 1) < 1e-12, "energy")
    check_equal(energy[-1], report["energy"]["final_J"], "final energy")
    check_equal(f"{file['state_hash'][-1]:016x}", report["state_hash"], "state hash")
    summary = file["summary"].attrs
    for key, value in report["certificate"].items():
        check(value is None and numpy.isnan(summary[key]) or summary[key] == value, key)
    for key, value in report["energy"].items():
        check_equal(summary[key], value, key)
    check_equal(summary["steps"], report["steps"], "steps")

    csv = rigor("export", path, "--csv", "-").stdout.splitlines()
    check_equal(len(csv), 1 + len(time) * BODIES, "lines of CSV")
    row = csv[1 + 5 * BODIES + 3].split(",")
    check_equal(row[2], file["bodies/name"].asstr()[3], "name in CSV")
    numbers = [*file["poses/position"][5, 3], *file["poses/orientation"][5, 3],
               *file["velocities/linear"][5, 3], *file["velocities/angular"][5, 3]]
    check_equal([float(field) for field in row[3:]], [float(number) for number in numbers], "CSV row")


def main():
    rigor = Command(sys.argv[1])
    with scratch_directory() as directory:
        path = os.path.join(directory, "layout.h5")
        scene = os.path.join(directory, "layout.yaml")
        with open(scene, "w") as file:
            file.write(SCENE)
        report = rigor.report("run", scene, "--out", path)
        with h5py.File(path, "r") as file:
            check_layout(file, report)
            check_numbers(file, report, rigor, path)
        # The same run gives the same content: only the run id differs.
        again = os.path.join(directory, "again.h5")
        rigor.report("run", scene, "--out", again)
        with h5py.File(path, "r") as one, h5py.File(again, "r") as two:
            for name in ("state_hash", "poses/position", "velocities/angular", "scene"):
                check(numpy.array_equal(one[name][:], two[name][:]), f"{name} differs between runs")
    print("the layout is as documented")


main()
